"""Find the fault of an executed cell, such as a missing check or an unexpected error."""

import json

from nbformat import NotebookNode

from _extensions.claims.cells import could_fail_unseen, find_kinds, has_only_checks
from _extensions.symptoms.versions import same_message


def check_cell(cell: NotebookNode) -> tuple[list[str], str | None]:
    """Return the kinds of a cell's checks, and its fault or None."""
    tags, source = cell.metadata.get("tags", []), cell.source
    kinds, expected = find_kinds(source), str(cell.metadata.get("expect", ""))
    if has_failed(cell):
        code = "\n".join(f"    {line}" for line in source.splitlines())
        return kinds, f"this cell failed: {_find_error(cell)}\n{code}"
    if "check" in tags and {"recorded", "skip-execution"} & set(tags):
        return kinds, "this cell is tagged check and is never executed; drop one of the tags"
    if "raises-exception" in tags:
        fault = _compare_error(cell, expected)
        if not fault and could_fail_unseen(source, expected):
            fault = (
                "an assertion in a cell that is expected to raise could fail unseen; "
                "move it to a cell of its own, tagged check"
            )
        return [f"raises {expected.partition(':')[0]}"], fault
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
    is_whole = "whole" in cell.metadata.get("tags", [])
    if same_message(error_text, expected) if is_whole else error_text.startswith(expected):
        return None
    return f"this cell raised another error; expected {expected!r}, found {error_text!r}"


def _find_error(cell: NotebookNode) -> str | None:
    errors = (output for output in cell.outputs if output.output_type == "error")
    return next((f"{error.ename}: {error.evalue}" for error in errors), None)
