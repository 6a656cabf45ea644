"""Write an index of sections, glossary terms and functions, which replaces Sphinx's index of pages.

Only the search page and, on its first use, the error box load this index. It is written as scripts,
because browsers do not let a page that is opened from a file fetch data.
"""

import itertools
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.search import IndexBuilder, SearchLanguage

from _extensions.search.entries import Entry, read_entries
from _extensions.symptoms.entries import get_entries

EXCLUDED_PAGES = {"bibliography", "build", "checked"}  # they repeat text of other pages
NAME = re.compile(r"\w[\w-]*")
PART = re.compile(r"[^\W_]+")
HAN = re.compile("[\u4e00-\u9fff]{2,}")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
FIRST_CHARACTER = 40  # above the quotes, which JSON would escape; find.js uses the same number


def store_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Store a page's entries next to its doctree, for builds that do not write the page again.

    This runs before the lists of symptoms and checks, which repeat other pages, are filled in.
    """
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
    search.lang.stopwords = search.lang.stopwords | {"versus", "vs"}
    labels = _labels(app.env)
    terms, pages, texts = [], [], {}
    for docname in sorted(app.env.found_docs - EXCLUDED_PAGES):
        description, rows = json.loads(_entries_path(app, docname).read_text("utf-8"))
        entries = [Entry(*row) for row in rows]
        terms += [_terms(entry, search.lang) for entry in entries]
        script = docname.replace("/", "-") + ".js"
        texts[script] = [entry.text for entry in entries]
        uri = app.builder.get_relative_uri("search", docname)
        rows = [[e.anchor, e.title, e.parent, "\n".join(e.synonyms), e.messages] for e in entries]
        pages.append([uri, script, labels.get(docname, ""), description, rows])

    counts = Counter(itertools.chain.from_iterable(terms))
    numbers = {term: i for i, term in enumerate(sorted(counts, key=lambda t: (-counts[t], t)))}
    all_rows = [row for page in pages for row in page[4]]
    for row, entry_terms in zip(all_rows, terms, strict=True):
        row.append(_encode(numbers[term] for term in entry_terms))
    titles = Counter(row[1] for row in all_rows)
    data = {
        "common": [title for title, count in titles.items() if count > 3],  # weigh less
        "pages": pages,
        "stopWords": sorted(search.lang.stopwords),
        "terms": " ".join(numbers),
    }
    stemmer = search.get_js_stemmer_code()
    scripts = {
        "search-sections.js": f"{stemmer}\nsiteTexts = {{}};\nsiteSections = {_to_json(data)};"
    }
    for script, page_texts in texts.items():
        scripts[f"sections/{script}"] = f'siteTexts["{script}"] = {_to_json(page_texts)};'

    static = Path(app.outdir, "_static")
    shutil.rmtree(static / "sections", ignore_errors=True)
    (static / "sections").mkdir(parents=True)
    for name, script in scripts.items():
        (static / name).write_text(f"{script}\n", "utf-8")
    engine = Path(app.confdir, "_static", "find.js").read_text("utf-8")
    digest = sha256("\n".join([engine, *scripts.values()]).encode()).hexdigest()
    yield "search", {"title": "Search", "digest": digest[:8]}, "search.html"


def add_search_script(
    app: Sphinx, page: str, _template: str, _context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Load the search page's script; not as a module, which browsers do not load from a file."""
    if page == "search":
        app.add_js_file("search.js", loading_method="defer")


def _labels(env: BuildEnvironment) -> dict[str, str]:
    """Return the short titles of pages in tables of contents."""
    trees = (tree for toc in env.tocs.values() for tree in toc.findall(addnodes.toctree))
    entries = (entry for tree in trees for entry in tree["entries"])
    return {docname: label for label, docname in entries if label}


def _to_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _terms(entry: Entry, language: SearchLanguage) -> set[str]:
    """Return the stems of an entry's words and word pairs; names are split into words."""
    terms = set()
    text = HAN.sub(_bigrams, f"{entry.text} {' '.join(entry.code)}")
    for name in NAME.findall(text):
        parts = [p.lower() for p in PART.findall(CAMEL.sub(" ", name)) if not p.isdigit()]
        words = {part for part in parts if len(part) > 1} - language.stopwords
        terms |= {_stem(word, language) for word in words}
        terms |= {"+" + _stem(a + b, language) for a, b in itertools.pairwise(parts)}
    return terms


def _bigrams(match: re.Match[str]) -> str:
    """Return the bigrams of Chinese characters, which are written without spaces between words."""
    return f" {' '.join(a + b for a, b in itertools.pairwise(match.group()))} "


@cache  # most words occur on many pages
def _stem(word: str, language: SearchLanguage) -> str:
    """Return the same stem for British and American spelling, as ``find.js`` does."""
    return language.stem(re.sub(r"(?<=\w{3})our", "or", re.sub(r"z(?=[aei])", "s", word)))


def _encode(numbers: Iterable[int]) -> str:
    """Return one character for each difference between sorted numbers."""
    steps = itertools.pairwise([-1, *sorted(numbers)])
    return "".join(chr(FIRST_CHARACTER + end - start) for start, end in steps)


def _entries_path(app: Sphinx, docname: str) -> Path:
    return Path(app.doctreedir, f"{docname}.sections.json")


def pages_without_entries(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages without stored entries, as after a link check, which stores none."""
    docnames = env.found_docs - EXCLUDED_PAGES if app.builder.format == "html" else set()
    return sorted(name for name in docnames if not _entries_path(app, name).exists())


def disable_builtin_search(app: Sphinx) -> None:
    """Disable Sphinx's search index and search page."""
    if app.builder.format == "html":
        app.builder.search = False  # type: ignore[attr-defined]
