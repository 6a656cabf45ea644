"""Repeat each assertion of a page with changed operands until the repetition fails.

Its transformer rewrites ``assert`` and calls of ``assert_*``, so that their operands are evaluated
once and, if the check held, the comparison alone is repeated with one changed operand at a time.
An assertion that holds for every change cannot fail, and ``run_page`` in ``kernel.py`` reports it.
"""

import ast
import json
import re
from collections.abc import Callable
from typing import Any

from . import conditions
from .check import Check, disturb, is_bool, repeat_call

NAME = "__disturb__"  # the only name that this package adds to the namespace of a page
EXCUSE = re.compile(r"# cannot fail: *\S")


class Disturber(ast.NodeTransformer):
    """Rewrites the assertions of each cell, and keeps their checks."""

    def __init__(self) -> None:
        self.checks = list[Check]()
        self.assertions = 0
        self.source = ""

    def begin_cell(self, info: Any) -> None:
        """Keep the source of the cell that runs next."""
        self.source = info.raw_cell

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Rewrite the assertions of a cell."""
        self.generic_visit(node)
        return ast.fix_missing_locations(node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Rewrite the condition of a statement."""
        self.assertions += 1
        node.test = self._rewrite_condition(node.test, node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite a call of ``assert_*`` so that it calls :meth:`call`."""
        self.generic_visit(node)
        if not conditions.function_name(node.func).startswith("assert_"):
            return node
        self.assertions += 1
        check = self._add_check(node, repeat_call)
        check.can_fail = not node.args  # a mock's assert_called_once()
        check.fault = conditions.find_copy_fault(node.args[:2])
        call = self._call_last("call", [node.func, *node.args], node.keywords)
        return ast.copy_location(call, node)

    def _rewrite_condition(
        self, test: ast.expr, statement: ast.stmt, is_negated: bool = False
    ) -> ast.expr:
        """Return a condition that calls :meth:`run` for each comparison in it."""
        match test:
            case ast.UnaryOp(op=ast.Not()) if not is_negated:
                test.operand = self._rewrite_condition(test.operand, statement, True)
                return test
            case ast.BoolOp(op=ast.And()) if not is_negated:
                test.values = [self._rewrite_condition(v, statement) for v in test.values]
                return test
            case ast.Call(
                func=ast.Name(id="all"), args=[ast.GeneratorExp() | ast.ListComp() as values]
            ) if not is_negated:
                values.elt = self._rewrite_condition(values.elt, statement)
                return test
        operands, template = conditions.split_condition(test)
        check = self._add_check(statement, conditions.compile_comparison(template, test))
        check.changed = [index for index, (_, is_changed) in enumerate(operands) if is_changed]
        check.can_fail = not check.changed
        check.is_negated = is_negated
        comparisons = [node for node in ast.walk(template) if isinstance(node, ast.Compare)]
        operators = [operator for node in comparisons for operator in node.ops]
        is_negative = bool(operators) and all(isinstance(o, conditions.NEGATIVE) for o in operators)
        check.is_difference = is_negative != is_negated and not conditions.is_none_test(test)
        is_identity = any(isinstance(operator, ast.Is) for operator in operators)
        is_membership = any(isinstance(operator, ast.In) for operator in operators)
        check.is_equality = not (check.is_difference or is_identity or is_membership)
        name = conditions.function_name(test.func) if isinstance(test, ast.Call) else ""
        check.is_type_test = name in conditions.TYPE_TESTS
        if check.is_equality or is_identity:
            expressions = [operands[k][0] for k in check.changed]
            check.fault = conditions.find_copy_fault(expressions, is_identity)
        call = self._call_last("run", [value for value, _ in operands], [])
        return ast.copy_location(call, test)

    def _add_check(self, node: ast.stmt | ast.expr, repeat: Callable[[list[Any]], Any]) -> Check:
        lines = self.source.splitlines()[node.lineno - 1 : node.end_lineno]
        is_excused = bool(lines and EXCUSE.search(lines[-1]))
        self.checks.append(Check(self.source, node.lineno, repeat, is_excused))
        return self.checks[-1]

    def _call_last(self, method: str, args: list[Any], options: list[ast.keyword]) -> ast.Call:
        function = ast.parse(f"{NAME}.{method}", mode="eval").body
        return ast.Call(function, [ast.Constant(len(self.checks) - 1), *args], options)

    def run(self, index: int, /, *operands: Any) -> Any:
        """Compare the operands of an ``assert``, then changed ones."""
        check = self.checks[index]
        result = check.repeat([*operands])
        check.runs += 1
        if not (check.is_negated or is_bool(result)):
            check.fault = f"its value is no bool, but {type(result).__name__}"
        elif bool(result) == check.is_negated:
            check.can_fail = True
        else:
            disturb(check, [*operands])
        return result

    def call(self, index: int, function: Callable[..., Any], /, *args: Any, **options: Any) -> Any:
        """Call ``assert_*``, then repeat it with changed arguments."""
        check = self.checks[index]
        check.runs += 1
        try:
            result = function(*args, **options)
        except Exception:
            check.can_fail = True
            raise
        check.changed = [1, 2][: len(args)]
        disturb(check, [function, *args, options])
        return result


def install(shell: Any) -> None:
    """Rewrite the assertions of all cells that this shell runs from now on."""
    disturber = shell.user_ns[NAME] = Disturber()
    shell.ast_transformers.append(disturber)
    shell.events.register("pre_run_cell", disturber.begin_cell)


def report(shell: Any) -> str:
    """Return the number of assertions, and cell, line and fault of those that cannot fail."""
    disturber = shell.user_ns[NAME]
    faults = {(c.cell, c.line, c.reason) for c in disturber.checks if c.reason}
    return json.dumps({"assertions": disturber.assertions, "powerless": sorted(faults)})
