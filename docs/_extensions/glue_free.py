"""A cell as it stands in a notebook: without what hands values to the page's prose."""

import ast
from collections.abc import Iterator

from check_cells import is_glue, parsed


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
    return is_glue(statement) or bool(_inner(statement) and all(map(_hands_over, _inner(statement))))


def _inner(statement: ast.stmt) -> list[ast.stmt]:
    return [node for node in ast.iter_child_nodes(statement) if isinstance(node, ast.stmt)]
