"""Both forms over one table, and the one output that they lead to."""

from functools import partial

import torch

from lookup_matmul.equality.assertions import assert_bitwise_equal
from lookup_matmul.figures.palette import colors_of
from lookup_matmul.figures.sheet import Drawing, Sheet
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul

ROW_HEIGHT, CELL, NARROW, LEFT = 22.0, 46.0, 24.0, 46.0


def draw_equality(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw a lookup and a one-hot product of the same ids over the same table, and their output.

    Raise AssertionError if the two differ in a bit, since the drawing says that they do not.

    ``ids`` has shape (number of ids,), ``weight`` (vocabulary size, embedding dimension);
    up to 6 ids and rows fit a phone, and 3 to 5 columns.

    Examples
    --------
    >>> draw_equality(torch.tensor([1]), torch.tensor([[0.5, 1.0, 2.0], [1.5, -2.0, 3.0]]))
    Two ways from the ids 1 to one output, over one table of 2 rows. \
Looking up: id 1 picks row 1. \
Multiplying: id 1 becomes the one-hot row (0, 1), times the table. \
Both give: (1.50, -2.00, 3.00).
    """
    rows, product = lookup(ids, weight), one_hot_matmul(ids, weight)
    assert_bitwise_equal(product, rows)
    picked, count, vocab_size, dim = ids.tolist(), len(ids), *weight.shape
    encoding = one_hot(ids, vocab_size, dtype=torch.int64).tolist()
    width = max(dim * CELL, 2.5 * CELL + vocab_size * NARROW)
    sheet = Sheet(LEFT + width + 8, ROW_HEIGHT)
    draw_row = partial(sheet.row, left=LEFT, width=CELL)
    sheet.text(LEFT, 0.5, "the table W", at="start")
    for k in range(vocab_size):
        draw_row(1 + k, f"row {k}", _numbers(weight[k]), colors_of(k) if k in picked else None)

    top = vocab_size + 3.4  # of the two forms
    one_hot_left = LEFT + width - vocab_size * NARROW
    centers = (LEFT + CELL / 2, one_hot_left + vocab_size * NARROW / 2)
    for x, title in zip(centers, ("look up", "multiply: X W"), strict=True):
        sheet.text(x, top - 0.6, title, bold=True)
    for left, name in ((LEFT, "ids"), (one_hot_left, "X")):
        sheet.text(left - 5, top + count / 2, name, at="end")
    last = top + count + 2.2  # of the output
    sheet.text(LEFT + dim * CELL / 2, last - 0.6, "one output, equal in every bit", bold=True)
    for i, k in enumerate(picked):
        bits, place = [*map(str, encoding[i])], {"left": one_hot_left, "width": NARROW}
        draw_row(top + i, "", [str(k)], colors_of(k))
        draw_row(top + i, "", bits, colors_of(k), only=k, **place)
        draw_row(last + i, f"id {k}", _numbers(rows[i]), colors_of(k))
    for x in centers:
        sheet.arrow((x, vocab_size + 1.2), (x, top - 1.2))
        sheet.arrow((x, top + count + 0.2), (x, last - 1.2))
    return sheet.finish(_story(picked, encoding, rows, vocab_size))


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
