"""Rules for comparisons that no assertion reads, and for assertions that stop nothing.

While a page runs, ``docs/_extensions/run/observer/disturb`` finds assertions that cannot fail for
other reasons.
"""

import ast
import builtins
import re
from typing import Any

from _extensions.claims.cells import kind_of, kinds_of, name_of, parsed
from _extensions.run.pages import Page
from cell_rules import code_cells
from page_rules import Findings

COMPARISONS = {"allclose", "equal", "isclose", "array_equal", "is_close"}
CATCHES = re.compile(r"\b(AssertionError|Exception|BaseException)\b")
SUPPRESSES = re.compile(rf"(\w+\.)?suppress\(.*{CATCHES.pattern}")
PURE = {*dir(builtins), "math", "np"}  # their functions of constants are constants


def unasserted(page: Page) -> Findings:
    """Find comparisons whose result no assertion of this cell or of the next two reads."""
    cells = code_cells(page)
    for index, cell in enumerate(cells):
        for line, statement in cell.nodes(ast.Expr):
            value = statement.value
            is_displayed = statement in parsed(cell.code).body[-1:]
            is_printed = isinstance(value, ast.Call) and name_of(value) == "print"
            if isinstance(value, ast.Compare) and not is_displayed:
                yield line, "the result of this comparison is dropped; assert what has to hold"
            call = value.args[-1] if is_printed and value.args else value
            if isinstance(call, ast.Call) and name_of(call) in COMPARISONS:
                checks = [near.code for near in cells[index : index + 3] if kinds_of(near.code)]
                operands = set().union(*map(_names_in, call.args))
                is_asserted = checks and operands <= set().union(
                    *map(_names_in, map(parsed, checks))
                )
                if not (is_asserted and (is_displayed or is_printed)):
                    message = f"no assertion reads the result of {name_of(call)}"
                    yield line, f"{message}; assert what has to hold"


def cannot_fail(page: Page) -> Findings:
    """Find assertions whose failure is caught, or that test constants only."""
    for cell in code_cells(page):
        blocks = [node for _, node in cell.nodes() if _catches_failures(node)]
        caught = {node for block in blocks for part in block.body for node in ast.walk(part)}
        for line, node in cell.nodes():
            if not kind_of(node):
                continue
            operands = node.args[:2] if isinstance(node, ast.Call) else [node.test]
            alternatives = [value for part in operands[:1] for value in _alternatives(part)]
            if node in caught:
                yield line, "the code around it catches the failure of this assertion; let it fail"
            elif all(map(_is_constant, operands or [node])) or any(map(_is_constant, alternatives)):
                yield line, "a constant decides this assertion; assert what the page computed"


def _catches_failures(node: Any) -> bool:
    """Return whether a failure in the body of a statement stops nothing."""
    if isinstance(node, ast.With):
        return any(SUPPRESSES.match(ast.unparse(item)) for item in node.items)
    if not isinstance(node, ast.Try) or _can_raise(*node.orelse):
        return False
    handlers = [h for h in node.handlers if not h.type or CATCHES.search(ast.unparse(h.type))]
    return any(not _can_raise(handler) for handler in handlers)


def _can_raise(*nodes: ast.AST) -> bool:
    return any(isinstance(n, ast.Raise) or kind_of(n) for node in nodes for n in ast.walk(node))


def _alternatives(expression: ast.AST) -> list[ast.expr]:
    """Return the operands of each ``or`` in an expression."""
    nodes = (node for node in ast.walk(expression) if isinstance(node, ast.BoolOp))
    return [value for node in nodes if isinstance(node.op, ast.Or) for value in node.values]


def _is_constant(expression: ast.AST) -> bool:
    """Return whether an expression reads only constants, sizes of dtypes and pure functions."""
    nodes = list(ast.walk(expression))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    local = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    sizes = [n for n in nodes if isinstance(n, ast.Attribute) and n.attr == "itemsize"]
    of_sizes = {node for size in sizes for node in ast.walk(size)}
    return {name.id for name in names if name not in of_sizes} <= PURE | local


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
