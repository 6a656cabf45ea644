"""What is wrong with a cell that ran: a check that is missing or could not fail, another error."""

import json

from nbformat import NotebookNode

from _extensions.claims.cells import could_fail_unseen, kinds_of, only_checks
from _extensions.symptoms.versions import same_message


def judge(cell: NotebookNode) -> tuple[list[str], str | None]:
    """Return the kinds of a cell's checks, and what is wrong with it, if anything is."""
    tags, source = cell.metadata.get("tags", []), cell.source
    kinds, expected = kinds_of(source), str(cell.metadata.get("expect", ""))
    if failed(cell):
        code = "\n".join(f"    {line}" for line in source.splitlines())
        return kinds, f"this cell failed: {_error_of(cell)}\n{code}"
    if "raises-exception" in tags:
        fault = _unexpected(cell, expected)
        if not fault and could_fail_unseen(source, expected):
            fault = (
                "an assertion in a cell that is expected to raise could fail unseen; "
                "move it to a cell of its own, tagged check"
            )
        return [f"raises {expected.partition(':')[0]}"], fault
    if "expect" in cell.metadata:
        return kinds, "`expect` stands in a cell without the tag raises-exception; add the tag"
    if "check" in tags and not kinds:
        return kinds, "this cell is tagged check and nothing in it can fail; assert what it shows"
    if kinds and "remove-cell" in tags:
        return kinds, "this cell checks, and no reader can open it; tag it check or setup"
    if only_checks(source) and "check" not in tags:
        return kinds, "this cell only checks; tag it check, so that it folds"
    return kinds, None


def noise(cell: NotebookNode) -> str | None:
    """Say what a cell writes to standard error, which readers would see."""
    text = " ".join(o.text.strip() for o in cell.outputs if o.get("name") == "stderr")
    said = f"this cell writes to standard error, which readers would see: {text[-200:]!r}"
    return f"{said}; mend the cause, or filter a warning by its text" if text else None


def failed(cell: NotebookNode) -> bool:
    """Tell whether a cell raised what nobody expected."""
    if cell.cell_type != "code" or "raises-exception" in cell.metadata.get("tags", []):
        return False
    return _error_of(cell) is not None


def _unexpected(cell: NotebookNode, expected: str) -> str | None:
    """Say how the error of a cell differs from the expected one, if it does."""
    found = _error_of(cell)
    if not expected.partition(":")[0].isidentifier() or ": " not in expected:
        said = json.dumps((found or "IndexError: index out of").splitlines()[0][:60])
        return (
            "a cell tagged raises-exception names the error it expects: "
            f"add `:expect: {said}` with type and beginning of the message"
        )
    if found is None:
        return f"this cell was expected to raise and did not; expected {expected!r}, found no error"
    whole = "whole" in cell.metadata.get("tags", [])
    if same_message(found, expected) if whole else found.startswith(expected):
        return None
    return f"this cell raised another error; expected {expected!r}, found {found!r}"


def _error_of(cell: NotebookNode) -> str | None:
    errors = (output for output in cell.outputs if output.output_type == "error")
    return next((f"{error.ename}: {error.evalue}" for error in errors), None)
