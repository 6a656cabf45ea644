"""Convert docutils nodes to Markdown that any notebook renders, with a warning of unknown nodes."""

import re
from collections.abc import Callable, Iterable

from docutils import nodes
from sphinx import addnodes
from sphinx.locale import _
from sphinx.util import logging
from sphinx_design.dropdown import dropdown_main, dropdown_title
from sphinx_design.shared import PassthroughTextElement

from _extensions.claims.folds import fold

LOG = logging.getLogger(__name__)
Link = Callable[[nodes.reference], str | None]  # returns the URL, or None to keep the text only

# Nodes that only a browser uses, or whose content is elsewhere in the notebook.
SKIPPED = (
    nodes.comment,
    nodes.meta,
    nodes.raw,
    nodes.target,
    addnodes.index,
    addnodes.tabular_col_spec,
    fold,
)
CONTAINERS = (
    nodes.compound,
    nodes.container,
    nodes.figure,
    nodes.definition_list,
    nodes.definition_list_item,
    nodes.definition,
    addnodes.glossary,
    addnodes.desc,
    addnodes.desc_content,
    PassthroughTextElement,
)
EMPHASIS = {nodes.emphasis: "*", nodes.title_reference: "*", nodes.strong: "**"}
DRAWING = re.compile(r'<svg [^>]*class="drawing"')
ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
# What an address or the attribute around it cannot contain; a third shorter than base64.
ESCAPES = str.maketrans({'"': "'", **{char: f"%{ord(char):X}" for char in "%#'<>"}})
SPECIAL = re.compile(r"([\\`*_\[\]<>|$~])")
BLOCK_MARK = re.compile(r"^( *(?:\d+(?=[.)])|(?=#+|[-+])))([-+.)]|#+)(?=\s)", re.MULTILINE)


def to_inline(node: nodes.Node, link: Link) -> str:
    """Return the Markdown of a node within a line."""
    if isinstance(node, nodes.Text):
        return SPECIAL.sub(r"\\\1", node.astext())
    if isinstance(node, nodes.literal):
        return code_span(node.astext())
    if isinstance(node, nodes.math):
        return f"${node.astext()}$"
    if isinstance(node, (*SKIPPED, nodes.image)):
        return ""
    text = "".join(to_inline(child, link) for child in node.children)
    if isinstance(node, nodes.reference):
        url = link(node)
        return f"[{text}](<{url}>)" if url and text.strip() else text
    for kind, mark in EMPHASIS.items():
        if isinstance(node, kind) and text:
            return f"{mark}{text}{mark}"
    if not isinstance(node, nodes.TextElement):
        _warn_of_unknown(node)
    if _is(node, "pst-js-only"):
        return f"*{_('On the page:')}* {text}"
    return f" <sup>{text}</sup>" if _is(node, "cited-mark") else text


def to_blocks(node: nodes.Node, link: Link) -> list[str]:
    """Return the Markdown of a node as blocks: paragraphs, lists, tables, formulas."""
    if is_svg(node):
        return [to_image(node.astext())]
    if isinstance(node, SKIPPED) or _is(node, "toctree-wrapper"):
        return []
    if isinstance(node, nodes.literal_block | nodes.doctest_block):
        language = node.get("language", "default").replace("default", "")
        return [f"```{language}\n{node.astext().rstrip()}\n```"]
    if isinstance(node, nodes.math_block):
        latex = node.astext().strip()
        number = node.get("number")
        tag = f" \\tag{{{number}}}" if number else ""
        return [latex if latex.startswith("\\begin{align") else f"$$\n{latex}{tag}\n$$"]
    if isinstance(node, nodes.bullet_list | nodes.enumerated_list):
        return [_list(node, link)]
    if isinstance(node, nodes.table):
        return _table(node, link)
    if isinstance(node, nodes.Admonition) and not isinstance(node, addnodes.desc):
        has_title = isinstance(node.children[0], nodes.title)
        title = [] if has_title else [f"**{type(node).__name__.title()}**"]
        return [_quote([*title, *_children(node.children, link)])]
    if isinstance(node, nodes.block_quote):
        return [_quote(_children(node.children, link))]
    if isinstance(node, dropdown_main):
        return _details(node, link)
    if isinstance(node, addnodes.desc_signature):
        return [f"```python\n{node.astext()}\n```"]
    if isinstance(node, nodes.citation):
        label, *content = node.children
        return [f"\\[{label.astext()}\\] {' '.join(_children(content, link))}"]
    if isinstance(node, nodes.title | nodes.rubric | nodes.term) or _is(node, "card-title"):
        text = "".join(to_inline(child, link) for child in node.children)
        return [f"**{text.strip()}**"]
    if isinstance(node, nodes.caption):
        return [f"*{to_inline(node, link).strip()}*"]
    if isinstance(node, nodes.image):
        return [f"*{node['alt']}*"] if node.get("alt") else []
    if isinstance(node, CONTAINERS):
        return _children(node.children, link)
    if isinstance(node, nodes.Inline | nodes.TextElement | nodes.Text):
        text = to_inline(node, link).strip()
        return [BLOCK_MARK.sub(r"\1\\\2", text)] if text else []
    _warn_of_unknown(node)
    return _children(node.children, link)


def is_svg(node: nodes.Node) -> bool:
    """Return whether a node has the SVG of a drawing."""
    return isinstance(node, nodes.raw) and bool(DRAWING.match(node.astext()))


def to_image(svg: str) -> str:
    """Return an image that contains a drawing; no Jupyter shows an SVG as an attachment."""
    attributes = dict(ATTRIBUTE.findall(svg))
    width = attributes["viewBox"].split()[2]
    size = f'alt="{attributes["aria-label"]}" width="{1.25 * float(width):.0f}"'  # as on the page
    return f'<img {size} src="data:image/svg+xml;charset=utf-8,{svg.translate(ESCAPES)}">'


def _is(node: nodes.Node, name: str) -> bool:
    """Return whether a node has this class or is this component of sphinx-design."""
    return isinstance(node, nodes.Element) and (
        name in node["classes"] or node.get("design_component") == name
    )


def code_span(text: str) -> str:
    """Return a code span, delimited by more backticks than the text has in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _children(children: Iterable[nodes.Node], link: Link) -> list[str]:
    return [block for child in children for block in to_blocks(child, link)]


def _list(node: nodes.Element, link: Link) -> str:
    items = []
    start = node.get("start", 1)
    for number, item in enumerate(node.children, start):
        mark = f"{number}. " if isinstance(node, nodes.enumerated_list) else "- "
        text = "\n\n".join(_children(item.children, link)).replace("\n", "\n" + " " * len(mark))
        items.append(mark + re.sub(r" +$", "", text, flags=re.MULTILINE))
    is_loose = any("\n\n" in item for item in items)
    return ("\n\n" if is_loose else "\n").join(items)


def _quote(blocks: list[str]) -> str:
    return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).splitlines())


def _details(node: nodes.Element, link: Link) -> list[str]:
    """Return a dropdown as a ``details`` element; empty lines make its content Markdown."""
    heading, *content = node.children
    texts = next(heading.findall(dropdown_title)).findall(nodes.Text)
    title = "".join(text for text in texts if not isinstance(text.parent, nodes.raw))
    title = title.strip().replace("&", "&amp;").replace("<", "&lt;")
    return [f"<details><summary>{title}</summary>", *_children(content, link), "</details>"]


def _table(node: nodes.table, link: Link) -> list[str]:
    lines = list[str]()
    for row in node.findall(nodes.row):
        entries = row.findall(nodes.entry)
        cells = ["<br>".join(_children(entry.children, link)) for entry in entries]
        lines.append(f"| {' | '.join(cells)} |".replace("\n", " "))
    lines.insert(1, "|" + "---|" * len(cells))
    title = next(node.findall(nodes.title), None)
    return [*(to_blocks(title, link) if title else []), "\n".join(lines)]


def _warn_of_unknown(node: nodes.Node) -> None:
    kind = f"{type(node).__module__}.{type(node).__name__}"
    LOG.warning(
        f"a notebook cannot show {kind}; add it to _extensions/notebooks/markdown.py",
        location=node,
    )
