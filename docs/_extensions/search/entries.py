"""What a page offers to the search: its sections, terms of the glossary, and functions."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from docutils import nodes
from docutils.utils.math import tex2unichar
from sphinx import addnodes

CODE = (nodes.literal_block, nodes.doctest_block)
SILENT = (*CODE, nodes.comment, nodes.raw, addnodes.desc_signature, addnodes.toctree)
CODE_NAME = re.compile(r"\b(?:[a-z]\w*_\w+|[A-Z]\w{2,})")  # of a library, rather than a variable
TEX = re.compile(r"\\([A-Za-z]+)|[\\{}$&^_]")
KINDS = (tex2unichar.mathalpha, tex2unichar.mathbin, tex2unichar.mathop, tex2unichar.mathrel)
SIGNS = {name: sign for kind in KINDS for name, sign in kind.items()}


class Entry(NamedTuple):
    """One thing that can be found; ``above`` is the number of the page's entry that holds it."""

    anchor: str  # empty where it follows from the title
    title: str
    above: int
    text: str
    also: list[str]  # other names, and words that readers may use for it
    said: list[str]  # the texts of its error
    code: list[str]  # names in the code of its cells


def read_entries(doctree: nodes.document, said: dict[str, list[str]]) -> Iterator[Entry]:
    """Return the entries of a page; ``said`` has what errors say, by an anchor of their section."""
    places: dict[int, int] = {}
    for node in filter(_is_own, doctree.findall(nodes.Element)):
        above = node.parent
        while above is not None and id(above) not in places:
            above = above.parent
        title = node[0]
        assert isinstance(title, nodes.Element)
        places[id(node)] = len(places)
        ids = next(each["ids"] for each in (node, title) if each["ids"])
        text = " ".join(" ".join(_text(each) for each in node[1:]).split())
        also = _indexed(node)
        name = " ".join(_text(title).split())
        if isinstance(node, addnodes.desc):
            name = f"{title['fullname']}{'()' if node['objtype'] == 'function' else ''}"
            also = [ids[0]]
        code = _code_names(node) - set(CODE_NAME.findall(f"{name} {text}"))
        anchor = "" if re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") in ids else ids[0]
        errors = [words for each in ids for words in said.get(each, [])]
        yield Entry(anchor, name, places.get(id(above), 0), text, also, errors, sorted(code))


def _is_own(node: nodes.Node) -> bool:
    """Tell whether this has an entry of its own, and so no place in the text around it."""
    if isinstance(node, nodes.definition_list_item | addnodes.desc):
        return isinstance(node[0], nodes.Element) and bool(node[0]["ids"])
    return isinstance(node, nodes.section)


def _text(node: nodes.Node) -> str:
    """Return what is read as prose; of a cell its captions only, for digits lead nowhere."""
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


def _inside(entry: nodes.Element) -> Iterator[nodes.Element]:
    """Return the nodes of an entry that are in none of the entries below it."""
    for node in entry.children:
        if isinstance(node, nodes.Element) and not _is_own(node):
            yield node
            yield from _inside(node)


def _indexed(entry: nodes.Element) -> list[str]:
    """Return what authors entered in the index with ``{index}``: words that readers may use."""
    listed = (node["entries"] for node in _inside(entry) if isinstance(node, addnodes.index))
    return [said for each in listed for _, said, place, *_ in each if place.startswith("index-")]


def _code_names(entry: nodes.Element) -> set[str]:
    """Return the names in the code of cells and examples, but not those of outputs."""
    code = (node for node in _inside(entry) if isinstance(node, CODE))
    texts = (node.astext() for node in code if "output" not in node["classes"])
    return {name for text in texts for name in CODE_NAME.findall(text)}
