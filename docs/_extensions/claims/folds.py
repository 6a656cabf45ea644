"""What a reader need not see at once: a native ``details`` element, closed, with one quiet line."""

import nbformat
from docutils import nodes
from sphinx.writers.html5 import HTML5Translator

from claims.check_cells import glues, in_words, only_glue

PHONE = 38  # letters of an output that fit a phone of 320 px


class fold(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """A native ``details`` element: one quiet line, and what it opens."""


def visit_fold(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the line; its words are its name for a screen reader too."""
    self.body.append(self.starttag(node, "details"))
    tick = '<span class="tick" aria-hidden="true">✓</span> ' if "check" in node["classes"] else ""
    text = self.encode(node["summary"])
    self.body.append(f"<summary>{tick}{text}</summary>\n")


def depart_fold(self: HTML5Translator, _node: nodes.Element) -> None:
    """Close the element."""
    self.body.append("</details>\n")


def fold_cell(
    cell: nodes.Element, source: nbformat.NotebookNode, kinds: list[str], anchor: str
) -> None:
    """Fold a cell as its tags and its code ask for, and give its checks an anchor."""
    tags = source.metadata.get("tags", [])
    for output in cell.findall(nodes.literal_block):
        if "text_plain" in output["classes"] or "stream" in output["classes"]:
            longest = max(map(len, output.astext().splitlines()), default=0)
            output["classes"] += ["wide"] * (longest > PHONE)
    if only_glue(source.source):
        cell.parent.remove(cell)
    elif "check" in tags:
        _replace(cell, "check", in_words(kinds), anchor)
    elif "setup" in tags:
        told = (
            "code of the numbers below" if glues(source.source) else "code that prepares this page"
        )
        _replace(cell, "setup", told, anchor if kinds else None)
    elif "figure" in source.metadata.get("mystnb", {}):
        _fold_code_of_figure(cell)
    if kinds and cell.parent is not None and not isinstance(cell.parent, fold):
        cell["ids"].append(anchor)


def _replace(cell: nodes.Element, kind: str, summary: str, anchor: str | None) -> None:
    folded = fold(classes=["fold", kind], summary=summary, ids=[anchor] if anchor else [])
    cell.parent.replace(cell, folded)
    folded += cell


def _fold_code_of_figure(cell: nodes.Element) -> None:
    """Put the code under the figure, closed, as the proof that it shows the page's own numbers."""
    parts = [part for part in cell.children if isinstance(part, nodes.Element)]
    for code in (part for part in parts if part.get("nb_element") == "cell_code_source"):
        cell.remove(code)
        summary = "code of this figure"
        cell.append(fold("", code, classes=["fold", "figure-code"], summary=summary))
