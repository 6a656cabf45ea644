"""A CSR matrix, and its arrays under the names of SciPy and of EmbeddingBag."""

from itertools import pairwise

from scipy import sparse

from lookup_matmul.figures.sheet import CELL_HEIGHT, INK, QUIET, Drawing, Sheet, id_colors

X = 46.0
CELL_WIDTH = 32.0  # eight entries fit a phone
POINT = 1 / CELL_HEIGHT


def draw_csr(matrix: sparse.csr_array) -> Drawing:
    """Draw a small CSR matrix above its arrays, in which brackets group the entries of a row."""
    ids, values, offsets = (x.tolist() for x in (matrix.indices, matrix.data, matrix.indptr))
    rows, columns = matrix.shape
    sheet = Sheet(X + max(len(ids), columns, 7) * CELL_WIDTH + 14)
    sheet.text(X - 8, 0.6, "column", QUIET, "end")
    for k in range(columns):
        sheet.text(X + (k + 0.5) * CELL_WIDTH, 0.6, f"{k}", id_colors(k)[1])
    sentences = []
    for i, (begin, end) in enumerate(pairwise(offsets)):
        sheet.text(X - 8, 1.6 + i, f"row {i}", QUIET, "end")
        for k, number in enumerate(matrix.toarray()[i]):
            _draw_cell(sheet, k, 1.1 + i, number, k if k in ids[begin:end] else None)
        entries = [f"the value {values[j]:g} in column {ids[j]}" for j in range(begin, end)]
        sentences.append(f"Row {i} {'has ' + ' and '.join(entries) if entries else 'is empty'}.")
    _draw_arrays(sheet, rows + 2.1, ids, values, offsets)
    arrays = [", ".join(f"{x:g}" for x in array) for array in (ids, values, offsets)]
    return sheet.to_drawing(
        f"A matrix of {rows} rows and {columns} columns with {len(ids)} entries. "
        f"{' '.join(sentences)} The columns, {arrays[0]}, are CSR's indices and the bag's input. "
        f"The values, {arrays[1]}, are CSR's data and the bag's per_sample_weights. "
        f"The places where rows begin and end, {arrays[2]}, "
        "are CSR's indptr and the bag's offsets."
    )


def _draw_arrays(
    sheet: Sheet, top: float, ids: list[int], values: list[float], offsets: list[int]
) -> None:
    names = ("indices", "input"), ("data", "per_sample_weights"), ("indptr", "offsets")
    for y, (csr, bag) in zip((0.6, 3.75, 5.85), names, strict=True):
        sheet.text(8, top + y, f"CSR: {csr}", anchor="start", bold=True)
        sheet.text(122, top + y, f"bag: {bag}", anchor="start", bold=True)
    for i, (begin, end) in enumerate(pairwise(offsets)):
        if begin < end:  # an empty row has no bracket, but two offsets at one position
            x1 = X + begin * CELL_WIDTH + 3
            x2 = X + end * CELL_WIDTH - 3
            y = top + 1.85
            sheet.line((x1, y + 5 * POINT), (x1, y), (x2, y), (x2, y + 5 * POINT))
            sheet.text((x1 + x2) / 2, top + 1.5, f"row {i}")
    for j, (k, value) in enumerate(zip(ids, values, strict=True)):
        _draw_cell(sheet, j, top + 2.1, k, k)
        _draw_cell(sheet, j, top + 4.2, value, k)
    for position in sorted(set(offsets)):
        x = X + position * CELL_WIDTH
        for mark in ((5.25, 5.45), (6.4, 6.75)):  # above and below the names
            sheet.line(*((x, top + y) for y in mark))
        same = [i for i, offset in enumerate(offsets) if offset == position]
        sheet.text(x, top + 7.1, ", ".join([f"{position}"] * len(same)), bold=True)
        if empty := [f"row {i}" for i in same[:-1]]:
            sheet.text(x, top + 7.8, f"{', '.join(empty)}: empty", QUIET)


def _draw_cell(sheet: Sheet, column: int, y: float, number: float, token: int | None) -> None:
    """Draw a cell with a margin, in the colors of an id if it contains an entry."""
    cell = (X + column * CELL_WIDTH + 1, y + POINT, CELL_WIDTH - 2, f"{number:g}")
    height = 1 - 2 * POINT
    if token is None:
        sheet.cell(*cell, QUIET, height=height)
    else:
        fill, stroke = id_colors(token)
        sheet.cell(*cell, INK, True, height=height, stroke_width=1.6, fill=fill, stroke=stroke)
