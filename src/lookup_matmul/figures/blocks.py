"""Several columns of categories as blocks of one table, and keys that a hash sends to rows."""

from collections.abc import Mapping, Sequence

import torch

from lookup_matmul.checks import check_inputs
from lookup_matmul.figures.cells import (
    LARGEST,
    canvas,
    draw_arrow,
    draw_cell,
    draw_cells,
    draw_row,
    draw_rule,
    draw_text,
)
from lookup_matmul.figures.palette import INK, LINE, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish

LABEL, CELL, WIDTH = 132.0, 46.0, 330.0


def draw_blocks(
    columns: Mapping[str, Sequence[str]], ids: torch.Tensor, weight: torch.Tensor
) -> Drawing:
    """Draw a table with a block of rows for each column of categories, and one record's rows.

    Parameters
    ----------
    columns : collections.abc.Mapping
        Name of each column and its categories, in the order of the table's rows.
    ids : torch.Tensor
        Shape (number of rows picked,), the rows of the record; dtype int32 or int64.
    weight : torch.Tensor
        Shape (number of categories in all, embedding dimension), 1 to 12 rows, 1 to 4 columns.

    Returns
    -------
    Drawing
        The categories beside their rows, each block apart and named with the row it begins at;
        the picked rows have the colours of their ids, and their sum stands below.

    Raises
    ------
    TypeError, IndexError
        As :func:`lookup_matmul.check_inputs` says.
    ValueError
        As there, if the categories are not as many as the rows, or if there is too much to draw.

    Examples
    --------
    >>> sizes = {"size": ["small", "large"], "colour": ["red"]}
    >>> draw_blocks(sizes, torch.tensor([1, 2]), torch.tensor([[1.0], [2.0], [0.5]]))
    One table for size (rows 0 to 1) and colour (rows 2 to 2). The record picks row 1, large, \
and row 2, red; the sum of these rows is (2.5).
    """
    check_inputs(ids, weight)
    categories = [name for names in columns.values() for name in names]
    rows, dim = weight.shape
    if len(categories) != rows or not (1 <= rows <= LARGEST and 1 <= dim <= 4):
        raise ValueError(
            f"columns has {len(categories)} categories and weight shape {tuple(weight.shape)}, "
            f"expected as many rows, 1 to {LARGEST}, and 1 to 4 columns."
        )
    picked = ids.tolist()
    ax = canvas(WIDTH, rows + 0.9 * len(columns) + 1.8)
    y, k, story = 0.0, 0, []
    for name, names in columns.items():
        draw_text(ax, 6, y + 0.5, f"{name}: rows from {k}", QUIET, ha="left")
        story.append(f"{name} (rows {k} to {k + len(names) - 1})")
        y += 0.9
        for category in names:
            stroke = colours_of(k)[1] if k in picked else QUIET
            draw_text(ax, LABEL - 28, y + 0.5, category, stroke, ha="right", bold=k in picked)
            draw_row(
                ax,
                y,
                str(k),
                _numbers(weight[k]),
                picked=k in picked,
                token=k,
                left=LABEL,
                width=CELL,
            )
            y, k = y + 1, k + 1
    draw_rule(ax, y + 0.3, LABEL + dim * CELL)
    total = weight[ids].sum(0)
    draw_text(ax, LABEL - 6, y + 1.1, "sum", ha="right", bold=True)
    draw_cells(ax, LABEL, y + 0.6, CELL, _numbers(total), bold=True)
    which = ", and ".join(f"row {k}, {categories[k]}" for k in picked)
    numbers = ", ".join(f"{value:.3g}" for value in total.tolist())
    return finish(
        ax,
        f"One table for {' and '.join(story)}. The record picks {which}; "
        f"the sum of these rows is ({numbers}).",
    )


def draw_hashes(rows: Mapping[str, int], size: int) -> Drawing:
    """Draw keys, the rows of a small table, and an arrow from each key to its row.

    Parameters
    ----------
    rows : collections.abc.Mapping
        The row of each key; 1 to 12 keys.
    size : int
        Number of rows of the table, 1 to 12.

    Returns
    -------
    Drawing
        A row that several keys share says how many; it has a bold outline.

    Raises
    ------
    ValueError
        If there is too much to draw, or a row is not in the table.

    Examples
    --------
    >>> draw_hashes({"user 1": 2, "user 2": 0, "user 3": 2}, 3)
    3 keys go to 3 rows. user 1 to row 2. user 2 to row 0. user 3 to row 2. Shared: row 2 by 2 keys.
    """
    if not (1 <= len(rows) <= LARGEST and 1 <= size <= LARGEST):
        raise ValueError(
            f"rows has {len(rows)} keys for a table of {size} rows, "
            f"expected 1 to {LARGEST} of both."
        )
    if not all(0 <= row < size for row in rows.values()):
        raise ValueError(f"a key has row {max(rows.values())}, expected 0 <= row < {size}.")
    high = max(len(rows), size)
    ax = canvas(WIDTH, 1.25 * high + 1.0)
    draw_text(ax, 86, 0.4, "keys", QUIET, ha="right")
    draw_text(ax, 200, 0.4, "rows of the table", QUIET, ha="left")
    place = {}
    for k in range(size):
        y = 1.0 + 1.25 * (k + (high - size) / 2)
        place[k] = y + 0.5
        guests = list(rows.values()).count(k)
        fill, stroke = colours_of(k) if guests else ("none", LINE)
        draw_cell(
            ax,
            200,
            y,
            60,
            f"row {k}",
            fill=fill,
            edge=stroke,
            lw=2.4 if guests > 1 else 0.8,
            ink=INK if guests else QUIET,
            bold=guests > 1,
        )
        if guests > 1:
            draw_text(ax, 266, y + 0.5, f"{guests} keys", stroke, ha="left", bold=True)
    for k, (key, row) in enumerate(rows.items()):
        y = 1.5 + 1.25 * (k + (high - len(rows)) / 2)
        stroke = colours_of(row)[1]
        draw_text(ax, 86, y, key, stroke, ha="right")
        draw_arrow(ax, (92, y), (198, place[row]), stroke, size=10, lw=1)
    goes = " ".join(f"{key} to row {row}." for key, row in rows.items())
    counts = {row: list(rows.values()).count(row) for row in sorted(set(rows.values()))}
    shared = ", ".join(f"row {row} by {n} keys" for row, n in counts.items() if n > 1)
    return finish(ax, f"{len(rows)} keys go to {size} rows. {goes} Shared: {shared or 'no row'}.")


def _numbers(values: torch.Tensor) -> list[str]:
    return [f"{value:.2f}" for value in values.tolist()]
