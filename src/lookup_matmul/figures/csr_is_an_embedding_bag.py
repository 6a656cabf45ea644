"""What the page "CSR is an embedding bag" draws: a matrix, and its arrays under both names."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from lookup_matmul.figures.palette import INK, LINE, QUIET, colors_of
from lookup_matmul.figures.sheet import CELL_HEIGHT, Drawing, Sheet

if TYPE_CHECKING:
    from scipy import sparse

LEFT, CELL = 46.0, 32.0  # eight entries and their margin still fit a phone
POINT = 1 / CELL_HEIGHT


def draw_csr(rows: sparse.csr_array) -> Drawing:
    """Draw a small CSR matrix above its arrays: indices, data and indptr.

    Entries have the colors of their columns. A bracket is over each row's share of the arrays,
    and the offsets are under the places where rows begin and end.
    """
    ids, values, offsets = (part.tolist() for part in (rows.indices, rows.data, rows.indptr))
    count, columns = rows.shape
    sheet = Sheet(LEFT + max(len(ids), columns, 7) * CELL + 14)
    sheet.text(LEFT - 8, 0.6, "column", QUIET, "end")
    for k in range(columns):
        sheet.text(LEFT + (k + 0.5) * CELL, 0.6, f"{k}", colors_of(k)[1])
    for i, numbers in enumerate(rows.toarray()):
        sheet.text(LEFT - 8, 1.6 + i, f"row {i}", QUIET, "end")
        named = ids[offsets[i] : offsets[i + 1]]
        for k, number in enumerate(numbers):
            _draw_cell(sheet, k, 1.1 + i, number, k if k in named else None)
    _draw_arrays(sheet, count + 2.1, ids, values, offsets)
    return sheet.finish(_story(columns, ids, values, offsets))


def _draw_arrays(
    sheet: Sheet, top: float, ids: list[int], values: list[float], offsets: list[int]
) -> None:
    names = ("indices", "input"), ("data", "per_sample_weights"), ("indptr", "offsets")
    for down, (csr, bag) in zip((0.6, 3.75, 5.85), names, strict=True):
        sheet.text(8, top + down, f"CSR: {csr}", INK, "start", True)
        sheet.text(122, top + down, f"bag: {bag}", INK, "start", True)
    for i, (begin, end) in enumerate(pairwise(offsets)):
        if begin < end:  # two offsets at one place say that a row is empty
            left, right, y = LEFT + begin * CELL + 3, LEFT + end * CELL - 3, top + 1.85
            sheet.line((left, y + 5 * POINT), (left, y), (right, y), (right, y + 5 * POINT))
            sheet.text((left + right) / 2, top + 1.5, f"row {i}")
    for j, (k, value) in enumerate(zip(ids, values, strict=True)):
        _draw_cell(sheet, j, top + 2.1, k, k)
        _draw_cell(sheet, j, top + 4.2, value, k)
    for place in sorted(set(offsets)):
        x = LEFT + place * CELL
        for upper, lower in ((5.25, 5.45), (6.4, 6.75)):  # the names are between
            sheet.line((x, top + upper), (x, top + lower))
        same = [i for i, offset in enumerate(offsets) if offset == place]
        sheet.text(x, top + 7.1, ", ".join(f"{place}" for _ in same), bold=True)
        if empty := [f"row {i}" for i in same[:-1]]:
            sheet.text(x, top + 7.8, f"{', '.join(empty)}: empty", QUIET)


def _draw_cell(sheet: Sheet, place: int, row: float, number: float, token: int | None) -> None:
    """Draw one cell, apart from its neighbors: in the color of its column, or quiet."""
    picked = token is not None
    fill, edge = ("none", LINE) if token is None else colors_of(token)
    lw, ink = (1.6, INK) if picked else (0.8, QUIET)
    left, row, width = LEFT + place * CELL + 1, row + POINT, CELL - 2
    height, look = 1 - 2 * POINT, {"fill": fill, "stroke": edge}
    sheet.cell(left, row, width, f"{number:g}", ink, picked, height, stroke_width=lw, **look)


def _story(columns: int, ids: list[int], values: list[float], offsets: list[int]) -> str:
    told = []
    for i, (begin, end) in enumerate(pairwise(offsets)):
        entries = [
            f"the value {value:g} in column {k}"
            for k, value in zip(ids[begin:end], values[begin:end], strict=True)
        ]
        told.append(f"Row {i} has {' and '.join(entries)}." if entries else f"Row {i} is empty.")
    written = [", ".join(f"{x:g}" for x in numbers) for numbers in (ids, values, offsets)]
    return (
        f"A matrix of {len(offsets) - 1} rows and {columns} columns with {len(ids)} entries. "
        f"{' '.join(told)} The columns, {written[0]}, are CSR's indices and the bag's input. "
        f"The values, {written[1]}, are CSR's data and the bag's per_sample_weights. "
        f"The places where rows begin and end, {written[2]}, "
        "are CSR's indptr and the bag's offsets."
    )
