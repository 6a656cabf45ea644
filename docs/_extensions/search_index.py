"""Writes what the search page searches: sections, terms and functions, in place of Sphinx's pages.

Sphinx's own search finds pages, not sections, and every page loads its index. Here each section,
each term of the glossary and each entry of the reference is found by itself, and only the search
page loads anything: scripts, because a page that is opened from a file may not fetch.
"""

import itertools
import json
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import tex2unichar
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.search import IndexBuilder, SearchLanguage
from symptoms import said_under

LEFT_OUT = {"bibliography", "build", "checked"}  # they repeat what stands on other pages
UNUSED = ("searchtools.js", "language_data.js")  # of Sphinx's own search
CODE = (nodes.literal_block, nodes.doctest_block)
SILENT = (*CODE, nodes.comment, nodes.raw, addnodes.desc_signature, addnodes.toctree)
CODE_NAME = re.compile(r"[A-Za-z_]\w{2,}")
NAME = re.compile(r"\w[\w-]*")
PART = re.compile(r"[^\W_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")
TEX = re.compile(r"\\([A-Za-z]+)|[\\{}$&^_]")
KINDS = (tex2unichar.mathalpha, tex2unichar.mathbin, tex2unichar.mathop, tex2unichar.mathrel)
SIGNS = {name: sign for kind in KINDS for name, sign in kind.items()}
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"


def read_page(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Keep a page's entries beside its doctree, for later builds that do not write the page again.

    This comes before the lists of symptoms and of checks are filled in, which repeat other pages.
    """
    if app.builder.format == "html" and docname not in LEFT_OUT:
        meta = doctree.findall(nodes.meta)
        entries = list(_entries(doctree, said_under(app.env, docname)))
        about = " ".join(each["content"] for each in meta if each["name"] == "description")
        place = _kept(app, docname)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps([about, entries]), "utf-8")


def _entries(doctree: nodes.document, said: dict[str, list[str]]) -> Iterator[list[Any]]:
    """Give of each entry: anchor if it does not follow from the title, title, number of the entry above, text, other names, words."""
    places: dict[int, int] = {}
    for node in filter(_is_own, doctree.findall(nodes.Element)):
        above = node.parent
        while above is not None and id(above) not in places:
            above = above.parent
        places[id(node)], title = len(places), node[0]
        ids = next(each["ids"] for each in (node, title) if each["ids"])
        text = " ".join(" ".join(_text(each) for each in node[1:]).split())
        also = [*(words for name in ids for words in said.get(name, [])), *_indexed(node.children)]
        name = " ".join(_text(title).split())
        if isinstance(node, addnodes.desc):
            name = f"{title['fullname']}{'()' if node['objtype'] == 'function' else ''}"
            also = [ids[0]]
        code = _names(node.children) - set(CODE_NAME.findall(f"{name} {text}"))
        anchor = "" if ids[0] == re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") else ids[0]
        yield [anchor, name, places.get(id(above), 0), text, "\n".join(also), sorted(code)]


def _is_own(node: nodes.Node) -> bool:
    """Say whether this has an entry of its own, and so no place in the text around it."""
    if isinstance(node, nodes.definition_list_item | addnodes.desc):
        return bool(node[0]["ids"])
    return isinstance(node, nodes.section)


def _text(node: nodes.Node) -> str:
    """Give what is read as prose; of a cell that is its captions, for a tensor's digits lead nowhere."""
    if isinstance(node, nodes.Text):
        return str(node)
    if isinstance(node, nodes.math | nodes.math_block):
        return TEX.sub(lambda command: SIGNS.get(command[1], " "), node.astext())
    if not isinstance(node, nodes.Element) or isinstance(node, SILENT) or _is_own(node):
        return ""
    if node.get("nb_element") == "cell_code":
        return " ".join(_text(each) for each in node.findall(nodes.caption))
    if "wordings" in node["classes"]:
        return ""
    between = "" if isinstance(node, nodes.TextElement) else " "
    return between.join(_text(child) for child in node.children)


def _indexed(body: Iterable[nodes.Node]) -> Iterator[str]:
    """Give what authors entered in the index with ``{index}``: the words that readers may use."""
    for node in body:
        if isinstance(node, addnodes.index):
            names = ((value, place) for _, value, place, _, _ in node["entries"])
            yield from (value for value, place in names if place.startswith("index-"))
        elif isinstance(node, nodes.Element) and not _is_own(node):
            yield from _indexed(node.children)


def _names(body: Iterable[nodes.Node]) -> set[str]:
    """Give the names in the code of cells and examples, but not those of outputs."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, CODE) and "output" not in node["classes"]:
            found |= set(CODE_NAME.findall(node.astext()))
        elif isinstance(node, nodes.Element) and not _is_own(node):
            found |= _names(node.children)
    return found - set(keyword.kwlist)


def add_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Write the index and the pages' texts as scripts, and give the search page."""
    search = IndexBuilder(app.env, "en", {}, "")  # for Sphinx's stop words and stemmer
    names = sorted(app.env.found_docs - LEFT_OUT)
    kept = [json.loads(_kept(app, docname).read_text("utf-8")) for docname in names]
    entries = [entry for _, listed in kept for entry in listed]
    titles = Counter(entry[1] for entry in entries)
    terms = [_terms(entry, search.lang) for entry in entries]
    counts = Counter(itertools.chain.from_iterable(terms))
    numbers = {term: i for i, (term, _) in enumerate(counts.most_common())}
    coded = (_coded(numbers[term] for term in each) for each in terms)
    folder = Path(app.outdir, "_static", "sections")
    folder.mkdir(parents=True, exist_ok=True)
    labels = {
        docname: label
        for toc in app.env.tocs.values()
        for toctree in toc.findall(addnodes.toctree)
        for label, docname in toctree["entries"]
    }
    pages = []
    for docname, (about, listed) in zip(names, kept, strict=True):
        script = docname.replace("/", "-") + ".js"
        texts = json.dumps([entry[3] for entry in listed], ensure_ascii=False)
        (folder / script).write_text(f'siteTexts["{script}"] = {texts};\n', "utf-8")
        rows = [[*entry[:3], entry[4], next(coded)] for entry in listed]
        pages.append([app.builder.get_relative_uri("search", docname), script, labels.get(docname) or "", about, rows])
    data = {
        "common": [title for title, count in titles.items() if count > 3],  # say little
        "pages": pages,
        "stopWords": sorted(search.lang.stopwords),
        "terms": " ".join(numbers),
    }
    compact = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    index = f"{search.get_js_stemmer_code()}\nsiteTexts = {{}};\nsiteSections = {compact};\n"
    (folder.parent / "search-sections.js").write_text(index, "utf-8")
    yield "search", {"digest": sha256(index.encode()).hexdigest()[:8]}, "search.html"


def _terms(entry: list[Any], language: SearchLanguage) -> set[str]:
    """Give the stems of text and code; of a name its parts, and neighbouring parts as one."""
    found = set()
    for name in NAME.findall(f"{entry[3]} {' '.join(entry[5])}"):
        parts = [p.lower() for p in PART.findall(CAMEL.sub(" ", name)) if not p.isdigit()]
        says = {part for part in parts if len(part) > 1} - language.stopwords
        found |= {_stem(part, language) for part in says}
        found |= {"+" + _stem(a + b, language) for a, b in itertools.pairwise(parts)}
    return found


def _stem(word: str, language: SearchLanguage) -> str:
    """Give the stem, the same for British and American spelling, as ``search.js`` does."""
    return language.stem(re.sub(r"(?<=\w{3})our", "or", re.sub(r"z(?=[aei])", "s", word)))


def _coded(numbers: Iterable[int]) -> str:
    """Write ascending numbers as gaps, five bits a letter; the sixth says that more follow."""
    letters, last = [], -1
    for number in sorted(numbers):
        gap, last = number - last - 1, number
        while gap > 31:
            letters.append(LETTERS[gap & 31 | 32])
            gap >>= 5
        letters.append(LETTERS[gap])
    return "".join(letters)


def _kept(app: Sphinx, docname: str) -> Path:
    return Path(app.doctreedir, f"{docname}.sections.json")


def leave_out(app: Sphinx) -> None:
    """Tell the builder to make no index and no page of its own."""
    if app.builder.format == "html":
        app.builder.search = False  # type: ignore[attr-defined]


def remove_unused(app: Sphinx, _error: Exception | None) -> None:
    """Remove the scripts of Sphinx's search, which its basic theme copies all the same."""
    for name in UNUSED:
        Path(app.outdir, "_static", name).unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the pages before their lists are filled in, and to the end of the build."""
    app.connect("builder-inited", leave_out)
    app.connect("doctree-resolved", read_page, priority=300)
    app.connect("html-collect-pages", add_page)
    app.connect("build-finished", remove_unused)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
