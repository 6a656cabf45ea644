"""Split the condition of an assertion into operands and a comparison that can be repeated."""

import ast
import re
from collections.abc import Callable
from typing import Any

TYPE_TESTS = {"isinstance", "issubclass"}
PREDICATES = {"equal", "array_equal", "allclose", "isclose", *TYPE_TESTS}
REDUCTIONS = {"all", "any"}
COPIES = re.compile(r"(\.(clone|copy|detach|contiguous|cpu)\(\)|\[(\.\.\.|:)\])+$")
NEGATIVE = (ast.NotEq, ast.IsNot, ast.NotIn)
Operands = list[tuple[ast.expr, bool]]  # each with whether it is changed


def split_condition(test: ast.expr) -> tuple[Operands, ast.expr]:
    """Return operands and their comparison, or a condition without one as operand ``v[0]``."""
    operands: Operands = []
    template = _build_template(test, operands)
    return (operands, template) if template else ([(test, False)], _placeholder(0))


def compile_comparison(template: ast.expr, test: ast.expr) -> Callable[[list[Any]], Any]:
    """Return the comparison as a function of the list of its operands."""
    function: Any = ast.parse("lambda v: 0", mode="eval")
    function.body.body = template
    ast.fix_missing_locations(ast.copy_location(function.body, test))
    comparison: Callable[[list[Any]], Any] = eval(compile(function, "<assertion>", "eval"))
    return comparison


def function_name(function: ast.expr) -> str:
    """Return the last part of the name of a called function."""
    return getattr(function, "attr", getattr(function, "id", ""))


def is_none_test(test: ast.expr) -> bool:
    """Return whether what a call returns is compared with None."""
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Call)
        and ast.unparse(test.comparators[0]) == "None"
    )


def find_copy_fault(operands: list[ast.expr], is_identity: bool = False) -> str:
    """Return the fault of operands one of which is the expression or a copy of another, or ""."""
    sources = {ast.unparse(operand) for operand in operands}
    if not is_identity:  # which tells a copy from its original
        sources = {COPIES.sub("", source) for source in sources}
    fault = "one operand is the expression of the other, or a copy of it"
    return fault if len(sources) < len(operands) else ""


def _placeholder(index: int) -> ast.expr:
    return ast.parse(f"v[{index}]", mode="eval").body


def _build_template(node: ast.expr, operands: Operands) -> ast.expr | None:
    """Add the operands of a comparison and return it with placeholders; None for others."""

    def take(operand: ast.expr, is_changed: bool = True) -> ast.expr:
        operands.append((operand, is_changed))
        return _placeholder(len(operands) - 1)

    if isinstance(node, ast.Compare):
        values = [take(value) for value in (node.left, *node.comparators)]
        return ast.Compare(values[0], node.ops, values[1:])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        sides = [_build_template(side, operands) for side in (node.left, node.right)]
        return ast.BinOp(sides[0], node.op, sides[1]) if all(sides) else None  # type: ignore[arg-type]
    if not isinstance(node, ast.Call) or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    name, function = function_name(node.func), node.func
    if name in REDUCTIONS and isinstance(function, ast.Attribute) and not node.args:
        operand = _build_template(function.value, operands)
        return operand and ast.Call(ast.Attribute(operand, name, ast.Load()), [], [])
    if name not in PREDICATES or any(option.arg is None for option in node.keywords):
        return None
    if isinstance(function, ast.Attribute):  # of a module or a tensor
        callee: ast.expr = ast.Attribute(take(function.value), name, ast.Load())
    else:
        callee = take(function, False)
    # A type test with another class raises an error, which proves nothing.
    count = 1 if name in TYPE_TESTS else 2
    args = [take(arg, index < count) for index, arg in enumerate(node.args)]
    options = [ast.keyword(option.arg, take(option.value, False)) for option in node.keywords]
    return ast.Call(callee, args, options)
