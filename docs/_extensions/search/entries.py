"""Search entries of a page: its sections, glossary terms and functions."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from docutils import nodes
from docutils.utils.math import tex2unichar
from sphinx import addnodes

CODE = (nodes.literal_block, nodes.doctest_block)
EXCLUDED = (*CODE, nodes.comment, nodes.raw, addnodes.desc_signature, addnodes.toctree)
LABELS = {"wordings", "cited-mark"}  # classes of what is not a page's own text
KINDS = ("alpha", "bin", "fence", "op", "ord", "rel", "open", "close")
TABLES: list[dict[str, str]] = [getattr(tex2unichar, f"math{kind}") for kind in KINDS]
SIGNS = dict(item for table in TABLES for item in table.items())
SIGNS |= {"dots": "…", "lVert": "‖", "lvert": "|", "rVert": "‖", "rvert": "|", "qquad": " "}
SIGNS |= {"top": "T", "ln": "ln", "log": "log", "max": "max"}
GROUP = r"(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|(\\[A-Za-z]+|[^\s{}]))"  # or a single sign
FRACTION = re.compile(rf"\\t?frac{GROUP}{GROUP}")
ROOT = re.compile(rf"\\sqrt{GROUP}")
RAISED = re.compile(rf"\^{GROUP}")
COMMAND = re.compile(r"\\([A-Za-z]+)|\\(.)|[{}&]")
SUPERSCRIPTS = str.maketrans("0123456789-+nT", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿᵀ")


class Entry(NamedTuple):
    """A search result; ``parent`` is the index of the entry that contains it on its page."""

    anchor: str  # empty if the title yields it
    title: str
    parent: int
    text: str  # a line for each paragraph, list item and table row
    synonyms: list[str]  # other names, and terms that readers may use
    messages: list[str]  # of its error, in all versions


def read_entries(doctree: nodes.document, messages: dict[str, list[str]]) -> Iterator[Entry]:
    """Return the entries of a page; ``messages`` maps anchors of sections to error messages."""
    numbers: dict[int, int] = {}
    for node in filter(_is_entry, doctree.findall(nodes.Element)):
        if "sources" in node["ids"]:  # which cite what is outside of the site
            continue
        title = node[0]
        assert isinstance(title, nodes.Element)
        numbers[id(node)] = len(numbers)
        ids = next(element["ids"] for element in (node, title) if element["ids"])
        lines = "\n".join(_write_text(child) for child in node[1:]).splitlines()
        text = "\n".join(" ".join(line.split()) for line in lines if line.strip())
        indexes = (index for index in node.findall(addnodes.index) if _find_entry(index) is node)
        terms = (term for index in indexes for term in index["entries"])
        synonyms = [text for _, text, target, *_ in terms if target.startswith("index-")]
        name = " ".join(_write_text(title).split())
        if isinstance(node, addnodes.desc):
            name = f"{title['fullname']}{'()' if node['objtype'] == 'function' else ''}"
        anchor = "" if re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") in ids else ids[0]
        errors = [message for name_id in ids for message in messages.get(name_id, [])]
        parent = numbers.get(id(_find_entry(node)), 0)
        yield Entry(anchor, name, parent, text, synonyms, errors)


def _is_entry(node: nodes.Node) -> bool:
    """Return whether a node is a separate entry, which its parent's text excludes."""
    if isinstance(node, nodes.definition_list_item | addnodes.desc):
        return isinstance(node[0], nodes.Element) and bool(node[0]["ids"])
    return isinstance(node, nodes.section)


def _write_text(node: nodes.Node) -> str:
    """Return the prose of a node; of a code cell only its captions, not its code and outputs."""
    if isinstance(node, nodes.Text):
        return str(node).replace("\n", " ")
    if isinstance(node, nodes.math | nodes.math_block):
        return write_formula(node.astext())
    if not isinstance(node, nodes.Element) or isinstance(node, EXCLUDED) or _is_entry(node):
        return ""
    if LABELS & set(node["classes"]):
        return ""
    if node.get("nb_element") == "cell_code":
        return " ".join(_write_text(caption) for caption in node.findall(nodes.caption))
    if isinstance(node, nodes.row):
        return " · ".join(" ".join(_write_text(cell).split()) for cell in node.children)
    number = ""
    if isinstance(node, nodes.list_item) and isinstance(node.parent, nodes.enumerated_list):
        number = f"{node.parent.index(node) + 1}) "
    separator = "" if isinstance(node, nodes.TextElement) else "\n"
    return number + separator.join(_write_text(child) for child in node.children)


def _find_entry(node: nodes.Node) -> nodes.Element | None:
    """Return the innermost entry that contains a node."""
    parent = node.parent
    while parent is not None and not _is_entry(parent):
        parent = parent.parent
    return parent


def write_formula(latex: str) -> str:
    r"""Return a formula as text.

    >>> write_formula(r"V^{*} = \frac{s \cdot f}{b}"), write_formula(r"-1/\sqrt{n}")
    ('V* = (s · f)/b', '−1/√n')
    >>> write_formula(r"0, \dots, V-1"), write_formula(r"X^\top G"), write_formula("10^{-5}")
    ('0, …, V−1', 'Xᵀ G', '10⁻⁵')
    """
    while FRACTION.search(latex):
        latex = FRACTION.sub(lambda m: f"{_wrap(m[1] or m[2])}/{_wrap(m[3] or m[4])}", latex)
    latex = ROOT.sub(lambda match: f"√{_wrap(match[1] or match[2])}", latex)
    latex = RAISED.sub(_write_exponent, latex)
    text = COMMAND.sub(_replace_command, latex).replace("-", "−").replace("⋅", "·")
    return " ".join(text.split())


def _wrap(latex: str) -> str:
    """Return a part of a fraction or a root, in parentheses if it has several terms."""
    return f"({latex.strip()})" if re.search(r"[-+ ]", latex.strip()) else latex


def _write_exponent(match: re.Match[str]) -> str:
    """Return an exponent as small digits, or after ``^`` if it has other signs."""
    text: str = COMMAND.sub(_replace_command, match[1] or match[2])
    if text in "*'":
        return text
    return text.translate(SUPERSCRIPTS) if re.fullmatch(r"[-+\dnT]+", text) else f"^{_wrap(text)}"


def _replace_command(match: re.Match[str]) -> str:
    name, escaped = match.groups()
    if name:  # a sign, or a font such as \mathrm or the size of a bracket, which have none
        return SIGNS.get(name, "")
    return "%" if escaped == "%" else " " if escaped else ""
