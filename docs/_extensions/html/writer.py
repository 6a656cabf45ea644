"""Writes HTML that assistive technology can read, without markup that nobody sees.

Each method names what is wrong upstream; where that is mended, the method can go.
``tests/site/test_browser.py`` has axe look at every page.
"""

from typing import Any

from docutils import nodes
from pygments.formatters import HtmlFormatter
from pygments.token import Name, Operator, Punctuation, Text, Token, Whitespace
from sphinx.writers.html5 import HTML5Translator

# Half of the elements of a page with code, in the color that code has anyway.
PLAIN = {Token, Text, Whitespace, Name, Operator, Punctuation}
FRAME = '<div class="pst-scrollable-table-container">'  # the theme's, around a table
SIGNATURE = {
    "<dl>": "<div>",
    "<dd>": '<div class="sig-line">',
    "</dl>": "</div>",
    "</dd>": "</div>",
}


class Plain(HtmlFormatter):  # type: ignore[misc]  # Pygments has no types
    """Writes no span around names, operators, brackets and spaces."""

    def _get_css_classes(self, ttype: Any) -> str:
        return "" if ttype in PLAIN else str(super()._get_css_classes(ttype))


class Writer(HTML5Translator):
    """Sphinx's writer of HTML, mended."""

    def _replace(self, start: int, old: str, new: str) -> None:
        self.body[start:] = [piece.replace(old, new) for piece in self.body[start:]]

    def starttag(self, node: Any, tagname: str, *rest: Any, **attributes: Any) -> str:
        """Name a table's frame and an output in HTML, unless a drawing has words of its own.

        A source is an item of its list: DPub-ARIA 1.1 withdrew the role that docutils writes.
        """
        if tagname == "table" and self.body[-1:] == [FRAME]:
            name = self.attval(table_name(node))
            self.body[-1] = FRAME.replace(" ", f' role="group" aria-label="{name}" ')
        elif attributes.get("role") == "doc-biblioentry":
            attributes["role"] = "listitem"
        elif is_output(node) and "<svg" not in node.astext():
            attributes |= {"role": "group", "aria-label": "output"}
        return str(super().starttag(node, tagname, *rest, **attributes))

    def add_permalink_ref(self, node: nodes.Element, title: str) -> None:
        """Leave the sign behind a heading to the mouse: the list of contents has its address.

        It would be a stop of the tab key and the last word of the heading's name.
        """
        start = len(self.body)
        super().add_permalink_ref(node, title)
        self._replace(start, "<a ", '<a aria-hidden="true" tabindex="-1" ')

    def visit_desc_signature(self, node: nodes.Element) -> None:
        """Remember where a signature begins."""
        self.signature = len(self.body)
        super().visit_desc_signature(node)

    def depart_desc_signature(self, node: nodes.Element) -> None:
        """Write a signature's parameters as lines: Sphinx puts a list into a ``dt``."""
        for old, new in SIGNATURE.items():
            self._replace(self.signature, old, new)
        super().depart_desc_signature(node)

    def visit_literal_block(self, node: nodes.literal_block) -> None:
        """Name what can scroll sideways, and tell input from output: ``pre`` has no name."""
        start, classes = len(self.body), node["classes"]
        name = "error" if "traceback" in classes else "output" if "output" in classes else "code"
        try:
            super().visit_literal_block(node)
        finally:  # it raises to skip what is in the node
            self._replace(start, "<pre", f'<pre role="group" aria-label="{name}"')

    def visit_Text(self, node: nodes.Text) -> None:  # noqa: N802  # as docutils names it
        """Keep *one-hot* on one line of a heading, by a word joiner, which takes no room."""
        whole = nodes.Text(node.replace("e-hot", "e-\u2060hot"))
        super().visit_Text(whole if isinstance(node.parent, nodes.title) else node)


def is_output(node: Any) -> bool:
    """Say whether a node holds an output in HTML."""
    return isinstance(node, nodes.raw) and "output" in node["classes"]


def table_name(table: nodes.Element) -> str:
    """Return what a table is about: the title of its section."""
    place = table.parent
    while not isinstance(place, nodes.section):
        place = place.parent
    return f"Table: {place[0].astext()}"
