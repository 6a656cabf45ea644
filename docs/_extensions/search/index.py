"""Write an index of sections, glossary terms and functions, which replaces Sphinx's index of pages.

A page loads this index when its field is used: first the pages in its language, and after the
first answer those without a translation and the words that only code has. It is written as scripts,
because browsers do not let a page that is opened from a file fetch data.
"""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search import IndexBuilder

from _extensions.search.entries import Entry, read_entries
from _extensions.search.words import (
    FILLERS,
    EntryWords,
    encode_entries,
    read_entry,
    read_terms,
    read_words,
)
from _extensions.symptoms.lists import get_entries

# They repeat text of other pages.
EXCLUDED_PAGES = {"bibliography", "build", "changelog", "checked"}
FINDER = "<!-- finder -->"  # the mark of a page that contains the field
SYNONYMS = Path(__file__).with_name("synonyms.txt")
CODE = [SYNONYMS, *sorted(Path(__file__).parent.glob("*.py"))]
LATIN = re.compile("[A-Za-z]{3,}")


class Half(NamedTuple):
    """Pages of the index with their rows, and the words of each row."""

    pages: list[list[Any]]
    rows: list[list[Any]]
    words: list[EntryWords]


def store_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Store a page's entries next to its doctree, for builds that do not write the page again."""
    if app.builder.format == "html" and docname not in EXCLUDED_PAGES:
        meta = doctree.findall(nodes.meta)
        description = " ".join(m["content"] for m in meta if m["name"] == "description")
        messages = {entry.anchor: entry.messages for entry in get_entries(app.env, docname)}
        entries = list(read_entries(doctree, messages))
        path = _entries_path(app, docname)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([description, entries, _read_latin(doctree)]), "utf-8")


def write_index(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the index and the pages' texts as scripts, and return the search page."""
    search = IndexBuilder(app.env, "en", {}, "")  # for Sphinx's stop words and stemmer
    search.lang.stopwords = search.lang.stopwords | FILLERS
    trees = (tree for toc in app.env.tocs.values() for tree in toc.findall(addnodes.toctree))
    labels = {page: label for tree in trees for label, page in tree["entries"] if label}
    halves = [Half([], [], []), Half([], [], [])]  # of pages in this language, and of others
    scripts = {}
    mentioned = set[str]()
    for docname in sorted(app.env.found_docs - EXCLUDED_PAGES):
        description, stored, text = json.loads(_entries_path(app, docname).read_text("utf-8"))
        mentioned |= read_terms(text, search.lang)
        entries = [Entry(*values) for values in stored]
        page_words = [read_entry(entry, search.lang) for entry in entries]
        if docname in labels:
            page_words[0].names.append(read_words(labels[docname], search.lang))
        page_words[0].lead.update(read_terms(description, search.lang))
        page_rows = [[entry.anchor, entry.title, entry.parent] for entry in entries]
        script = docname.replace("/", "-") + ".js"
        texts = _to_json([entry.text for entry in entries])
        scripts[f"sections/{script}"] = f'siteTexts["{script}"] = {texts};'
        uri = app.builder.get_relative_uri("search", docname)
        half = halves[uri.startswith("../")]
        half.pages.append([uri, script, page_rows])
        half.rows.extend(page_rows)
        half.words.extend(page_words)

    titles = Counter(row[1] for half in halves for row in half.rows)
    synonyms = (line for line in SYNONYMS.read_text("utf-8").splitlines() if line.strip())
    if app.config.language == "en":  # other languages have the translations of words, too
        synonyms = (line for line in synonyms if ": " not in line)
    (own, words), (foreign, foreign_words) = map(_encode_half, halves)
    data = {
        "common": [title for title, count in titles.items() if count > 3],  # weigh less
        "parts": [own],
        "stopWords": " ".join(sorted(search.lang.stopwords)),
        "synonyms": "\n".join(line for line in synonyms if not line.startswith("#")),
    }
    others = {"others": " ".join(sorted(mentioned - words - foreign_words))}
    index = f"siteTexts = {{}};\nsiteSections = {_to_json(data)};"
    later = f"siteSections.parts.push({_to_json(foreign)});\n" if foreign["pages"] else ""
    scripts |= {
        "search-sections.js": f"{search.get_js_stemmer_code()}\n{index}",
        "search-later.js": f"{later}Object.assign(siteSections, {_to_json(others)});",
    }

    static = Path(app.outdir, "_static")
    shutil.rmtree(static / "sections", ignore_errors=True)
    (static / "sections").mkdir(parents=True)
    for name, script in scripts.items():
        (static / name).write_text(f"{script}\n", "utf-8")
    yield "search", {"title": "Search"}, "search.html"


def insert_finder(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Replace the mark of a page by the field of the search page, and load its script."""
    has_mark = FINDER in context.get("body", "")
    context["search_digest"] = _digest_sources(frozenset(app.env.found_docs), Path(app.srcdir))
    context["has_finder"] = has_mark or page == "search"
    if has_mark:
        finder = app.builder.templates.render("finder.html", context | {"rows": 5})
        context["body"] = context["body"].replace(FINDER, finder)
    if context["has_finder"]:
        app.add_js_file("search.js", loading_method="defer")


@cache
def _digest_sources(docnames: frozenset[str], folder: Path) -> str:
    """Return a digest that changes with the texts of pages and with the scripts of the search."""
    sources = [folder / f"{name}.md" for name in sorted(docnames)]
    scripts = [folder / "_static" / name for name in ("find.js", "search.js")]
    texts = [path.read_bytes() for path in [*sources, *scripts, *CODE] if path.exists()]
    return sha256(b"\n".join(texts)).hexdigest()[:8]


def _read_latin(doctree: nodes.document) -> str:
    """Return the words in Latin letters of a page, those of its code included."""
    texts = (node for node in doctree.findall(nodes.Text) if not isinstance(node.parent, nodes.raw))
    return " ".join(sorted({word for text in texts for word in LATIN.findall(text)}))


def _encode_half(half: Half) -> tuple[dict[str, Any], set[str]]:
    """Return the pages of a half of the index with codes, and its words."""
    vocabulary, codes = encode_entries(half.words)
    for row, code in zip(half.rows, codes, strict=True):
        row.extend(code)
    return {"pages": half.pages, "words": vocabulary}, set(vocabulary.split())


def _to_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _entries_path(app: Sphinx, docname: str) -> Path:
    return Path(app.doctreedir, f"{docname}.sections.json")
