"""Writes what Sphinx has read and resolved as Markdown that any notebook shows.

A kind of node that is not known here is named in a warning, so nothing is lost in silence.
"""

import re
from collections.abc import Callable, Iterable

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx_design.dropdown import dropdown_main, dropdown_title
from sphinx_design.shared import PassthroughTextElement

from _extensions.claims.folds import fold

LOG = logging.getLogger(__name__)
Link = Callable[[nodes.reference], str | None]  # the address of a reference, or None for its words

# What a browser shows or follows, or what stands elsewhere in the notebook.
SILENT = (nodes.comment, nodes.meta, nodes.raw, nodes.target, addnodes.index, fold)
THROUGH = (nodes.compound, nodes.container, nodes.figure, PassthroughTextElement)
MARKS = {nodes.emphasis: "*", nodes.title_reference: "*", nodes.strong: "**"}
READS_AS_MARKDOWN = re.compile(r"([\\`*_\[\]<>|$~])")
BEGINS_AS_MARKDOWN = re.compile(r"^( *(?:\d+(?=[.)])|(?=#+|[-+])))([-+.)]|#+)(?=\s)", re.MULTILINE)


def words(node: nodes.Node, link: Link) -> str:
    """Write what stands in a line."""
    if isinstance(node, nodes.Text):
        return READS_AS_MARKDOWN.sub(r"\\\1", node.astext())
    if isinstance(node, nodes.literal):
        return code(node.astext())
    if isinstance(node, nodes.math):
        return f"${node.astext()}$"
    if isinstance(node, (*SILENT, nodes.image)):
        return ""
    inner = "".join(words(child, link) for child in node.children)
    if isinstance(node, nodes.reference):
        address = link(node)
        return f"[{inner}](<{address}>)" if address and inner.strip() else inner
    for kind, mark in MARKS.items():
        if isinstance(node, kind) and inner:
            return f"{mark}{inner}{mark}"
    if not isinstance(node, nodes.TextElement):
        _unknown(node)
    return f" <sup>{inner}</sup>" if _is(node, "cited-mark") else inner


def blocks(node: nodes.Node, link: Link) -> list[str]:
    """Write what stands in blocks of its own: paragraphs, lists, tables, formulas."""
    if isinstance(node, SILENT) or _is(node, "toctree-wrapper"):
        return []
    if isinstance(node, nodes.literal_block):
        language = node.get("language", "default").replace("default", "")
        return [f"```{language}\n{node.astext().rstrip()}\n```"]
    if isinstance(node, nodes.math_block):
        return [_formula(node)]
    if isinstance(node, nodes.bullet_list | nodes.enumerated_list):
        return [_list(node, link)]
    if isinstance(node, nodes.table):
        return _table(node, link)
    if isinstance(node, nodes.Admonition):
        titled = isinstance(node.children[0], nodes.title)
        name = [] if titled else [f"**{type(node).__name__.title()}**"]
        return [_quoted([*name, *_all(node.children, link)])]
    if isinstance(node, nodes.block_quote):
        return [_quoted(_all(node.children, link))]
    if isinstance(node, dropdown_main):
        return _folded(node, link)
    if isinstance(node, nodes.title | nodes.rubric) or _is(node, "card-title"):
        inner = "".join(words(child, link) for child in node.children)
        return [f"**{inner.strip()}**"]
    if isinstance(node, nodes.caption):
        return [f"*{words(node, link).strip()}*"]
    if isinstance(node, nodes.image):
        return [f"*{node['alt']}*"] if node.get("alt") else []
    if isinstance(node, THROUGH):
        return _all(node.children, link)
    if isinstance(node, nodes.Inline | nodes.TextElement | nodes.Text):
        text = words(node, link).strip()
        return [BEGINS_AS_MARKDOWN.sub(r"\1\\\2", text)] if text else []
    _unknown(node)
    return _all(node.children, link)


def _is(node: nodes.Node, name: str) -> bool:
    """Tell whether a node has this class, or is this part of sphinx-design."""
    return isinstance(node, nodes.Element) and (
        name in node["classes"] or node.get("design_component") == name
    )


def code(text: str) -> str:
    """Quote code in a line, with more backticks than stand in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, room = "`" * (longest + 1), " " if "`" in text else ""
    return f"{fence}{room}{text}{room}{fence}"


def _all(children: Iterable[nodes.Node], link: Link) -> list[str]:
    return [block for child in children for block in blocks(child, link)]


def _formula(node: nodes.math_block) -> str:
    latex, number = node.astext().strip(), node.get("number")
    tag = f" \\tag{{{number}}}" if number else ""
    return latex if latex.startswith("\\begin{align") else f"$$\n{latex}{tag}\n$$"


def _list(node: nodes.Element, link: Link) -> str:
    items, first = [], node.get("start", 1)
    for number, item in enumerate(node.children, first):
        mark = f"{number}. " if isinstance(node, nodes.enumerated_list) else "- "
        text = "\n\n".join(_all(item.children, link)).replace("\n", "\n" + " " * len(mark))
        items.append(mark + re.sub(r" +$", "", text, flags=re.MULTILINE))
    loose = any("\n\n" in item for item in items)
    return ("\n\n" if loose else "\n").join(items)


def _quoted(inner: list[str]) -> str:
    return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(inner).splitlines())


def _folded(node: nodes.Element, link: Link) -> list[str]:
    """Write a native element, closed; between empty lines its content is read as Markdown."""
    heading, *inner = node.children
    texts = next(heading.findall(dropdown_title)).findall(nodes.Text)
    title = "".join(text for text in texts if not isinstance(text.parent, nodes.raw))
    title = title.strip().replace("&", "&amp;").replace("<", "&lt;")
    return [f"<details><summary>{title}</summary>", *_all(inner, link), "</details>"]


def _table(node: nodes.table, link: Link) -> list[str]:
    lines = list[str]()
    for row in node.findall(nodes.row):
        cells = ["<br>".join(_all(entry.children, link)) for entry in row.findall(nodes.entry)]
        lines.append(f"| {' | '.join(cells)} |".replace("\n", " "))
    lines.insert(1, "|" + "---|" * len(cells))
    title = next(node.findall(nodes.title), None)
    return [*(blocks(title, link) if title else []), "\n".join(lines)]


def _unknown(node: nodes.Node) -> None:
    what = f"{type(node).__module__}.{type(node).__name__}"
    LOG.warning(
        f"a notebook cannot show {what}; say how in _extensions/notebooks/markdown_of.py",
        location=node,
    )
