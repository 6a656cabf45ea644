"""Writes the index of sections, terms and functions, in place of Sphinx's index of pages.

Sphinx's own search finds pages, not sections, and every page loads its index. Here the search page
loads the index, and the box for errors once somebody uses it; each is a script, because a page
that is opened from a file may not fetch.
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
from _extensions.symptoms.entries import entries_of

LEFT_OUT = {"bibliography", "build", "checked"}  # they repeat what stands on other pages
NAME = re.compile(r"\w[\w-]*")
PART = re.compile(r"[^\W_]+")
HAN = re.compile("[\u4e00-\u9fff]{2,}")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
FIRST_LETTER = 40  # behind the quotes, which JSON would escape; find.js reads from there too


def store_entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Keep a page's entries beside its doctree, for later builds that do not write the page again.

    This comes before the lists of symptoms and of checks are filled in, which repeat other pages.
    """
    if app.builder.format == "html" and docname not in LEFT_OUT:
        meta = doctree.findall(nodes.meta)
        about = " ".join(each["content"] for each in meta if each["name"] == "description")
        said = {entry.anchor: entry.said for entry in entries_of(app.env, docname)}
        entries = list(read_entries(doctree, said))
        place = _kept(app, docname)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps([about, entries]), "utf-8")


def write_index(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the index and the pages' texts as scripts, and return the search page."""
    search = IndexBuilder(app.env, "en", {}, "")  # for Sphinx's stop words and stemmer
    search.lang.stopwords = search.lang.stopwords | {"versus", "vs"}
    labels = _labels(app.env)
    terms, pages, texts = [], [], {}
    for docname in sorted(app.env.found_docs - LEFT_OUT):
        about, kept = json.loads(_kept(app, docname).read_text("utf-8"))
        entries = [Entry(*each) for each in kept]
        terms += [_terms(entry, search.lang) for entry in entries]
        script = docname.replace("/", "-") + ".js"
        texts[script] = [entry.text for entry in entries]
        uri = app.builder.get_relative_uri("search", docname)
        rows = [[e.anchor, e.title, e.above, "\n".join(e.also), e.said] for e in entries]
        pages.append([uri, script, labels.get(docname, ""), about, rows])

    counts = Counter(itertools.chain.from_iterable(terms))
    numbers = {term: i for i, term in enumerate(sorted(counts, key=lambda t: (-counts[t], t)))}
    every_row = [row for page in pages for row in page[4]]
    for row, found in zip(every_row, terms, strict=True):
        row.append(_coded(numbers[term] for term in found))
    titles = Counter(row[1] for row in every_row)
    data = {
        "common": [title for title, count in titles.items() if count > 3],  # say little
        "pages": pages,
        "stopWords": sorted(search.lang.stopwords),
        "terms": " ".join(numbers),
    }
    stemmer = search.get_js_stemmer_code()
    scripts = {
        "search-sections.js": f"{stemmer}\nsiteTexts = {{}};\nsiteSections = {_literal(data)};"
    }
    for script, of_page in texts.items():
        scripts[f"sections/{script}"] = f'siteTexts["{script}"] = {_literal(of_page)};'

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
    """Load the script of the search page; no module, since browsers load none from a file."""
    if page == "search":
        app.add_js_file("search.js", loading_method="defer")


def _labels(env: BuildEnvironment) -> dict[str, str]:
    """Return the short names of pages in the tables of contents."""
    trees = (tree for toc in env.tocs.values() for tree in toc.findall(addnodes.toctree))
    entries = (entry for tree in trees for entry in tree["entries"])
    return {docname: label for label, docname in entries if label}


def _literal(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _terms(entry: Entry, language: SearchLanguage) -> set[str]:
    """Return the stems of text and code; of a name its parts, and neighboring parts as one."""
    found = set()
    text = HAN.sub(_pairs, f"{entry.text} {' '.join(entry.code)}")
    for name in NAME.findall(text):
        parts = [p.lower() for p in PART.findall(CAMEL.sub(" ", name)) if not p.isdigit()]
        says = {part for part in parts if len(part) > 1} - language.stopwords
        found |= {_stem(part, language) for part in says}
        found |= {"+" + _stem(a + b, language) for a, b in itertools.pairwise(parts)}
    return found


def _pairs(found: re.Match[str]) -> str:
    """Return the words of Chinese, which has no blanks: each two signs beside each other."""
    return f" {' '.join(a + b for a, b in itertools.pairwise(found.group()))} "


@cache  # pages share most of their words
def _stem(word: str, language: SearchLanguage) -> str:
    """Return the stem, the same for British and American spelling, as ``find.js`` does."""
    return language.stem(re.sub(r"(?<=\w{3})our", "or", re.sub(r"z(?=[aei])", "s", word)))


def _coded(numbers: Iterable[int]) -> str:
    """Write ascending numbers as letters, one for the step from each to the next."""
    steps = itertools.pairwise([-1, *sorted(numbers)])
    return "".join(chr(FIRST_LETTER + after - before) for before, after in steps)


def _kept(app: Sphinx, docname: str) -> Path:
    return Path(app.doctreedir, f"{docname}.sections.json")


def pages_without_entries(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages of which nothing was kept, as after a check of links that read them first."""
    names = env.found_docs - LEFT_OUT if app.builder.format == "html" else set()
    return sorted(name for name in names if not _kept(app, name).exists())


def disable_builtin_search(app: Sphinx) -> None:
    """Tell the builder to make no index and no page of its own."""
    if app.builder.format == "html":
        app.builder.search = False  # type: ignore[attr-defined]
