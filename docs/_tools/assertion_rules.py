"""The rule against assertions whose failure stops nothing, or which test constants.

Assertions that cannot fail for other reasons are found while a page runs, by
``docs/_extensions/run/disturb.py``.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from _extensions.claims.cells import kind_of, parsed
from _extensions.run.pages import Page
from cell_rules import code_cells
from page_rules import Findings

CATCHES = re.compile(r"\b(AssertionError|Exception|BaseException)\b")
SUPPRESSES = re.compile(rf"(\w+\.)?suppress\(.*{CATCHES.pattern}")
PURE = {*dir(builtins), "math", "np"}  # their functions of constants are constants


def cannot_fail(page: Page) -> Findings:
    """Find assertions that stop nothing, or that test no result of the page."""
    for cell in code_cells(page):
        for node, ancestors in _assertions(parsed(cell.code)):
            if reason := _why_ineffective([*ancestors, node]) or _why_true(node):
                yield cell.line + node.lineno - 1, f"{reason}; assert what the page computed"


def _assertions(node: ast.AST, *ancestors: ast.AST) -> Iterator[tuple[Any, tuple[ast.AST, ...]]]:
    """Yield each assertion with its ancestors, the outermost first."""
    if kind_of(node):
        yield node, ancestors
    for child in ast.iter_child_nodes(node):
        yield from _assertions(child, *ancestors, node)


def _why_ineffective(path: list[Any]) -> str:
    """Return why the failure of an assertion stops nothing, or "".

    ``path`` leads from the module to the assertion.
    """
    for node, child in pairwise(path):
        match node:
            case ast.Try(handlers=handlers, orelse=orelse) if child in node.body:
                is_caught = any(_catches(handler) and not _asserts(handler) for handler in handlers)
                if is_caught and not _asserts(*orelse):
                    return "an `except` catches the failure of this assertion"
            case ast.With(items=items) if any(SUPPRESSES.match(ast.unparse(i)) for i in items):
                return "`suppress` catches the failure of this assertion"
    return ""


def _why_true(node: Any) -> str:
    """Return why an assertion depends on constants alone, or ""."""
    operands = node.args[:2] if isinstance(node, ast.Call) else [node.test]
    if operands and all(map(_is_constant, operands)):
        return "this assertion tests constants only"
    for part in ast.walk(operands[0]) if operands else ():
        match part:
            case ast.BoolOp(op=ast.Or(), values=values) if any(map(_is_constant, values)):
                return "a constant operand of `or` decides this assertion"
    return ""


def _is_constant(node: ast.AST) -> bool:
    """Return whether an expression reads only constants and functions that are pure."""
    tree = ast.parse(re.sub(r"\btorch\.\w+\.itemsize\b", "4", ast.unparse(node)))
    return _names(tree, ast.Load) <= PURE | _names(tree, ast.Store)


def _asserts(*nodes: ast.AST) -> bool:
    descendants = (descendant for node in nodes for descendant in ast.walk(node))
    return any(isinstance(node, ast.Raise) or kind_of(node) for node in descendants)


def _catches(handler: ast.ExceptHandler) -> bool:
    return not handler.type or bool(CATCHES.search(ast.unparse(handler.type)))


def _names(tree: ast.AST, context: type) -> set[str]:
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, context)}
