"""A cell of a page as it stands in a notebook: folded as there, without glue for the prose."""

import ast
import copy
from collections.abc import Iterator
from typing import Any

import nbformat
from nbformat import v4 as nbformat_v4

from _extensions.claims.cells import in_words, is_glue, kinds_of, parsed

v4: Any = nbformat_v4  # its functions have no types
FOLDED = {"check", "setup", "remove-input", "remove-cell", "hide-cell", "hide-input"}


def notebook_cell(cell: nbformat.NotebookNode) -> list[Any]:
    """Give a cell without glue, with its outputs, or nothing if nothing is left."""
    tags = cell.metadata.get("tags", [])
    source = without_glue(cell.source)
    if not source or "skip-execution" in tags:
        return []
    if line := _line(cell):
        source = f"# {line}\n{source}"
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    if FOLDED & set(tags) or "figure" in cell.metadata.get("mystnb", {}):
        metadata["jupyter"] = {"source_hidden": True}
    shown = [] if "remove-output" in tags else outputs_of(cell)
    outputs = [_without_drawing(output) for output in shown]
    return [v4.new_code_cell(source, metadata=metadata, outputs=outputs)]


def _line(cell: nbformat.NotebookNode) -> str:
    """Give the words of the page's fold; Jupyter shows the first line of what it folds."""
    tags, expected = cell.metadata.get("tags", []), str(cell.metadata.get("expect", ""))
    if "check" in tags:
        raised = f"raises {expected.partition(':')[0]}"
        kinds = [raised] if "raises-exception" in tags else kinds_of(cell.source)
        return f"✓ {in_words(kinds)}"
    if "setup" in tags:
        return "prepares what follows"
    return "code of this figure" if "figure" in cell.metadata.get("mystnb", {}) else ""


def outputs_of(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Give the outputs of a cell, but what glue keeps for the prose."""
    return [output for output in cell.outputs if "scrapbook" not in output.get("metadata", {})]


def _without_drawing(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Leave a drawing's words alone: Jupyter shows no SVG of a notebook that it has not run."""
    output = copy.deepcopy(output)
    if output.get("data", {}).get("text/html", "").startswith("<svg"):
        del output["data"]["text/html"]
    return output


def without_glue(source: str) -> str:
    """Leave out the statements that only hand values to the prose, and loops around them.

    Raises
    ------
    ValueError
        If such a statement shares its line, or glue is used in another way.
    """
    if "glue" not in source:
        return source
    lines = source.splitlines()
    for statement in reversed(list(_handed_over(parsed(source).body))):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        before = lines[first - 1].encode()[: statement.col_offset].decode()
        after = lines[last - 1].encode()[statement.end_col_offset :].decode()
        if before.strip() or after.partition("#")[0].strip():
            raise ValueError(f"{lines[first - 1]!r} shares its line; give glue a line of its own.")
        del lines[first - 1 : last]
    left = "\n".join(lines).strip("\n")
    while "\n\n\n" in left:
        left = left.replace("\n\n\n", "\n\n")
    if any(isinstance(n, ast.Name) and n.id == "glue" for n in ast.walk(parsed(left))):
        raise ValueError(f"a notebook has no glue, expected it as a statement only, in:\n{left}")
    return left if parsed(left).body else ""


def _handed_over(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Give each statement to be left out, in the order of their lines."""
    for statement in body:
        if _hands_over(statement):
            yield statement
        else:
            yield from _handed_over(_inner(statement))


def _hands_over(statement: ast.stmt) -> bool:
    return is_glue(statement) or bool(
        _inner(statement) and all(map(_hands_over, _inner(statement)))
    )


def _inner(statement: ast.stmt) -> list[ast.stmt]:
    return [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt)]
