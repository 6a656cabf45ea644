"""A sparse matrix beside its three arrays, which are the arguments of an embedding bag."""

from __future__ import annotations  # the reference shows SciPy's class by its public name

from itertools import pairwise

import torch
from matplotlib.axes import Axes
from scipy import sparse

from lookup_matmul.figures.cells import CELL_HEIGHT, canvas, draw_cell, draw_text
from lookup_matmul.figures.palette import INK, LINE, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.sparse.bags import Bags
from lookup_matmul.sparse.dense import dense_rows
from lookup_matmul.sparse.read import to_bags

LARGEST_ROWS, LARGEST_COLUMNS, LARGEST_ENTRIES = 6, 7, 8
LABEL_WIDTH, CELL_WIDTH = 46.0, 32.0  # eight entries and their margin still fit a phone


def draw_csr(rows: sparse.csr_array) -> Drawing:
    """Draw a small CSR matrix above its arrays, under both of their names.

    Parameters
    ----------
    rows : scipy.sparse.csr_array
        Up to 6 rows, 7 columns and 8 entries, at least one of each.

    Returns
    -------
    Drawing
        The matrix with its entries in the colours of their columns; below, the columns and
        the values entry after entry, a bracket over each row's share, and the offsets
        under the places where rows begin and end.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.to_bags` says.
    ValueError
        As there, and if there is nothing or too much to draw.
    IndexError
        As :func:`lookup_matmul.to_bags` says.

    Examples
    --------
    >>> from scipy import sparse
    >>> draw_csr(sparse.csr_array([[0, 2, 0], [0, 0, 0], [1, 0, 5]]))
    A matrix of 3 rows and 3 columns with 3 entries. Row 0 has the value 2 in column 1. \
Row 1 is empty. Row 2 has the value 1 in column 0 and the value 5 in column 2. \
The columns, 1, 0, 2, are CSR's indices and the bag's input. \
The values, 2, 1, 5, are CSR's data and the bag's per_sample_weights. \
The places where rows begin and end, 0, 1, 1, 3, are CSR's indptr and the bag's offsets.
    """
    bags = to_bags(rows)
    count, columns = rows.shape
    entries = len(bags.ids)
    sizes = ((count, LARGEST_ROWS), (columns, LARGEST_COLUMNS), (entries, LARGEST_ENTRIES))
    if not all(1 <= size <= most for size, most in sizes):
        raise ValueError(
            f"rows has shape {rows.shape} and {entries} entries, expected 1 to {LARGEST_ROWS} "
            f"rows, {LARGEST_COLUMNS} columns and {LARGEST_ENTRIES} entries, to be readable; "
            "draw a slice."
        )
    ax = canvas(LABEL_WIDTH + max(entries, columns, 7) * CELL_WIDTH + 14, count + 10.9)
    _draw_matrix(ax, bags, columns)
    _draw_arrays(ax, bags, count + 2.1)
    return finish(ax, _story(bags, columns))


def _draw_matrix(ax: Axes, bags: Bags, columns: int) -> None:
    """Draw the dense matrix, the entries coloured by their columns."""
    dense, (ids, offsets, _) = dense_rows(bags, columns), _lists(bags)
    draw_text(ax, LABEL_WIDTH - 8, 0.6, "column", QUIET, ha="right")
    for k in range(columns):
        draw_text(ax, LABEL_WIDTH + (k + 0.5) * CELL_WIDTH, 0.6, f"{k}", colours_of(k)[1])
    for i in range(len(offsets) - 1):
        draw_text(ax, LABEL_WIDTH - 8, 1.6 + i, f"row {i}", QUIET, ha="right")
        named = ids[offsets[i] : offsets[i + 1]]
        for k in range(columns):
            _draw_cell(ax, k, 1.1 + i, f"{dense[i, k]:g}", k if k in named else None)


def _draw_arrays(ax: Axes, bags: Bags, top: float) -> None:
    """Draw brackets, columns, values and offsets, each under its two names."""
    ids, offsets, values = _lists(bags)
    for i, (begin, end) in enumerate(pairwise(offsets)):
        if begin == end:
            continue  # an empty row has no share; two offsets at one place say so
        left, right = LABEL_WIDTH + begin * CELL_WIDTH + 3, LABEL_WIDTH + end * CELL_WIDTH - 3
        y = top + 1.85
        foot = y + 5 / CELL_HEIGHT
        ax.plot([left, left, right, right], [foot, y, y, foot], color=INK, lw=1.2)
        draw_text(ax, (left + right) / 2, top + 1.5, f"row {i}", INK)
    _draw_names(ax, top + 0.6, "indices", "input")
    _draw_names(ax, top + 3.75, "data", "per_sample_weights")
    for j, (k, value) in enumerate(zip(ids, values, strict=True)):
        _draw_cell(ax, j, top + 2.1, f"{k}", k)
        _draw_cell(ax, j, top + 4.2, f"{value:g}", k)
    _draw_names(ax, top + 5.85, "indptr", "offsets")
    for place in sorted(set(offsets)):
        x = LABEL_WIDTH + place * CELL_WIDTH
        for upper, lower in ((5.25, 5.45), (6.4, 6.75)):  # the names stand between
            ax.plot([x, x], [top + upper, top + lower], color=INK, lw=1.2)
        same = [i for i, offset in enumerate(offsets) if offset == place]
        draw_text(ax, x, top + 7.1, ", ".join(f"{place}" for _ in same), INK, bold=True)
        empty = [f"row {i}" for i in same[:-1]]
        if empty:
            draw_text(ax, x, top + 7.8, f"{', '.join(empty)}: empty", QUIET)


def _draw_names(ax: Axes, row: float, csr: str, bag: str) -> None:
    draw_text(ax, 8, row, f"CSR: {csr}", INK, ha="left", bold=True)
    draw_text(ax, 122, row, f"bag: {bag}", INK, ha="left", bold=True)


def _draw_cell(ax: Axes, place: int, row: float, text: str, token: int | None) -> None:
    """Draw one cell: in the colour of its column with outline and bold type, or quiet."""
    fill, stroke = ("none", LINE) if token is None else colours_of(token)
    point = 1 / CELL_HEIGHT  # neighbours stand two points apart
    draw_cell(
        ax,
        LABEL_WIDTH + place * CELL_WIDTH + 1,
        row + point,
        CELL_WIDTH - 2,
        text,
        height=1 - 2 * point,
        fill=fill,
        edge=stroke,
        lw=0.8 if token is None else 1.6,
        ink=QUIET if token is None else INK,
        bold=token is not None,
    )


def _lists(bags: Bags) -> tuple[list[int], list[int], list[float]]:
    values = torch.ones(len(bags.ids)) if bags.weights is None else bags.weights
    return bags.ids.tolist(), bags.offsets.tolist(), values.tolist()


def _story(bags: Bags, columns: int) -> str:
    ids, offsets, values = _lists(bags)
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
