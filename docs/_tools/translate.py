"""Update the catalogs of all languages from the pages; needs sphinx-intl.

Name a language and pages to start their translation:
``python docs/_tools/translate.py zh_CN tutorials/NAME``.
"""

import runpy
import shutil
import subprocess
import sys
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

sys.path.append(str(Path(__file__).parents[1]))
from _extensions.claims.checks import HOLDS, KINDS, WITH_RECORDING

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "build" / "gettext"
LOCALES = ROOT / "docs" / "locale"
EXTRACTORS = [("**.py", "python"), ("**.js", "javascript"), ("**.html", "jinja2.ext:babel_extract")]


def main(language: str = "", *names: str) -> None:
    """Extract the messages of the translated pages and of the site's code into the catalogs."""
    pages = {}
    for locale in runpy.run_path(str(ROOT / "docs" / "conf.py"))["languages"]:
        folder = LOCALES / locale / "LC_MESSAGES"
        catalogs = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.po"))
        new_names = names if locale == language else ()
        pages[locale] = {"sphinx", *new_names, *map(Path.as_posix, catalogs)}
    if language and language not in pages:
        sys.exit(f"{language!r} is no language of docs/conf.py, expected one of {sorted(pages)}")
    shutil.rmtree(TEMPLATES, ignore_errors=True)
    files = [f"docs/{page}.md" for page in sorted(set().union(*pages.values()) - {"sphinx"})]
    build = ["sphinx-build", "--quiet", "-d", "build/doctrees-gettext", "-b", "gettext", "docs"]
    subprocess.run([*build, str(TEMPLATES), *files], cwd=ROOT, check=True)
    add_code_messages(TEMPLATES / "sphinx.pot")
    for locale, translated in pages.items():
        # Sphinx writes a template for each page that the named ones include in their contents.
        with TemporaryDirectory() as folder:
            for page in translated:
                template = Path(folder, f"{page}.pot")
                template.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(TEMPLATES / f"{page}.pot", template)
            update = ["sphinx-intl", "update", "-p", folder, "-d", str(LOCALES), "-l", locale]
            subprocess.run([*update, "-w", "0", "--no-obsolete"], cwd=ROOT, check=True)
            for page in translated:
                drop_index_terms(LOCALES / locale / "LC_MESSAGES" / f"{page}.po")


def drop_index_terms(path: Path) -> None:
    """Remove the index terms without a translation from a catalog: the search has their English."""
    catalog = read_po(BytesIO(path.read_bytes()))
    read_lines = cache(lambda source: (TEMPLATES / source).read_text("utf-8").split("\n"))
    for message in [message for message in catalog if message.id and not message.string]:
        lines = [read_lines(source)[line - 1] if line else "" for source, line in message.locations]
        if all(line.startswith("```{index}") for line in lines):
            catalog.delete(message.id, message.context)
    file = BytesIO()
    write_po(file, catalog, width=0)
    path.write_bytes(file.getvalue().rstrip() + b"\n")


def add_code_messages(template: Path) -> None:
    """Add the messages of scripts, HTML templates and extensions to a template."""
    catalog = read_po(BytesIO(template.read_bytes())) if template.exists() else Catalog()
    for folder in ("_extensions", "_figures", "_static", "_templates"):
        messages = extract_from_dir(ROOT / "docs" / folder, EXTRACTORS, keywords={"_": None})
        for path, line, text, *_ in messages:
            catalog.add(str(text), locations=[(f"docs/{folder}/{path}", line)])
    # A page gives the last one to its explorer.
    for message in (HOLDS, WITH_RECORDING, *KINDS.values(), "price in $, mass in kg"):
        catalog.add(message)
    with template.open("wb") as file:
        write_po(file, catalog, width=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
