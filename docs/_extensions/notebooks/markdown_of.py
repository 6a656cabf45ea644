"""Writes what Sphinx has read and resolved as Markdown that any notebook shows.

A kind of node that is not known here is named in a warning, so nothing is lost in silence.
"""

import re
from collections.abc import Callable, Iterable

from claims.folds import fold
from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging
from sphinx_design.dropdown import dropdown_main, dropdown_title
from sphinx_design.shared import PassthroughTextElement

LOG = logging.getLogger(__name__)
Link = Callable[[nodes.reference], str | None]  # the address of a reference, or None for its words

# What a browser shows or follows, or what stands elsewhere in the notebook.
SILENT = (
    nodes.comment,
    nodes.meta,
    nodes.raw,
    nodes.system_message,
    nodes.target,
    addnodes.index,
    addnodes.highlightlang,
)
THROUGH = (
    nodes.compound,
    nodes.container,
    nodes.document,
    nodes.figure,
    nodes.legend,
    addnodes.glossary,
    PassthroughTextElement,
)
MARKS = {nodes.emphasis: "*", nodes.title_reference: "*", nodes.strong: "**"}
TAGS = {nodes.subscript: "sub", nodes.superscript: "sup"}
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
    for kind, tag in TAGS.items():
        if isinstance(node, kind):
            return f"<{tag}>{inner}</{tag}>"
    if isinstance(node, nodes.inline):
        return f" <sup>{inner}</sup>" if "cited-mark" in node["classes"] else inner
    if not isinstance(node, nodes.TextElement):
        _unknown(node)
    return inner


def blocks(node: nodes.Node, link: Link) -> list[str]:
    """Write what stands in blocks of its own: paragraphs, lists, tables, formulas."""
    if isinstance(node, SILENT) or _is_navigation(node):
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
    if isinstance(node, nodes.definition_list_item):
        terms = [words(n, link) for n in node.findall(nodes.term)]
        return [f"**{', '.join(terms)}**", *blocks(node[-1], link)]
    if isinstance(node, nodes.citation):
        return [f"- \\[{node.children[0].astext()}\\] {' '.join(_all(node.children[1:], link))}"]
    if isinstance(node, nodes.Admonition):
        titled = isinstance(node.children[0], nodes.title)
        name = [] if titled else [f"**{type(node).__name__.title()}**"]
        return [_quoted([*name, *_all(node.children, link)])]
    if isinstance(node, nodes.block_quote):
        return [_quoted(_all(node.children, link))]
    if isinstance(node, dropdown_main | fold):
        return _folded(node, link)
    if isinstance(node, nodes.title | nodes.rubric) or _is_card_title(node):
        inner = "".join(words(child, link) for child in node.children)
        return [f"**{inner.strip()}**"]
    if isinstance(node, nodes.caption):
        return [f"*{words(node, link).strip()}*"]
    if isinstance(node, nodes.image):
        return [f"*{node['alt']}*"] if node.get("alt") else []
    if isinstance(node, (*THROUGH, nodes.definition, nodes.definition_list)):
        return _all(node.children, link)
    if isinstance(node, nodes.Inline | nodes.TextElement | nodes.Text):
        text = words(node, link).strip()
        return [BEGINS_AS_MARKDOWN.sub(r"\1\\\2", text)] if text else []
    _unknown(node)
    return _all(node.children, link)


def _is_navigation(node: nodes.Node) -> bool:
    return isinstance(node, nodes.compound) and "toctree-wrapper" in node["classes"]


def _is_card_title(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Element) and node.get("design_component") == "card-title"


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
    if isinstance(node, fold):
        title, inner = node["summary"], node.children
    else:
        title, inner = _plain(next(node.findall(dropdown_title))), node.children[1:]
    title = title.strip().replace("&", "&amp;").replace("<", "&lt;")
    return [f"<details><summary>{title}</summary>", *_all(inner, link), "</details>"]


def _plain(node: nodes.Node) -> str:
    """Give the words of a line in which Markdown is not read, with formulas as they are."""
    if isinstance(node, nodes.math):
        return f"${node.astext()}$"
    if isinstance(node, nodes.raw):
        return ""
    return "".join(map(_plain, node.children)) if node.children else node.astext()


def _table(node: nodes.table, link: Link) -> list[str]:
    rows = [
        [
            "<br>".join(_all(entry.children, link)).replace("\n", " ")
            for entry in row.findall(nodes.entry)
        ]
        for row in node.findall(nodes.row)
    ]
    if next(node.findall(nodes.thead), None) is None:
        rows.insert(0, [""] * len(rows[0]))
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * len(rows[0]))
    title = next(node.findall(nodes.title), None)
    return [*(blocks(title, link) if title else []), "\n".join(lines)]


def _unknown(node: nodes.Node) -> None:
    what = f"{type(node).__module__}.{type(node).__name__}"
    LOG.warning(
        f"a notebook cannot show {what}; say how in _extensions/notebooks/markdown_of.py",
        location=node,
    )
