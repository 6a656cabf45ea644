"""Convert an executed cell of a page to a notebook cell without glue."""

import ast
import builtins
import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any

import nbformat
from sphinx.locale import _

from _extensions.claims.cells import find_kinds, is_glue, join_kinds, parse_cell

COLLAPSED_TAGS = {"check", "setup", "fold", "remove-input", "remove-cell"}
BUILTINS = set(dir(builtins))


def convert_cell(cell: nbformat.NotebookNode) -> list[Any]:
    """Return the notebook cell for a page's cell, or an empty list if no code remains."""
    tags = cell.metadata.get("tags", [])
    source = remove_glue(cell.source)
    if not source or "skip-execution" in tags:
        return []
    if summary := _summarize(cell):
        source = f"# {summary}\n{source}"
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    if COLLAPSED_TAGS & set(tags) or "figure" in cell.metadata.get("mystnb", {}):
        metadata["jupyter"] = {"source_hidden": True}
    outputs = [] if "remove-output" in tags else copy.deepcopy(select_outputs(cell))
    for data in (output.get("data", {}) for output in outputs):
        if data.get("text/html", "").startswith("<svg"):  # which Jupyter hides until it is run
            del data["text/html"]
    return [code_cell(source, metadata, outputs)]


def code_cell(source: str, metadata: dict[str, Any], outputs: Sequence[Any] = ()) -> dict[str, Any]:
    """Return a cell with code; ``nbformat.v4`` would validate each, which takes seconds."""
    code = {"execution_count": None, "source": source, "outputs": list(outputs)}
    return {"id": "", "cell_type": "code", "metadata": metadata} | code


def markdown_cell(source: str) -> dict[str, Any]:
    """Return a cell with Markdown."""
    return {"id": "", "cell_type": "markdown", "source": source, "metadata": {}}


def _summarize(cell: nbformat.NotebookNode) -> str:
    """Return the summary of the page's fold; Jupyter shows the first line of a collapsed cell."""
    tags, expected = cell.metadata.get("tags", []), str(cell.metadata.get("expect", ""))
    if "check" in tags:
        error = f"raises {expected.partition(':')[0]}"
        kinds = [error] if "raises-exception" in tags else find_kinds(cell.source)
        return f"✓ {join_kinds(kinds)}"
    if "setup" in tags:
        return str(_("code that prepares this page"))
    return str(_("code of this figure")) if "figure" in cell.metadata.get("mystnb", {}) else ""


def select_outputs(cell: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the outputs of a cell except glued values."""
    return [output for output in cell.outputs if "scrapbook" not in output.get("metadata", {})]


def remove_glue(source: str) -> str:
    r"""Remove glue statements, and loops that contain nothing else.

    A glued expression that calls anything but a builtin stays, since it may change what later cells
    read, with a semicolon against its display. ``ValueError`` is raised for any other use of glue.

    >>> remove_glue("x = 1\nglue('x', x)\nglue('loss', train(x))")
    'x = 1\ntrain(x);'
    """
    if "glue" not in source:
        return source
    lines = source.splitlines()
    for statement in reversed(list(_find_glue(parse_cell(source).body))):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        before = lines[first - 1][: statement.col_offset]
        after = lines[last - 1].encode()[statement.end_col_offset :].decode()
        if before.strip() or after.partition("#")[0].strip():
            raise ValueError(f"{lines[first - 1]!r} shares its line; give glue a line of its own.")
        call = _find_glued_call(statement)
        lines[first - 1 : last] = [f"{before}{ast.unparse(call)};"] if call else []
    result = re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n"))
    if any(isinstance(n, ast.Name) and n.id == "glue" for n in ast.walk(parse_cell(result))):
        raise ValueError(f"a notebook has no glue, expected it as a statement only, in:\n{result}")
    return result if parse_cell(result).body else ""


def _find_glue(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield glue statements, but a loop that only glues values as a whole, in source order."""
    for statement in body:
        if is_glue(statement) or _only_glues(statement):
            yield statement
        else:
            yield from _find_glue(_list_nested(statement))


def _only_glues(statement: ast.stmt) -> bool:
    """Return whether removing a statement loses nothing but glued values."""
    if nested := _list_nested(statement):
        return all(map(_only_glues, nested))
    return is_glue(statement) and not _find_glued_call(statement)


def _find_glued_call(statement: ast.stmt) -> ast.expr | None:
    """Return the expression that a statement glues if it calls anything but a builtin."""
    match statement:
        case ast.Expr(value=ast.Call(args=[_, expression, *_])):
            calls = (node for node in ast.walk(expression) if isinstance(node, ast.Call))
            return (
                expression if {getattr(call.func, "id", "") for call in calls} - BUILTINS else None
            )
    return None


def _list_nested(statement: ast.stmt) -> list[ast.stmt]:
    return [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt)]
