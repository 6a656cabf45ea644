"""Both forms over one table, and the one output that they lead to."""

import torch
from matplotlib.axes import Axes

from lookup_matmul.equality.assertions import assert_bitwise_equal
from lookup_matmul.figures.cells import canvas, check_sizes, draw_arrow, draw_cell, draw_text
from lookup_matmul.figures.palette import INK, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul

LARGEST, COLUMNS = 6, (3, 5)
ROW_HEIGHT, CELL_WIDTH, NARROW, LABEL_WIDTH = 22.0, 46.0, 24.0, 46.0


def draw_equality(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw a lookup and a one-hot product of the same ids over the same table, and their output.

    Parameters
    ----------
    ids : torch.Tensor
        Shape (number of ids,), 1 to 6 of them; dtype int32 or int64.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), vocabulary size 1 to 6, dimension 3 to 5.

    Returns
    -------
    Drawing
        The table above, the two forms side by side, one output below, with two decimals;
        at most 320 points wide.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_inputs` says.
    ValueError
        As there, and if there is too much to draw.
    IndexError
        As :func:`lookup_matmul.check_inputs` says.
    AssertionError
        If the two forms differ in a bit, since the drawing says that they do not.

    Examples
    --------
    >>> draw_equality(torch.tensor([1]), torch.tensor([[0.5, 1.0, 2.0], [1.5, -2.0, 3.0]]))
    Two ways from the ids 1 to one output, over one table of 2 rows. \
Looking up: id 1 picks row 1. \
Multiplying: id 1 becomes the one-hot row (0, 1), times the table. \
Both give: (1.50, -2.00, 3.00).
    """
    rows, product = lookup(ids, weight), one_hot_matmul(ids, weight)
    check_sizes(ids, weight, LARGEST, COLUMNS)
    assert_bitwise_equal(product, rows)
    picked, count, vocab_size, dim = ids.tolist(), len(ids), *weight.shape
    encoding = one_hot(ids, vocab_size, dtype=torch.int64).tolist()
    right = LABEL_WIDTH + dim * CELL_WIDTH
    width = max(right, LABEL_WIDTH + 2.5 * CELL_WIDTH + vocab_size * NARROW) + 8
    ax = canvas(width, vocab_size + 2 * count + 6.6, row_height=ROW_HEIGHT)

    draw_text(ax, LABEL_WIDTH, 0.5, "the table W", ha="left")
    for k in range(vocab_size):
        colour = k if k in picked else None
        draw_text(
            ax, LABEL_WIDTH - 5, 1.5 + k, f"row {k}", _stroke(colour), ha="right", bold=k in picked
        )
        _draw_row(ax, LABEL_WIDTH, 1 + k, CELL_WIDTH, _numbers(weight[k]), colour)

    top = vocab_size + 3.4  # of the two forms
    product_left = width - 8 - vocab_size * NARROW
    centres = (LABEL_WIDTH + CELL_WIDTH / 2, product_left + vocab_size * NARROW / 2)
    draw_text(ax, centres[0], top - 0.6, "look up", bold=True)
    draw_text(ax, centres[1], top - 0.6, "multiply: X W", bold=True)
    for i, k in enumerate(picked):
        _draw_row(ax, LABEL_WIDTH, top + i, CELL_WIDTH, [str(k)], k)
        _draw_row(ax, product_left, top + i, NARROW, list(map(str, encoding[i])), k, only=k)
    draw_text(ax, LABEL_WIDTH - 5, top + count / 2, "ids", ha="right")
    draw_text(ax, product_left - 5, top + count / 2, "X", ha="right")

    last = top + count + 2.2  # of the output
    middle = LABEL_WIDTH + dim * CELL_WIDTH / 2
    draw_text(ax, middle, last - 0.6, "one output, equal in every bit", bold=True)
    for i, k in enumerate(picked):
        draw_text(ax, LABEL_WIDTH - 5, last + 0.5 + i, f"id {k}", _stroke(k), ha="right", bold=True)
        _draw_row(ax, LABEL_WIDTH, last + i, CELL_WIDTH, _numbers(rows[i]), k)
    for x in centres:
        draw_arrow(ax, (x, vocab_size + 1.2), (x, top - 1.2), lw=1.3)
        draw_arrow(ax, (x, top + count + 0.2), (x, last - 1.2), lw=1.3)
    return finish(ax, _story(picked, encoding, rows, vocab_size))


def _story(
    picked: list[int], encoding: list[list[int]], rows: torch.Tensor, vocab_size: int
) -> str:
    looked_up = ", ".join(f"id {k} picks row {k}" for k in picked)
    one_hot_rows = ", ".join(
        f"id {k} becomes the one-hot row ({', '.join(map(str, x))})"
        for k, x in zip(picked, encoding, strict=True)
    )
    given = ", ".join(f"({', '.join(_numbers(row))})" for row in rows)
    return (
        f"Two ways from the ids {', '.join(map(str, picked))} to one output, "
        f"over one table of {vocab_size} rows. Looking up: {looked_up}. "
        f"Multiplying: {one_hot_rows}, times the table. Both give: {given}."
    )


def _numbers(values: torch.Tensor) -> list[str]:
    """Write two decimals, and fewer digits where a cell has no room."""
    return [f"{v:.2f}" if abs(v) < 100 else f"{v:.0e}" for v in values.tolist()]


def _stroke(token: int | None) -> str:
    return QUIET if token is None else colours_of(token)[1]


def _draw_row(
    ax: Axes,
    left: float,
    row: float,
    width: float,
    texts: list[str],
    token: int | None,
    only: int | None = None,
) -> None:
    """Draw cells in the colour of an id, all of them or one, and outline the row in it."""
    fill = "none" if token is None else colours_of(token)[0]
    for j, text in enumerate(texts):
        chosen = token is not None and only in (None, j)
        face, ink = (fill, INK) if chosen else ("none", QUIET)
        draw_cell(ax, left + j * width, row, width, text, fill=face, ink=ink, bold=chosen)
    if token is not None:
        draw_cell(ax, left, row, len(texts) * width, edge=_stroke(token), lw=1.8)
