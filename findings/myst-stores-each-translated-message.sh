#!/bin/sh
# MyST-Parser 5.2.0 with Sphinx 9.0.4: the stored doctree of a translated Markdown page holds a
# document for each message with inline markup, besides its own; that of a reST page does not.
# Guess before the run: translated pages hold one document, in both formats, and are as large as
# the pages that they translate.
# Output seen on 2026-11-29, Python 3.11.7:
#   .md en 1 documents, 56 kB; .md fr 201 documents, 212 kB
#   .rst en 1 documents, 54 kB; .rst fr 1 documents, 55 kB
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q sphinx==9.0.4 myst-parser==5.2.0 babel==2.18.0
cd "$folder"
"$folder/env/bin/python" - <<'PYTHON'
import pickle
import subprocess
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

MESSAGES = 200
TITLES = {".md": "# Table", ".rst": "Table\n====="}
documents, sizes = {}, {}
for suffix, title in TITLES.items():
    quotes = "`" if suffix == ".md" else "``"
    docs = Path(f"docs{suffix}")
    folder = docs / "locale" / "fr" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (docs / "conf.py").write_text("locale_dirs = ['locale']\nextensions = ['myst_parser']\n")
    rows = [f"{quotes}{i}{quotes}" for i in range(MESSAGES)]
    sentences = [f"Row {row} of the table." for row in rows]
    (docs / f"index{suffix}").write_text("\n\n".join([title, *sentences]) + "\n")
    catalog = Catalog(locale="fr")
    for row, sentence in zip(rows, sentences):
        catalog.add(sentence, f"Ligne {row} du tableau.")
    with (folder / "index.mo").open("wb") as file:
        write_mo(file, catalog)
    for language in ("en", "fr"):
        doctrees = f"doctrees{suffix}-{language}"
        options = ["-q", "-b", "dummy", "-D", f"language={language}", "-d", doctrees]
        subprocess.run([sys.executable, "-m", "sphinx", *options, docs, "out"], check=True)
        stored = Path(doctrees, "index.doctree").read_bytes()
        doctree = pickle.loads(stored)
        assert ("Ligne" in doctree.astext()) == (language == "fr")
        count = len({id(node.document) for node in doctree.findall()})
        documents[suffix, language], sizes[suffix, language] = count, len(stored)
        print(suffix, language, count, "documents,", len(stored) // 1000, "kB")
assert documents.pop((".md", "fr")) == MESSAGES + 1
assert set(documents.values()) == {1}
assert sizes[".md", "fr"] > 3 * sizes[".md", "en"]
PYTHON
