"""Assertions that cannot fail, as far as the code alone shows it."""

import ast
import builtins
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from _extensions.claims.cells import kind_of, name_of, parsed
from _extensions.run.pages import Page
from cell_rules import COMPARING, cells_of
from page_rules import Found

CATCHING = {"AssertionError", "Exception", "BaseException"}
ALWAYS = ast.Tuple | ast.List | ast.Set | ast.Dict | ast.GeneratorExp | ast.Lambda
EMPTY = {"list", "tuple", "set", "dict", "range"}
PURE = {*dir(builtins), "math", "np"}  # what these make of constants is a constant


def cannot_fail(page: Page) -> Found:
    """Find assertions that hold, or that stop nothing, whatever the page computes."""
    cells = cells_of(page)
    used = {name for cell in cells for name in _used(parsed(cell.code))}
    for cell in cells:
        for node, around in _assertions(parsed(cell.code)):
            if says := _stops_nothing([*around, node], used) or _is_true(node):
                yield cell.line + node.lineno - 1, f"{says}; assert what the page computed"


def _assertions(node: ast.AST, *around: ast.AST) -> Iterator[tuple[Any, tuple[ast.AST, ...]]]:
    """Find each assertion, with all that stands around it."""
    if kind_of(node):
        yield node, around
    for child in ast.iter_child_nodes(node):
        yield from _assertions(child, *around, node)


def _stops_nothing(chain: list[Any], used: set[str]) -> str:
    """Say why an assertion is perhaps never reached, or why its failure stops nothing."""
    for holder, outer, inner in zip([chain[0], *chain], chain, chain[1:], strict=False):
        match outer:
            case ast.Try(handlers=handlers, orelse=others) if inner in outer.body:
                caught = any(_catches(each.type) and not _asserts(each) for each in handlers)
                if caught and not _asserts(*others):
                    return "an `except` catches the failure of this assertion"
            case ast.ExceptHandler() if not _asserts(holder.body[-1], *holder.orelse):
                return "this assertion is reached only if something raises, and nothing has to"
            case ast.With(items=items) if any(map(_suppresses, items)):
                return "`suppress` catches the failure of this assertion"
            case ast.ClassDef() | ast.FunctionDef() if not isinstance(holder, ast.ClassDef):
                if outer.name not in used and not outer.decorator_list:
                    return f"nothing calls {outer.name!r} here, so its assertion is never reached"
            case ast.Lambda() if isinstance(holder, ast.Assign | ast.Expr):
                if not used & _names(holder, ast.Store):
                    return "nothing calls this `lambda` here, so its assertion is never reached"
            case ast.For(iter=over) if _is_empty(over):
                return "this loop has nothing to go over, so its assertion is never reached"
            case ast.If(body=one, orelse=other) if _asserts(*one) and _asserts(*other):
                pass
            case ast.If() | ast.While() | ast.IfExp() | ast.BoolOp() | ast.match_case():
                return "this assertion stands under a condition, so perhaps it is never reached"
    return ""


def _is_true(node: Any) -> str:
    """Say why an assertion that is reached holds whatever the page computes."""
    if isinstance(node, ast.Call):
        tested, compared = node, node.args[:2]
    else:
        tested, compared = node.test, [node.test]
    if compared and all(map(_is_constant, compared)):
        return "this assertion is made of constants alone"
    if isinstance(tested, ALWAYS):
        return "a tuple, list or function is true, whatever stands in it"
    for part in ast.walk(tested):
        match part:
            case ast.BoolOp(op=ast.Or(), values=values) if any(map(_is_constant, values)):
                return "a constant after `or` decides this assertion"
            case ast.comprehension(iter=over) if _is_empty(over):
                return "this goes over nothing, and `all` of nothing is true"
            case ast.Compare(left=one, comparators=[other, *_]) if _same(one, other):
                return "this compares a thing with itself"
            case ast.Call() if part is node or name_of(part) in COMPARING:
                of = [part.func.value] if isinstance(part.func, ast.Attribute) else []
                if any(_same(a, b) for a, b in combinations([*of, *part.args[:2]], 2)):
                    return "this compares a thing with itself"
    return ""


def _is_constant(node: ast.AST) -> bool:
    """Tell whether a value is made of constants, and of functions that compute only with them."""
    tree = ast.parse(re.sub(r"\btorch\.\w+\.itemsize\b", "4", ast.unparse(node)))
    return _names(tree, ast.Load) <= PURE | _names(tree, ast.Store)


def _is_empty(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return name_of(node) in EMPTY and all(map(_is_empty, node.args))
    if isinstance(node, ast.Constant):
        return not node.value
    kinds = ast.Tuple | ast.List | ast.Set | ast.Dict
    return isinstance(node, kinds) and not getattr(node, "elts", getattr(node, "keys", []))


def _same(one: ast.expr, other: ast.expr) -> bool:
    """Tell whether both are the same words, and call nothing that could differ each time."""
    calls = any(isinstance(each, ast.Call) for each in ast.walk(one))
    return ast.dump(one) == ast.dump(other) and not calls


def _asserts(*nodes: ast.AST) -> bool:
    inside = (each for node in nodes for each in ast.walk(node))
    return any(isinstance(each, ast.Raise) or kind_of(each) for each in inside)


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    return isinstance(call, ast.Call) and name_of(call) == "suppress" and _catches(call)


def _catches(caught: ast.AST | None) -> bool:
    named = ast.walk(caught) if caught else ()
    return not caught or any(isinstance(n, ast.Name) and n.id in CATCHING for n in named)


def _names(tree: ast.AST, kind: type) -> set[str]:
    found = (each for each in ast.walk(tree) if isinstance(each, ast.Name))
    return {name.id for name in found if isinstance(name.ctx, kind)}


def _used(node: ast.AST, *inside: str) -> Iterator[str]:
    """Find the names that are read, but for those of functions in themselves."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in inside:
        yield node.id
    for child in ast.iter_child_nodes(node):
        yield from _used(child, *inside, getattr(node, "name", None) or "")
