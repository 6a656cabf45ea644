"""Write an index of sections, glossary terms and functions, which replaces Sphinx's index of pages.

The search page and the page of symptoms load this index when their field is used. It is written as
scripts, because browsers do not let a page that is opened from a file fetch data.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search import IndexBuilder

from _extensions.search.entries import Entry, read_entries
from _extensions.search.words import FILLERS, encode_entries, read_entry, read_terms, read_words
from _extensions.symptoms.lists import get_entries

EXCLUDED_PAGES = {"bibliography", "build", "checked"}  # they repeat text of other pages
FINDER = "<!-- finder -->"  # the mark of a page that contains the field
SYNONYMS = Path(__file__).with_name("synonyms.txt")


def store_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Store a page's entries next to its doctree, for builds that do not write the page again."""
    if app.builder.format == "html" and docname not in EXCLUDED_PAGES:
        meta = doctree.findall(nodes.meta)
        description = " ".join(m["content"] for m in meta if m["name"] == "description")
        messages = {entry.anchor: entry.messages for entry in get_entries(app.env, docname)}
        entries = list(read_entries(doctree, messages))
        path = _entries_path(app, docname)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([description, entries]), "utf-8")


def write_index(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the index and the pages' texts as scripts, and return the search page."""
    search = IndexBuilder(app.env, "en", {}, "")  # for Sphinx's stop words and stemmer
    search.lang.stopwords = search.lang.stopwords | FILLERS
    trees = (tree for toc in app.env.tocs.values() for tree in toc.findall(addnodes.toctree))
    labels = {page: label for tree in trees for label, page in tree["entries"] if label}
    pages = []
    rows = []
    words = []
    scripts = {}
    for docname in sorted(app.env.found_docs - EXCLUDED_PAGES):
        description, stored = json.loads(_entries_path(app, docname).read_text("utf-8"))
        entries = [Entry(*values) for values in stored]
        page_words = [read_entry(entry, search.lang) for entry in entries]
        if docname in labels:
            page_words[0].names.append(read_words(labels[docname], search.lang))
        page_words[0].lead.update(read_terms(description, search.lang))
        page_rows = [[entry.anchor, entry.title, entry.parent] for entry in entries]
        script = docname.replace("/", "-") + ".js"
        texts = _to_json([entry.text for entry in entries])
        scripts[f"sections/{script}"] = f'siteTexts["{script}"] = {texts};'
        pages.append([app.builder.get_relative_uri("search", docname), script, page_rows])
        rows += page_rows
        words += page_words

    vocabulary, codes = encode_entries(words)
    for row, code in zip(rows, codes, strict=True):
        row.extend(code)
    titles = Counter(row[1] for row in rows)
    synonyms = (line for line in SYNONYMS.read_text("utf-8").splitlines() if line.strip())
    if app.config.language == "en":  # other languages have the translations of words, too
        synonyms = (line for line in synonyms if ": " not in line)
    data = {
        "common": [title for title, count in titles.items() if count > 3],  # weigh less
        "pages": pages,
        "stopWords": sorted(search.lang.stopwords),
        "synonyms": "\n".join(line for line in synonyms if not line.startswith("#")),
        "words": vocabulary,
    }
    index = f"siteTexts = {{}};\nsiteSections = {_to_json(data)};"
    scripts = {"search-sections.js": f"{search.get_js_stemmer_code()}\n{index}", **scripts}

    static = Path(app.outdir, "_static")
    shutil.rmtree(static / "sections", ignore_errors=True)
    (static / "sections").mkdir(parents=True)
    for name, script in scripts.items():
        (static / name).write_text(f"{script}\n", "utf-8")
    engine = Path(app.confdir, "_static", "find.js").read_text("utf-8")
    digest = sha256("\n".join([engine, *scripts.values()]).encode()).hexdigest()
    yield "search", {"title": "Search", "digest": digest[:8]}, "search.html"


def insert_finder(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Replace the mark of a page by the field of the search page, and load its script."""
    if FINDER in context.get("body", ""):
        finder = app.builder.templates.render("finder.html", context | {"rows": 5})
        context["body"] = context["body"].replace(FINDER, finder)
    elif page != "search":
        return
    app.add_js_file("search.js", loading_method="defer")


def _to_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _entries_path(app: Sphinx, docname: str) -> Path:
    return Path(app.doctreedir, f"{docname}.sections.json")
