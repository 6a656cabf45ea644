"""Repeat each assertion of a page with changed operands until the repetition fails.

A kernel loads this module when it starts. Its transformer rewrites ``assert`` statements and calls
of functions named ``assert_*``, so that their operands are evaluated once, the check runs on them,
and, if it held, the comparison alone is repeated with one changed operand at a time. An assertion
that holds for every change cannot fail, and :func:`run_page` reports it.
"""

import ast
import json
import math
import re
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import islice
from numbers import Number
from types import ModuleType
from typing import Any

import numpy as np
import torch

NAME = "__disturb__"  # the only name that this module adds to the namespace of a page
EXCUSE = re.compile(r"# cannot fail: *\S")
TYPE_TESTS = {"isinstance", "issubclass"}
PREDICATES = {"equal", "array_equal", "allclose", "isclose", *TYPE_TESTS}
REDUCTIONS = {"all", "any"}
COPIES = re.compile(r"(\.(clone|copy|detach|contiguous|cpu)\(\)|\[(\.\.\.|:)\])$")
NEGATIVE = (ast.NotEq, ast.IsNot, ast.NotIn)
MAX_ELEMENTS = 10_000_000
BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
FAR = 10**6
Operands = list[tuple[ast.expr, bool]]  # each with whether it is changed


@dataclass
class Check:
    """One comparison of a page, and what its runs have shown."""

    cell: str
    line: int
    repeat: Callable[[list[Any]], Any]
    changed: list[int] = field(default_factory=list)  # the positions of the operands to change
    equality: bool = True  # whether comparing an object with itself proves nothing
    swaps: bool = False  # whether it fails if one operand is replaced by the other
    negated: bool = False
    is_type_test: bool = False  # of its first operand
    is_excused: bool = False
    runs: int = 0
    can_fail: bool = False
    fault: str = ""

    @property
    def reason(self) -> str:
        """Return why the check cannot fail, or an empty string."""
        if self.is_excused or (self.can_fail and not self.fault):
            return ""
        return self.fault or (
            "no change of its operands makes it fail" if self.runs else "never run"
        )


class Disturber(ast.NodeTransformer):
    """Rewrites the assertions of each cell, and keeps their checks."""

    def __init__(self) -> None:
        self.checks = list[Check]()
        self.statements = 0
        self.source = ""

    def begin_cell(self, info: Any) -> None:
        """Keep the source of the cell that runs next."""
        self.source = info.raw_cell

    def visit(self, node: ast.AST) -> Any:
        """Rewrite the assertions below a node; leave a cell as it is if that does not compile."""
        if not isinstance(node, ast.Module):
            return super().visit(node)
        original, check_count, statements = deepcopy(node), len(self.checks), self.statements
        try:
            tree: Any = ast.fix_missing_locations(self.generic_visit(node))
            compile(tree, "<cell>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except Exception:
            del self.checks[check_count:]
            self.statements = statements
            return original
        return tree

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.statements += 1
        node.test = self._condition(node.test, node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not _name(node.func).startswith("assert_"):
            return node
        self.statements += 1
        check = self._check(node, _repeat_call)
        check.can_fail = not node.args  # a mock's assert_called_once()
        check.fault = _copy_fault(node.args[:2])
        node.args.insert(0, node.func)
        node.func = self._member("call", len(self.checks) - 1)
        return node

    def _condition(self, test: ast.expr, statement: ast.stmt, negated: bool = False) -> ast.expr:
        """Return a condition that calls :meth:`run` for each comparison in it."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and not negated:
            test.operand = self._condition(test.operand, statement, True)
            return test
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and not negated:
            test.values = [self._condition(value, statement) for value in test.values]
            return test
        if isinstance(test, ast.Call) and _name(test.func) == "all" and not negated:
            values = test.args[0] if isinstance(test.func, ast.Name) and test.args else None
            if isinstance(values, ast.GeneratorExp | ast.ListComp):
                values.elt = self._condition(values.elt, statement)
                return test
        operands: Operands = []
        template = _template(test, operands)
        if template is None:
            operands, template = [(test, False)], _placeholder(0)
        code = ast.fix_missing_locations(ast.Expression(ast.copy_location(_lambda(template), test)))
        check = self._check(statement, eval(compile(code, "<assertion>", "eval")))
        check.changed = [index for index, (_, is_changed) in enumerate(operands) if is_changed]
        operators = [
            op for node in ast.walk(template) if isinstance(node, ast.Compare) for op in node.ops
        ]
        is_negative = bool(operators) and all(isinstance(op, NEGATIVE) for op in operators)
        check.negated = negated
        check.swaps = is_negative != negated and not _is_new(test)
        check.equality = not (
            check.swaps or any(isinstance(op, ast.Is | ast.In) for op in operators)
        )
        check.is_type_test = isinstance(test, ast.Call) and _name(test.func) in TYPE_TESTS
        check.can_fail = not check.changed
        if check.equality:
            check.fault = _copy_fault([value for value, is_changed in operands if is_changed])
        call = ast.Call(
            self._member("run", len(self.checks) - 1), [value for value, _ in operands], []
        )
        return ast.copy_location(call, test)

    def _check(self, statement: ast.stmt | ast.expr, repeat: Callable[[list[Any]], Any]) -> Check:
        lines = self.source.splitlines()[statement.lineno - 1 : statement.end_lineno or 0]
        check = Check(self.source, statement.lineno, repeat)
        check.is_excused = bool(lines and EXCUSE.search(lines[-1]))
        self.checks.append(check)
        return check

    @staticmethod
    def _member(name: str, index: int) -> ast.expr:
        return ast.parse(f"{NAME}.{name}({index})", mode="eval").body

    def run(self, index: int) -> Callable[..., Any]:
        """Return the function that compares the operands of an ``assert``, then changed ones."""
        check = self.checks[index]

        def compare(*operands: Any) -> Any:
            result = check.repeat([*operands])
            check.runs += 1
            if not (check.negated or _is_bool(result)):
                check.fault = f"its value is no bool, but {type(result).__name__}"
            elif bool(result) == check.negated:
                check.can_fail = True
            else:
                _disturb(check, [*operands])
            return result

        return compare

    def call(self, index: int) -> Callable[..., Any]:
        """Return the function that calls ``assert_*``, then repeats it with changed arguments."""
        check = self.checks[index]

        def compare(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
            check.runs += 1
            try:
                result = function(*args, **options)
            except Exception:
                check.can_fail = True
                raise
            check.changed = [1, 2][: len(args)]
            _disturb(check, [function, *args, options])
            return result

        return compare

    def report(self) -> str:
        """Return the number of assertions, and cell, line and fault of those that cannot fail."""
        faults = [(c.cell, c.line, c.reason) for c in self.checks if c.reason]
        return json.dumps({"assertions": self.statements, "powerless": sorted(set(faults))})


def install(shell: Any) -> None:
    """Rewrite the assertions of all cells that this shell runs from now on."""
    disturber = shell.user_ns[NAME] = Disturber()
    shell.ast_transformers.append(disturber)
    shell.events.register("pre_run_cell", disturber.begin_cell)


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def _is_new(test: ast.expr) -> bool:
    """Return whether what a call returns is compared with None."""
    return isinstance(test, ast.Compare) and (
        isinstance(test.left, ast.Call) and ast.unparse(test.comparators[0]) == "None"
    )


def _copy_fault(operands: list[ast.expr]) -> str:
    """Return the fault of operands one of which is the expression or a copy of another."""
    sources = [_original(operand) for operand in operands]
    is_copied = len(set(sources)) < len(sources)
    return "one operand is the expression of the other, or a copy of it" if is_copied else ""


def _original(node: ast.expr) -> str:
    """Return the code of an expression without what copies or views all of it."""
    code = ast.unparse(node)
    while shorter := COPIES.search(code):
        code = code[: shorter.start()]
    return code


def _placeholder(index: int) -> ast.expr:
    return ast.parse(f"v[{index}]", mode="eval").body


def _lambda(body: ast.expr) -> ast.Lambda:
    function: Any = ast.parse("lambda v: 0", mode="eval").body
    function.body = body
    return function  # type: ignore[no-any-return]


def _repeat_call(values: list[Any]) -> Any:
    function, *args, options = values
    function(*args, **options)
    return True


def _template(node: ast.expr, operands: Operands) -> ast.expr | None:
    """Return a comparison with its operands replaced by ``v[0]``, ``v[1]``, …; None for others."""

    def take(operand: ast.expr, is_changed: bool = True) -> ast.expr:
        operands.append((operand, is_changed))
        return _placeholder(len(operands) - 1)

    if isinstance(node, ast.Compare):
        values = [take(value) for value in (node.left, *node.comparators)]
        return ast.Compare(values[0], node.ops, values[1:])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        left, right = _template(node.left, operands), _template(node.right, operands)
        return ast.BinOp(left, node.op, right) if left and right else None
    if not isinstance(node, ast.Call) or any(isinstance(arg, ast.Starred) for arg in node.args):
        return None
    name, function = _name(node.func), node.func
    if any(option.arg is None for option in node.keywords):
        return None
    if name in REDUCTIONS and isinstance(function, ast.Attribute) and not node.args:
        inner = _template(function.value, operands)
        return inner and ast.Call(ast.Attribute(inner, name, ast.Load()), [], [])
    if name not in PREDICATES:
        return None
    if isinstance(function, ast.Attribute):  # of a module or a tensor
        called: ast.expr = ast.Attribute(take(function.value), name, ast.Load())
    else:
        called = take(function, False)
    second = not name.startswith("is") or name == "isclose"  # changing a class raises an error
    args = [take(arg, k == 0 or (k == 1 and second)) for k, arg in enumerate(node.args)]
    options = [ast.keyword(option.arg, take(option.value, False)) for option in node.keywords]
    return ast.Call(called, args, options)


def _is_bool(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.dtype == torch.bool and value.numel() == 1
    return isinstance(value, bool | np.bool_) or (
        isinstance(value, np.ndarray) and value.dtype == bool and value.size == 1
    )


def _disturb(check: Check, operands: list[Any]) -> None:
    """Repeat a check that held, with one changed operand at a time, until it fails."""
    if check.can_fail or check.fault:
        return
    show, warnings.showwarning = warnings.showwarning, lambda *_, **__: None
    try:
        with torch.no_grad():
            _search(check, operands)
    except Exception:  # of this module: a page never fails because of it
        check.can_fail = True
    finally:
        warnings.showwarning = show


def _search(check: Check, operands: list[Any]) -> None:
    places = [
        k for k in check.changed if k < len(operands) and not isinstance(operands[k], ModuleType)
    ]
    values = [operands[k] for k in places]
    if check.equality and len(values) == 2 and _is_same_memory(*values):
        check.fault = "both operands are the same object or memory"
        return
    if any(_size(value) > MAX_ELEMENTS for value in values):
        check.can_fail = True
        return
    for place, value in zip(places, values, strict=True):
        others = [other for other in values if other is not value and other is not None]
        replacements = (object,) if check.is_type_test else changes(value)
        for changed in (*(_swaps(others) if check.swaps else ()), *replacements):
            arguments = [*operands[:place], changed, *operands[place + 1 :]]
            try:
                held = bool(check.repeat(arguments)) != check.negated
            except Exception:
                held = False
            if not held:
                check.can_fail = True
                return


def _size(value: Any) -> int:
    if isinstance(value, torch.Tensor):
        return value.numel()
    return value.size if isinstance(value, np.ndarray) else 0


def _is_same_memory(left: Any, right: Any) -> bool:
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        a, b = ((x.data_ptr(), x.shape, x.stride(), x.dtype) for x in (left, right))
        return left is right or (a == b and left.numel() > 0)
    return left is right and isinstance(left, np.ndarray | list | dict | set)


def _swaps(others: list[Any]) -> Iterator[Any]:
    """Yield what makes two operands equal, or one an element of the other."""
    for other in others:
        yield other
        if isinstance(other, list | tuple | set | frozenset | dict):
            yield from list(other)[:1]


def changes(value: Any) -> Iterator[Any]:
    """Yield values that differ from a value: first by little, then by much."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        yield from _changed_tensors(value.detach())
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        for changed in _changed_tensors(torch.from_numpy(np.array(value))):
            yield changed.numpy()
    elif isinstance(value, bool | np.bool_):
        yield not value
    elif isinstance(value, Number):
        number: Any = value
        if math.isinf(number.real):  # large values are below infinity, as all others are
            yield np.nextafter(number, 0)
            return
        if isinstance(value, float | np.floating):
            yield np.nextafter(value, -math.inf)
            yield np.nextafter(value, math.inf)
        yield from (number + 1, number - 1, number * 0, number * FAR)
    elif isinstance(value, str):
        yield from ("\0" + value[1:], value[:-1], "")
    elif isinstance(value, torch.Size):
        yield from (torch.Size([*value, 2]), value[:-1])
    elif isinstance(value, list | tuple):
        sequence = list if isinstance(value, list) else tuple
        yield from (sequence(value[:-1]), sequence([*value, object()]))
        for first in islice(changes(value[0]), 2) if value else ():
            yield sequence([first, *value[1:]])
    elif isinstance(value, set | frozenset):
        yield from (set(list(value)[1:]), value | {object()})
    elif isinstance(value, dict):
        yield from (dict(list(value.items())[1:]), value | {object(): None})
    else:
        yield object()


def _changed_tensors(value: torch.Tensor) -> Iterator[torch.Tensor]:
    if not value.numel():
        yield value.new_ones((len(value) + 1, *value.shape[1:]) if value.ndim else ())
        return
    changed = value.clone(memory_format=torch.contiguous_format)
    real = torch.view_as_real(changed) if changed.is_complex() else changed
    if value.dtype == torch.bool:
        changed.view(-1)[0] ^= True
        yield changed
        yield ~value
        return
    real.view(-1).view(BITS[real.element_size()])[0] ^= 1  # by one ulp
    yield changed
    changed = value.clone(memory_format=torch.contiguous_format)
    changed.view(-1, *value.shape[1:])[0] += 1
    yield changed
    yield from (value + 1, value - 1, value * 0, value * FAR)
