"""Fold cells into closed ``details`` elements."""

from docutils import nodes
from nbformat import NotebookNode
from sphinx.locale import _
from sphinx.writers.html5 import HTML5Translator

from _extensions.claims.checks import calls_glue, has_only_glue, join_kinds

PHONE = 38  # letters of an output that fit a phone of 320 px


class fold(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """A ``details`` element with its summary."""


def visit_fold(self: HTML5Translator, node: nodes.Element) -> None:
    """Open the element; a screen reader reads the words of the summary, not the tick."""
    self.body.append(self.starttag(node, "details"))
    text = self.encode(node["summary"])
    if "check" in node["classes"]:
        text = _("checked by code: {0}").format(text)
        text = f'<span class="tick" aria-hidden="true">✓</span> <span class="kinds">{text}</span>'
    self.body.append(f"<summary>{text}</summary>\n")


def depart_fold(self: HTML5Translator, _node: nodes.Element) -> None:
    self.body.append("</details>\n")


def fold_cell(cell: nodes.Element, source: NotebookNode, kinds: list[str]) -> None:
    """Fold a cell according to its tags and code."""
    tags = source.metadata.get("tags", [])
    for output in cell.findall(nodes.literal_block):
        if {"text_plain", "stream"} & set(output["classes"]):
            longest = max(map(len, output.astext().splitlines()), default=0)
            if longest > PHONE:
                output["classes"].append("wide")
    above = cell.parent[cell.parent.index(cell) - 1]
    if has_only_glue(source.source):
        cell.parent.remove(cell)
    elif "check" in tags and isinstance(above, fold) and "kinds" in above:
        cell.parent.remove(cell)
        above += cell
        above["kinds"] = above["kinds"] + kinds
        above["summary"] = join_kinds(above["kinds"])
    elif "check" in tags:
        _fold(cell, "check", join_kinds(kinds))["kinds"] = kinds
    elif "setup" in tags:
        numbers = calls_glue(source.source)
        summary = _("code of the numbers below") if numbers else _("code that prepares this page")
        _fold(cell, "setup", summary)
    elif "fold" in tags:
        _fold(
            cell, "setup", _("code to skip when you read; to run the page, paste it with the rest")
        )
    elif "figure" in source.metadata.get("mystnb", {}):  # its code goes below it
        parts = cell.findall(nodes.Element)
        code = next(part for part in parts if part.get("nb_element") == "cell_code_source")
        cell.remove(code)
        cell += code
        _fold(code, "figure-code", _("code of this figure"))


def _fold(cell: nodes.Element, kind: str, summary: str) -> fold:
    details = fold(classes=["fold", kind], summary=summary)
    cell.parent.replace(cell, details)
    details += cell
    return details
