"""Convert an executed cell of a page to a notebook cell."""

import copy
import re
from collections.abc import Sequence
from typing import Any

import nbformat
from sphinx.locale import _

from _extensions.claims.checks import find_kinds, has_only_glue, join_kinds

COLLAPSED_TAGS = {"fold", "remove-input", "remove-cell"}
# The settings of a notebook define a glue that does nothing.
IMPORT_OF_GLUE = re.compile(r"^ *from myst_nb import .*\n?", re.MULTILINE)


def convert_cell(cell: nbformat.NotebookNode) -> list[Any]:
    """Return the notebook cell for a page's cell, or an empty list if no code remains."""
    tags = cell.metadata.get("tags", [])
    source = remove_import_of_glue(cell.source)
    if not source or "skip-execution" in tags:
        return []
    if summary := _summarize(cell):
        source = f"# {summary}\n{source}"
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    if summary or COLLAPSED_TAGS & set(tags):
        metadata["jupyter"] = {"source_hidden": True}
    outputs = [] if "remove-output" in tags else copy.deepcopy(select_outputs(cell))
    for data in (output.get("data", {}) for output in outputs):
        if data.get("text/html", "").startswith("<svg"):  # which Jupyter hides until it is run
            del data["text/html"]
    return [code_cell(source, metadata, outputs)]


def remove_import_of_glue(source: str) -> str:
    """Return a source that needs no MyST-NB."""
    return IMPORT_OF_GLUE.sub("", source).strip("\n")


def code_cell(source: str, metadata: dict[str, Any], outputs: Sequence[Any] = ()) -> dict[str, Any]:
    """Return a cell with code; ``nbformat.v4`` would validate each, which takes seconds."""
    code = {"execution_count": None, "source": source, "outputs": list(outputs)}
    return {"id": "", "cell_type": "code", "metadata": metadata} | code


def markdown_cell(source: str) -> dict[str, Any]:
    """Return a cell with Markdown."""
    return {"id": "", "cell_type": "markdown", "source": source, "metadata": {}}


def _summarize(cell: nbformat.NotebookNode) -> str:
    """Return the summary of the page's fold; Jupyter shows the first line of a collapsed cell."""
    tags = cell.metadata.get("tags", [])
    expected = str(cell.metadata.get("expect", ""))
    if "check" in tags:
        error = f"raises {expected.partition(':')[0]}"
        kinds = [error] if "raises-exception" in tags else find_kinds(cell.source)
        return f"✓ {join_kinds(kinds)}"
    if "setup" in tags:
        return str(_("code that prepares this page"))
    if has_only_glue(cell.source):
        return str(_("code of the numbers below"))
    return str(_("code of this figure")) if "figure" in cell.metadata.get("mystnb", {}) else ""


def select_outputs(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the outputs of a cell except glued values."""
    return [output for output in cell.outputs if "scrapbook" not in output.get("metadata", {})]
