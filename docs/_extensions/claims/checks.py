"""Find the checks of a cell in its syntax tree, and the fault of an executed cell."""

import ast
import json
from collections.abc import Mapping
from functools import cache

from nbformat import NotebookNode
from sphinx.locale import _

from _extensions.page_record import parse_cell, walk_cell
from _extensions.recorded_errors import NO_ERROR, begins_like, same_message
from _extensions.run.requirements import DRAWINGS

BITS = "equal in every bit"
HOLDS = "the text above holds"
WITH_RECORDING = "compared with a recording"
READERS = {"read_recorded", "read_recordings"}
TEXTS = "others/help"  # what models of the pages learn from, no result
# Labels that readers see; an assertion with any other name has the label HOLDS.
KINDS = {
    "assert_bitwise_equal": BITS,
    "assert_within": "equal within a bound",
    "assert_close": "equal within a bound",
    "assert_allclose": "equal within a bound",
    "assert_array_equal": "equal in value",
}


@cache
def find_kinds(source: str) -> list[str]:
    """Return the kind of each check in a cell, in the order of its lines."""
    return [kind for node in walk_cell(source) if (kind := find_kind(node))]


def find_recorded(sources: list[str]) -> list[bool]:
    """Return whether an assertion of each cell reads what an earlier line took from a recording."""
    names = set[str]()
    results = []
    for source in sources:
        asserts = False
        for node in sorted(walk_cell(source), key=lambda node: getattr(node, "lineno", 0)):
            if isinstance(node, ast.Assign | ast.For):
                value = node.iter if isinstance(node, ast.For) else node.value
                targets = [node.target] if isinstance(node, ast.For) else node.targets
                bound = {part.id for target in targets for part in _bound(target)}
                names = names | bound if _reads(value, names) else names - bound
            asserts = asserts or bool(find_kind(node) and _reads(node, names))
        results.append(asserts)
    return results


def _bound(node: ast.AST) -> list[ast.Name]:
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return [part for part in parts if isinstance(part.ctx, ast.Store)]


def _reads(node: ast.AST | None, names: set[str]) -> bool:
    parts = list(ast.walk(node)) if node else []
    names = names - {part.id for part in _bound(node)} if node else names  # of comprehensions
    if any(getattr(part, "value", None) == TEXTS for part in parts):
        return False
    return any(getattr(part, "id", "") in names or get_name(part) in READERS for part in parts)


def join_kinds(kinds: list[str]) -> str:
    """Join the kinds of a cell, each named once."""
    parts = (kind.partition("raises ") for kind in dict.fromkeys(kinds))
    labels = (
        _("raises {0}").format(error) if error else str(_(kind)) for kind, _raises, error in parts
    )
    return str(_(", ")).join(labels)


def has_only_checks(source: str) -> bool:
    """Return whether every statement is an assertion, or a loop or ``with`` around assertions."""
    body = parse_cell(source).body
    return bool(body) and all(map(_only_asserts, body))


def has_only_glue(source: str) -> bool:
    """Return whether a cell only passes values or drawings to the prose."""
    body = parse_cell(source).body
    return bool(body) and all(map(is_glue, body))


def calls_glue(source: str) -> bool:
    """Return whether a cell passes a value to the prose."""
    return any(get_name(node) == "glue" for node in walk_cell(source))


def is_glue(statement: ast.stmt) -> bool:
    """Return whether a statement calls ``glue``, or imports it or what draws for it."""
    module = statement.module or "" if isinstance(statement, ast.ImportFrom) else ""
    is_import = module.partition(".")[0] in ("myst_nb", DRAWINGS)
    return is_import or get_name(_value(statement)) == "glue"


def could_fail_unseen(source: str, expected: str) -> bool:
    """Return whether an assertion may not be reached; the last may be the expected error itself."""
    body = parse_cell(source).body
    last = _value(body[-1]) if body and isinstance(body[-1], ast.Expr) else None
    allowed = last if expected.startswith("AssertionError") else None
    return any(find_kind(node) and node is not allowed for node in walk_cell(source))


def get_name(node: ast.AST) -> str:
    """Return the last part of the name of a called function, or "" for any other node."""
    function = getattr(node, "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _value(statement: ast.stmt) -> ast.AST:
    return statement.value if isinstance(statement, ast.Expr) else statement


def _only_asserts(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.For | ast.With):
        return all(map(_only_asserts, statement.body))
    return find_kind(_value(statement)) is not None


def find_kind(node: ast.AST) -> str | None:
    """Return the label of an assertion, or None for any other node."""
    if isinstance(node, ast.Assert):
        return HOLDS
    name = get_name(node)
    if not isinstance(node, ast.Call) or not name.startswith("assert_"):
        return None
    bound = node.args[2] if len(node.args) > 2 else None
    if name == "assert_within" and isinstance(bound, ast.Constant) and bound.value == 0:
        return "equal in value"
    return KINDS.get(name, HOLDS)


def check_cell(cell: NotebookNode, wordings: Mapping[str, str]) -> tuple[list[str], str | None]:
    """Return the kinds of a cell's checks, and its fault or None.

    ``wordings`` are the whole messages that were recorded with this torch, by the code of a cell.
    """
    tags = cell.metadata.get("tags", [])
    source = cell.source
    kinds = find_kinds(source)
    expected = str(cell.metadata.get("expect", ""))
    if has_failed(cell):
        code = "\n".join(f"    {line}" for line in source.splitlines())
        return kinds, f"this cell failed: {_find_error(cell)}\n{code}"
    if "check" in tags and {"recorded", "skip-execution"} & set(tags):
        return kinds, "this cell is tagged check and is never executed; drop one of the tags"
    if "raises-exception" in tags:
        wording = wordings.get(source) if "whole" in tags else None
        fault = _compare_wording(cell, wording) if wording else _compare_error(cell, expected)
        if not fault and could_fail_unseen(source, expected):
            fault = (
                "an assertion in a cell that is expected to raise could fail unseen; "
                "move it to a cell of its own, tagged check"
            )
        return [f"raises {(wording or expected).partition(':')[0]}"], fault
    if "expect" in cell.metadata:
        return kinds, "`expect` is in a cell without the tag raises-exception; add the tag"
    if "check" in tags and not kinds:
        return kinds, "this cell is tagged check and nothing in it can fail; assert what it shows"
    if kinds and "remove-cell" in tags:
        return kinds, "this cell checks, and no reader can open it; tag it check or setup"
    if has_only_checks(source) and "check" not in tags:
        return kinds, "this cell only checks; tag it check, so that it folds"
    return kinds, None


def find_stderr_fault(cell: NotebookNode) -> str | None:
    """Return a message about what a cell writes to standard error, or None."""
    text = " ".join(o.text.strip() for o in cell.outputs if o.get("name") == "stderr")
    message = f"this cell writes to standard error, which readers would see: {text[-200:]!r}"
    return f"{message}; fix the cause, or filter a warning by its text" if text else None


def has_failed(cell: NotebookNode) -> bool:
    """Return whether a cell raised an unexpected error."""
    if cell.cell_type != "code" or "raises-exception" in cell.metadata.get("tags", []):
        return False
    return _find_error(cell) is not None


def _compare_error(cell: NotebookNode, expected: str) -> str | None:
    """Return how the error of a cell differs from the expected one, or None."""
    error_text = _find_error(cell)
    if not expected.partition(":")[0].isidentifier() or ": " not in expected:
        example = json.dumps((error_text or "IndexError: index out of").splitlines()[0][:60])
        return (
            "a cell tagged raises-exception names the error it expects: "
            f"add `:expect: {example}` with type and beginning of the message"
        )
    if error_text is None:
        return f"this cell was expected to raise and did not; expected {expected!r}, found no error"
    matches = same_message if "whole" in cell.metadata.get("tags", []) else begins_like
    if matches(error_text, expected):
        return None
    return f"this cell raised another error; expected {expected!r}, found {error_text!r}"


def _compare_wording(cell: NotebookNode, wording: str) -> str | None:
    """Return how the error of a cell differs from the one that was recorded, or None."""
    error_text = _find_error(cell) or NO_ERROR
    if same_message(error_text, wording):
        return None
    return (
        f"this cell's error is {error_text!r}, and {wording!r} was recorded with this torch; "
        "run nox -s wordings -- VERSION"
    )


def _find_error(cell: NotebookNode) -> str | None:
    errors = (output for output in cell.outputs if output.output_type == "error")
    return next((f"{error.ename}: {error.evalue}" for error in errors), None)
