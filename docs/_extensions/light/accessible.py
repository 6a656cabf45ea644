"""Mends markup that assistive technology cannot read, where Sphinx and docutils write it.

Each change names what is wrong upstream; where that is mended, the change finds nothing to replace
and can go. ``tests/test_browser.py`` has axe look at every page.
"""

import re
from collections.abc import Callable
from html import escape
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

Change = Callable[[str, nodes.Element], str]
Visitor = Callable[[HTML5Translator, nodes.Element], None]


def signature_lines(html: str, _node: nodes.Element) -> str:
    """Give a signature's parameters as spans: Sphinx puts a list into a ``dt``."""
    html = html.replace("<dl>", '<span class="sig-lines">').replace("</dl>", "</span>")
    return html.replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")


def list_item(html: str, _node: nodes.Element) -> str:
    """Call a source an item of its list: DPub-ARIA 1.1 withdrew the role that docutils writes."""
    return html.replace('role="doc-biblioentry"', 'role="listitem"')


def named_code(html: str, node: nodes.Element) -> str:
    """Name what can scroll sideways, and tell input from output: ``pre`` alone has no name."""
    classes = node["classes"]
    name = "error" if "traceback" in classes else "output" if "output" in classes else "code"
    return re.sub(r"<pre(?=[ >])", f'<pre role="group" aria-label="{name}"', html, count=1)


def named_output(html: str, node: nodes.Element) -> str:
    """Name an output in HTML as well, unless it is a drawing, which has its own words."""
    if "output" not in node["classes"] or "<svg" in node.astext():
        return html
    return html.replace("<div ", '<div role="group" aria-label="output" ', 1)


def named_table(html: str, node: nodes.Element) -> str:
    """Name a table's scrolling frame by its caption, or else by its section."""
    title = next(node.findall(nodes.title), None)
    section: nodes.Node | None = node
    while title is None and section is not None:
        section = section.parent
        if isinstance(section, nodes.section):
            title = next(section.findall(nodes.title))
    name = f"Table: {title.astext()}" if title else "Table"
    frame = f'<div role="group" aria-label="{escape(name)}" class="pst-scrollable-table-container">'
    return html.replace('<div class="pst-scrollable-table-container">', frame)


CHANGES: dict[type[nodes.Element], Change] = {
    addnodes.desc_parameterlist: signature_lines,
    addnodes.desc_parameter: signature_lines,
    addnodes.desc_optional: signature_lines,
    nodes.citation: list_item,
    nodes.literal_block: named_code,
    nodes.raw: named_output,
    nodes.table: named_table,
}


def rewritten(method: str, change: Change) -> Visitor:
    """Give the translator's own method, with a change of what it writes."""

    def visit(self: HTML5Translator, node: nodes.Element) -> None:
        start = len(self.body)
        try:
            getattr(type(self), method)(self, node)
        finally:  # one that writes a node whole raises to skip what is in it
            self.body[start:] = [change(piece, node) for piece in self.body[start:]]

    return visit


def mend_body(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Leave the signs behind headings to the mouse, and let folds be named by what they say.

    The signs would be a stop of the tab key at each heading and the last word of its name, and the
    list of contents has the same addresses. MyST-NB names what it hides "Toggle hidden content".
    """
    if "body" in context:
        quiet = '<a aria-hidden="true" tabindex="-1" class="headerlink"'
        body = context["body"].replace('<a class="headerlink"', quiet)
        context["body"] = body.replace(' aria-label="Toggle hidden content"', "")


def caption_tables(_app: Sphinx, doctree: nodes.document) -> None:
    """Make the line that a cell prints right above its table the table's caption."""
    for table in list(doctree.findall(nodes.table)):
        line = table.previous_sibling()
        printed = table.parent.parent.get("nb_element") == "mime_bundle"
        if printed and isinstance(line, nodes.paragraph) and not list(table.findall(nodes.title)):
            table.parent.remove(line)
            table.insert(0, nodes.title("", "", *line.children))
            doctree.set_id(table)  # Sphinx asks for one where there is a caption


def setup(app: Sphinx) -> dict[str, bool]:
    """Change what the translator writes, and add the script that lets the keyboard scroll."""
    for kind, change in CHANGES.items():
        visit = rewritten(f"visit_{kind.__name__}", change)
        depart = rewritten(f"depart_{kind.__name__}", change)
        app.add_node(kind, override=True, html=(visit, depart))
    app.connect("doctree-read", caption_tables)
    app.connect("html-page-context", mend_body)
    app.add_js_file("scrollers.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
