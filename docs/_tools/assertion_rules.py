"""The rule against assertions that cannot fail, as far as the syntax tree shows it."""

import ast
import builtins
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any

from _extensions.claims.cells import kind_of, name_of, parsed
from _extensions.run.pages import Page
from cell_rules import COMPARISONS, code_cells
from page_rules import Findings

CATCHES = re.compile(r"\b(AssertionError|Exception|BaseException)\b")
SUPPRESSES = re.compile(rf"(\w+\.)?suppress\(.*{CATCHES.pattern}")
ALWAYS_TRUE = ast.Tuple | ast.List | ast.Set | ast.Dict | ast.GeneratorExp | ast.Lambda
CONTAINERS = {"list", "tuple", "set", "dict", "range"}
PURE = {*dir(builtins), "math", "np"}  # their functions of constants are constants


def cannot_fail(page: Page) -> Findings:
    """Find assertions that pass, or that stop nothing, whatever the page computes."""
    cells = code_cells(page)
    used = {name for cell in cells for name in _used_names(parsed(cell.code))}
    for cell in cells:
        for node, ancestors in _assertions(parsed(cell.code)):
            if reason := _why_ineffective([*ancestors, node], used) or _why_true(node):
                yield cell.line + node.lineno - 1, f"{reason}; assert what the page computed"


def _assertions(node: ast.AST, *ancestors: ast.AST) -> Iterator[tuple[Any, tuple[ast.AST, ...]]]:
    """Yield each assertion with its ancestors, the outermost first."""
    if kind_of(node):
        yield node, ancestors
    for child in ast.iter_child_nodes(node):
        yield from _assertions(child, *ancestors, node)


def _why_ineffective(path: list[Any], used: set[str]) -> str:
    """Return why an assertion may not be reached, or why its failure stops nothing, or "".

    ``path`` leads from the module to the assertion, ``used`` has the names that the page reads.
    """
    for parent, node, child in zip([path[0], *path], path, path[1:], strict=False):
        match node:
            case ast.Try(handlers=handlers, orelse=orelse) if child in node.body:
                is_caught = any(_catches(handler) and not _asserts(handler) for handler in handlers)
                if is_caught and not _asserts(*orelse):
                    return "an `except` catches the failure of this assertion"
            case ast.ExceptHandler() if not _asserts(parent.body[-1], *parent.orelse):
                return "this assertion runs only after an error, and the page passes without one"
            case ast.With(items=items) if any(SUPPRESSES.match(ast.unparse(i)) for i in items):
                return "`suppress` catches the failure of this assertion"
            case ast.ClassDef() | ast.FunctionDef() if not isinstance(parent, ast.ClassDef):
                if node.name not in used and not node.decorator_list:
                    return f"nothing on this page calls {node.name!r}, so its assertion never runs"
            case ast.Lambda() if isinstance(parent, ast.Assign | ast.Expr):
                if not used & _names(parent, ast.Store):
                    return "nothing on this page calls this `lambda`, so its assertion never runs"
            case ast.For(iter=iterable) if _is_empty(iterable):
                return "this loop iterates over nothing, so its assertion never runs"
            case ast.If(body=body, orelse=orelse) if _asserts(*body) and _asserts(*orelse):
                pass
            case ast.If() | ast.While() | ast.IfExp() | ast.BoolOp() | ast.match_case():
                return "this assertion depends on a condition, so it may never run"
    return ""


def _why_true(node: Any) -> str:
    """Return why an assertion passes whatever the page computes, or ""."""
    if isinstance(node, ast.Call):
        tested, operands = node, node.args[:2]
    else:
        tested, operands = node.test, [node.test]
    if operands and all(map(_is_constant, operands)):
        return "this assertion tests constants only"
    if isinstance(tested, ALWAYS_TRUE):
        return "a tuple, list or function is always true"
    for part in ast.walk(tested):
        match part:
            case ast.BoolOp(op=ast.Or(), values=values) if any(map(_is_constant, values)):
                return "a constant operand of `or` decides this assertion"
            case ast.comprehension(iter=iterable) if _is_empty(iterable):
                return "this iterates over nothing, and `all` of nothing is true"
            case ast.Compare(left=a, comparators=[b, *_]) if _is_same(a, b):
                return "this compares a value with itself"
            case ast.Call() if part is node or name_of(part) in COMPARISONS:
                owner = [part.func.value] if isinstance(part.func, ast.Attribute) else []
                if any(_is_same(a, b) for a, b in combinations([*owner, *part.args[:2]], 2)):
                    return "this compares a value with itself"
    return ""


def _is_constant(node: ast.AST) -> bool:
    """Return whether an expression reads only constants and functions that are pure."""
    tree = ast.parse(re.sub(r"\btorch\.\w+\.itemsize\b", "4", ast.unparse(node)))
    return _names(tree, ast.Load) <= PURE | _names(tree, ast.Store)


def _is_empty(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return name_of(node) in CONTAINERS and all(map(_is_empty, node.args))
    with suppress(ValueError):
        return not ast.literal_eval(node)
    return False


def _is_same(a: ast.expr, b: ast.expr) -> bool:
    """Return whether both sides are the same code, and call nothing that could vary."""
    can_vary = any(isinstance(node, ast.Call) for node in ast.walk(a))
    return ast.dump(a) == ast.dump(b) and not can_vary


def _asserts(*nodes: ast.AST) -> bool:
    descendants = (descendant for node in nodes for descendant in ast.walk(node))
    return any(isinstance(node, ast.Raise) or kind_of(node) for node in descendants)


def _catches(handler: ast.ExceptHandler) -> bool:
    return not handler.type or bool(CATCHES.search(ast.unparse(handler.type)))


def _names(tree: ast.AST, context: type) -> set[str]:
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, context)}


def _used_names(node: ast.AST, *enclosing: str) -> Iterator[str]:
    """Yield the names that are read, except for those of functions within themselves."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in enclosing:
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _used_names(child, *enclosing, getattr(node, "name", None) or "")
