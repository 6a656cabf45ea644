"""What a cell checks, read from its code with Python's own parser."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache

from IPython.core.inputtransformer2 import TransformerManager

# What a reader is told of each kind; an assertion of any other name "holds".
KINDS = {
    "assert_bitwise_equal": "equal in every bit",
    "assert_within": "equal within a bound",
    "assert_close": "equal within a bound",
    "assert_allclose": "equal within a bound",
    "assert_array_equal": "equal in value",
}
HOLDS = "holds"


@cache  # a cell is asked several questions
def parsed(source: str) -> ast.Module:
    """Parse a cell, whose magics and shell lines become calls first."""
    code = TransformerManager().transform_cell(source)  # type: ignore[no-untyped-call]
    try:
        return ast.parse(code)
    except SyntaxError:  # which running the cell shows, with its line
        return ast.Module([], [])


def kinds_of(source: str) -> list[str]:
    """Give the kind of each check in a cell, in the order of its lines."""
    return [kind for node in ast.walk(parsed(source)) if (kind := _kind(node))]


def only_checks(source: str) -> bool:
    """Tell whether every statement is an assertion, or a loop or ``with`` around assertions."""
    body = parsed(source).body
    return bool(body) and all(_asserts_only(statement) for statement in body)


def only_glue(source: str) -> bool:
    """Tell whether a cell does nothing but hand values to the prose."""
    body = parsed(source).body
    return bool(body) and all(is_glue(statement) for statement in body)


def glues(source: str) -> bool:
    """Tell whether a cell hands a value to the prose, among other things."""
    return any(isinstance(n, ast.Call) and name_of(n) == "glue" for n in ast.walk(parsed(source)))


def refused_in_failing(source: str, expected: str) -> str | None:
    """Say what is wrong with assertions in a cell that is expected to raise, or ``None``.

    Such a cell may fail, so an assertion in it could fail unseen. One call may be the expected
    failure itself, if it comes last and an AssertionError is expected.
    """
    body = parsed(source).body
    last = body[-1] if body else None
    allowed = last.value if isinstance(last, ast.Expr) else None
    for node in ast.walk(ast.Module(body, [])):
        if not _kind(node):
            continue
        if node is allowed and expected.startswith("AssertionError"):
            continue
        return (
            "an assertion in a cell that is expected to raise could fail unseen; "
            "move it to a cell of its own, tagged check"
        )
    return None


def _kind(node: ast.AST) -> str | None:
    if isinstance(node, ast.Assert):
        return HOLDS
    if not isinstance(node, ast.Call):
        return None
    name = name_of(node)
    if not name.startswith("assert_"):
        return None
    bound = node.args[2] if len(node.args) > 2 else None
    if name == "assert_within" and isinstance(bound, ast.Constant) and bound.value == 0:
        return "equal in value"
    return KINDS.get(name, HOLDS)


def name_of(call: ast.Call) -> str:
    """Give the last part of the name of what is called."""
    called = call.func
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _asserts_only(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.For | ast.With):
        return all(_asserts_only(inner) for inner in statement.body)
    checked = statement.value if isinstance(statement, ast.Expr) else statement
    return _kind(checked) is not None


def is_glue(statement: ast.stmt) -> bool:
    """Tell whether a statement imports glue or calls it."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "myst_nb"
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and name_of(call) == "glue"


def in_words(kinds: Sequence[str]) -> str:
    """Join the kinds of a cell, each named once."""
    return ", ".join(dict.fromkeys(kinds))


def sentences(text: str) -> Iterator[str]:
    """Give the sentences of a paragraph, of which the sources hold one in each line."""
    return (line.strip() for line in text.splitlines() if line.strip())
