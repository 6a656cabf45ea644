"""Write accessible HTML without redundant markup.

Each method names the defect that it corrects, and can go once that is corrected upstream.
``tests/site/test_browser.py`` runs axe on every page.
"""

import re
from typing import Any

from docutils import nodes
from pygments.formatters import HtmlFormatter
from pygments.token import (
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Token,
    Whitespace,
)
from sphinx.locale import _
from sphinx.writers.html5 import HTML5Translator

# Only words of the language, texts, and names from elsewhere have a color of their own: each span
# is an element, and most of a page with code would be spans.
UNSTYLED_TOKENS = {Token, Text, Whitespace, Name, Name.Namespace, Operator, Punctuation}
COLORS = {Operator.Word: "k", Keyword: "k", String: "s2", Number: ""}
BREAK = re.compile(r"[._(=,](?=\w)")  # where a long name may be broken in a table
SEPARATOR = re.compile("(; |；)")  # of the answers to a guess
TABLE_FRAME = '<div class="pst-scrollable-table-container">'  # the theme's


class CodeFormatter(HtmlFormatter):  # type: ignore[misc]  # Pygments has no types
    """Pygments' formatter without a span around tokens in the default color, or in that before."""

    def _get_css_classes(self, ttype: Any) -> str:
        if ttype in UNSTYLED_TOKENS:
            return ""
        shared = (name for kind, name in COLORS.items() if ttype in kind)
        return next(shared, str(super()._get_css_classes(ttype)))


class AccessibleTranslator(HTML5Translator):
    """Sphinx's HTML translator with corrections."""

    def __init__(self, *arguments: Any) -> None:
        """Drop docutils' viewport, which the theme writes too."""
        super().__init__(*arguments)
        self.meta = [tag for tag in self.meta if 'name="viewport"' not in tag]

    def _replace_since(self, start: int, old: str, new: str) -> None:
        self.body[start:] = [piece.replace(old, new) for piece in self.body[start:]]

    def starttag(self, node: Any, tagname: str, *arguments: Any, **attributes: Any) -> str:
        """Name the frames of tables and HTML outputs, unless a figure has a name of its own."""
        is_html_output = isinstance(node, nodes.raw) and "output" in node["classes"]
        if tagname == "table" and self.body[-1:] == [TABLE_FRAME]:
            name = self.attval(_("Table: {0}").format(_find_section_title(node)))
            self.body[-1] = TABLE_FRAME.replace(" ", f' role="group" aria-label="{name}" ')
        elif attributes.get("role") == "doc-biblioentry":
            attributes["role"] = "listitem"  # DPub-ARIA 1.1 deprecates the role of docutils
        elif is_html_output and "<svg" not in node.astext():
            attributes |= {"role": "group", "aria-label": _("output")}
        return str(super().starttag(node, tagname, *arguments, **attributes))

    def add_permalink_ref(self, node: nodes.Element, title: str) -> None:
        """Hide the link beside a heading, which would be the last word of the heading's name."""
        start = len(self.body)
        super().add_permalink_ref(node, title)
        self._replace_since(start, "<a ", '<a aria-hidden="true" tabindex="-1" ')

    def visit_desc_signature(self, node: nodes.Element) -> None:
        """Store where the signature begins."""
        self.signature_start = len(self.body)
        super().visit_desc_signature(node)

    def depart_desc_signature(self, node: nodes.Element) -> None:
        """Write parameters in ``div``: Sphinx writes a list, which ``dt`` cannot contain."""
        for old, new in (("dl>", "div>"), ("<dd>", '<div class="sig-line">'), ("</dd>", "</div>")):
            self._replace_since(self.signature_start, old, new)
        super().depart_desc_signature(node)

    def visit_literal_block(self, node: nodes.literal_block) -> None:
        """Name what can scroll sideways as code, output or error."""
        start = len(self.body)
        classes = node["classes"]
        is_error = "traceback" in classes
        is_output = "output" in classes
        name = _("error") if is_error else _("output") if is_output else _("code")
        try:
            super().visit_literal_block(node)
        finally:  # it raises SkipNode
            self._replace_since(start, "<pre", f'<pre role="group" aria-label="{name}"')
            self._replace_since(start, "<span></span>", "")  # for browsers of long ago

    def visit_inline(self, node: nodes.inline) -> None:
        """Keep room for the buttons of a guess."""
        if "choices" in node["classes"]:
            _split_answers(node)
        super().visit_inline(node)

    def visit_Text(self, node: nodes.Text) -> None:  # noqa: N802  # docutils' name
        """Keep *one-hot* on one line of a heading, and give words of code no elements.

        Names in tables break where their words end.
        """
        unbroken = nodes.Text(node.replace("e-hot", "e-\u2060hot"))
        depth = self.protect_literal_text
        if isinstance(node.parent, nodes.literal):
            self.protect_literal_text = 0
        super().visit_Text(unbroken if isinstance(node.parent, nodes.title) else node)
        self.protect_literal_text = depth
        if isinstance(node.parent, nodes.literal) and _is_in_table(node):
            self.body[-1] = BREAK.sub(r"\g<0><wbr>", self.body[-1])


def _split_answers(choices: nodes.Element) -> None:
    """Give each answer to a guess an element, as wide as the button that a script makes of it."""
    answers = [nodes.inline(classes=["answer"])]
    for child in choices.children:
        for part in SEPARATOR.split(child) if isinstance(child, nodes.Text) else [child]:
            if isinstance(part, str) and SEPARATOR.fullmatch(part):
                answers[-1] += nodes.inline("", part, classes=["separator"])
                answers.append(nodes.inline(classes=["answer"]))
            else:
                answers[-1] += nodes.Text(part) if isinstance(part, str) else part
    choices.children = []
    choices += answers


def _is_in_table(node: nodes.Node) -> bool:
    """Return whether a node is in a cell of a table."""
    while node.parent is not None and not isinstance(node, nodes.entry):
        node = node.parent
    return isinstance(node, nodes.entry)


def _find_section_title(place: nodes.Element) -> str:
    """Return the title of the section around a node."""
    while place.parent is not None and not isinstance(place, nodes.section):
        place = place.parent
    title = next(place.findall(nodes.title), None)
    return title.astext() if title else ""
