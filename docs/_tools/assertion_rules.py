"""Rules for comparisons that no assertion reads, and for assertions that stop nothing.

While a page runs, ``docs/_extensions/run/observer/disturb`` finds assertions that cannot fail for
other reasons.
"""

import ast
import builtins
import re
from typing import Any

from _extensions.claims.cells import find_kind, find_kinds, get_name, parse_cell
from _extensions.run.pages import Page
from cell_rules import read_cells
from page_rules import Findings

COMPARISONS = {"allclose", "equal", "isclose", "array_equal", "is_close"}
CATCHES = re.compile(r"\b(AssertionError|Exception|BaseException)\b")
SUPPRESSES = re.compile(rf"(\w+\.)?suppress\(.*{CATCHES.pattern}")
PURE = {*dir(builtins), "math", "np"}  # their functions of constants are constants


def unasserted(page: Page) -> Findings:
    """Find comparisons whose result no assertion of this cell or of the next two reads."""
    cells = read_cells(page)
    for index, cell in enumerate(cells):
        checks = [near.code for near in cells[index : index + 3] if find_kinds(near.code)]
        for line, statement in cell.nodes(ast.Expr):
            value, is_shown = statement.value, statement in parse_cell(cell.code).body[-1:]
            if get_name(value) == "print" and value.args:
                value, is_shown = value.args[-1], True
            if isinstance(value, ast.Compare) and not is_shown:
                yield line, "the result of this comparison is dropped; assert what has to hold"
            if get_name(value) in COMPARISONS:
                operands = set().union(*map(_names_in, value.args))
                asserted_names = set().union(*map(_names_in, map(parse_cell, checks)))
                if not (is_shown and operands <= asserted_names):
                    message = f"no assertion reads the result of {get_name(value)}"
                    yield line, f"{message}; assert what has to hold"


def cannot_fail(page: Page) -> Findings:
    """Find assertions whose failure is caught, or that test constants only."""
    for cell in read_cells(page):
        bodies = [node.body for _, node in cell.nodes() if _catches_failures(node)]
        caught_nodes = {node for body in bodies for part in body for node in ast.walk(part)}
        for line, node in cell.nodes():
            if not find_kind(node):
                continue
            operands = node.args[:2] if isinstance(node, ast.Call) else [node.test]
            test: Any = operands[0] if operands else node
            is_choice = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
            alternatives = test.values if is_choice else []
            if node in caught_nodes:
                yield line, "the code around it catches the failure of this assertion; let it fail"
            elif all(map(_is_constant, operands or [test])) or any(map(_is_constant, alternatives)):
                yield line, "a constant decides this assertion; assert what the page computed"


def _catches_failures(node: Any) -> bool:
    """Return whether a failure in the body of a statement stops nothing."""
    if isinstance(node, ast.With):
        return any(SUPPRESSES.match(ast.unparse(item)) for item in node.items)
    handlers = node.handlers if isinstance(node, ast.Try) else []
    catching = [h for h in handlers if not h.type or CATCHES.search(ast.unparse(h.type))]
    return any(
        not any(isinstance(part, ast.Raise) or find_kind(part) for part in ast.walk(handler))
        for handler in catching
    )


def _is_constant(expression: ast.AST) -> bool:
    """Return whether an expression reads only constants, sizes of dtypes and pure functions."""
    nodes = list(ast.walk(expression))
    sizes = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == "itemsize"]
    of_sizes = {node for size in sizes for node in ast.walk(size)}
    names = [node for node in nodes if isinstance(node, ast.Name) and node not in of_sizes]
    local = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} <= PURE | local


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
