"""The rule for checks that cannot tell whether the sentence above them holds."""

import ast
import re
from collections.abc import Iterator

from _extensions.claims.checks import find_kind, find_recorded
from _extensions.page_record import Page, parse_cell
from _extensions.rules.code import Cell, read_cells
from _extensions.rules.text import Findings

DEVICE = re.compile(r"\b(?:(?:on|with) (?:an? |any )?|for the )(MPS|CUDA|GPUs?)\b", re.IGNORECASE)
CPU = re.compile(r"\bCPUs?\b|\bprocessor|\bwithout a GPU|\bhere\b", re.IGNORECASE)
CHANGES = re.compile(r"\b(?:changes?|changed|differs?) (?:between|from run|in each|in every) ")
DIFFERENCE = (ast.Not, ast.NotEq, ast.Gt, ast.Lt, ast.GtE, ast.LtE, ast.IsNot)
REMEDY = "check what the sentence says, or say less"


def weak_check(page: Page) -> Findings:
    """Find checks that any error passes, that compare a thing with itself, or that miss a claim."""
    cells = read_cells(page)
    recorded = find_recorded([cell.code for cell in cells])
    for cell, is_recorded in zip(cells, recorded, strict=True):
        asserts = [(line, node) for line, node in cell.nodes() if find_kind(node)]
        if not asserts:
            continue
        for line, reason in (*_find_any_error(cell), *_find_identities(cell, asserts)):
            yield line, f"this check {reason}; {REMEDY}"
        text = _read_paragraph(page, cell) if "check" in cell.tags else ""
        device = DEVICE.search(text)
        if device and not is_recorded and not CPU.search(text) and "cuda" not in cell.code:
            reason = f"runs on a CPU, and the sentence above names {device[1]}"
            yield cell.line, f"this check {reason}; {REMEDY}"
        parts = {type(part) for _, node in asserts for part in ast.walk(node)}
        claim = CHANGES.search(text)
        if claim and not parts & {*DIFFERENCE}:
            reason = f"asserts no difference, and the sentence above has {claim[0].strip()!r}"
            yield cell.line, f"this check {reason}; {REMEDY}"


def _find_any_error(cell: Cell) -> Iterator[tuple[int, str]]:
    """Yield handlers of any or of several kinds of errors that do not read the error."""
    for line, handler in cell.nodes(ast.ExceptHandler):
        kind = handler.type
        is_any = kind is None or getattr(kind, "id", "") in ("Exception", "BaseException")
        is_read = handler.name and any(
            getattr(part, "id", "") == handler.name
            for statement in handler.body
            for part in ast.walk(statement)
        )
        raises = any(isinstance(part, ast.Raise) for part in ast.walk(handler))
        if (is_any or isinstance(kind, ast.Tuple)) and not is_read and not raises:
            yield line, "accepts any error"


def _find_identities(cell: Cell, asserts: list[tuple[int, ast.AST]]) -> Iterator[tuple[int, str]]:
    """Yield assertions on two equal expressions, or that a tensor made here is one."""
    made = {
        target.id
        for statement in parse_cell(cell.code).body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and ast.unparse(statement.value.func).startswith("torch.")
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for line, node in asserts:
        if isinstance(node, ast.Call) and _same(node.args[:2]):
            yield line, "asserts an identity"
        for part in ast.walk(node):
            if not isinstance(part, ast.Compare):
                continue
            operands = [part.left, *part.comparators]
            if _same(operands) and isinstance(part.ops[0], ast.Eq | ast.Is):
                yield line, "asserts an identity"
            is_none = getattr(operands[1], "value", 0) is None and isinstance(
                part.ops[0], ast.IsNot
            )
            if is_none and getattr(part.left, "id", "") in made:
                yield line, f"asks whether {ast.unparse(part.left)} is None, and the cell made it"


def _same(operands: list[ast.expr]) -> bool:
    return len(operands) == 2 and ast.dump(operands[0]) == ast.dump(operands[1])


def _read_paragraph(page: Page, cell: Cell) -> str:
    """Return the prose right above a cell that cites no source; of a fix, the title, too."""
    lines = page.text.splitlines()
    title = next((part.section for part in reversed(page.prose) if part.number < cell.line), "")
    end = next(n for n in range(cell.line - 1, -1, -1) if lines[n].startswith("```{code-cell}"))
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and lines[start - 1].strip():
        start -= 1
    last = lines[start:end][-1:]
    if (lines[start:end] and lines[start].startswith(("```", ":::", "|", "$$"))) or last == ["```"]:
        return ""
    heads = [title] if lines[start].startswith("Fix") else []  # of a symptom
    return "\n".join(
        line
        for line in heads + lines[start:end]
        if "{cite}" not in line and "recorded]" not in line
    )
