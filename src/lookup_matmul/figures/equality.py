"""Two computations that are equal in every bit."""

from functools import partial

import torch

from lookup_matmul.equality import assert_bitwise_equal
from lookup_matmul.figures.sheet import Drawing, Sheet, id_colors
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul

ROW_HEIGHT = 22.0
CELL_WIDTH = 46.0
ONE_HOT_WIDTH = 24.0
LABEL_WIDTH = 46.0


def draw_equality(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw a lookup and a one-hot product of the same ids, and their common output.

    ``ids`` has shape (number of ids,), ``weight`` (vocabulary size, embedding dimension); up to 6
    ids and 6 rows with 3 to 5 columns fit a phone. Raise AssertionError if the outputs are not
    bitwise equal.

    >>> draw_equality(torch.tensor([1]), torch.tensor([[0.5, 1.0, 2.0], [1.5, -2.0, 3.0]]))
    Two ways from the ids 1 to one output, over one table of 2 rows. \
Looking up: id 1 picks row 1. \
Multiplying: id 1 becomes the one-hot row (0, 1), times the table. \
Both give: (1.50, -2.00, 3.00).
    """
    rows = lookup(ids, weight)
    assert_bitwise_equal(one_hot_matmul(ids, weight), rows)
    tokens = ids.tolist()
    count = len(ids)
    vocab_size, dim = weight.shape
    encoding = [list(map(str, row)) for row in one_hot(ids, vocab_size, dtype=torch.int64).tolist()]
    one_hot_width = vocab_size * ONE_HOT_WIDTH
    right = LABEL_WIDTH + max(dim * CELL_WIDTH, 2.5 * CELL_WIDTH + one_hot_width)
    sheet = Sheet(right + 8, ROW_HEIGHT)
    draw_row = partial(sheet.row, x=LABEL_WIDTH, width=CELL_WIDTH)
    sheet.text(LABEL_WIDTH, 0.5, "the table W", anchor="start")
    for k in range(vocab_size):
        draw_row(1 + k, f"row {k}", _format(weight[k]), id_colors(k) if k in tokens else None)

    top = vocab_size + 3.4
    output_top = vocab_size + count + 5.6
    one_hot_x = right - one_hot_width
    middles = (LABEL_WIDTH + CELL_WIDTH / 2, one_hot_x + one_hot_width / 2)
    for x, title in zip(middles, ("look up", "multiply: X W"), strict=True):
        sheet.text(x, top - 0.6, title, bold=True)
    for x, name in ((LABEL_WIDTH, "ids"), (one_hot_x, "X")):
        sheet.text(x - 5, top + count / 2, name, anchor="end")
    output_middle = LABEL_WIDTH + dim * CELL_WIDTH / 2
    sheet.text(output_middle, output_top - 0.6, "one output, equal in every bit", bold=True)
    for i, (k, bits) in enumerate(zip(tokens, encoding, strict=True)):
        colors = id_colors(k)
        draw_row(top + i, "", [str(k)], colors)
        draw_row(top + i, "", bits, colors, only=k, x=one_hot_x, width=ONE_HOT_WIDTH)
        draw_row(output_top + i, f"id {k}", _format(rows[i]), colors)
    for x in middles:
        sheet.arrow((x, vocab_size + 1.2), (x, top - 1.2))
        sheet.arrow((x, top + count + 0.2), (x, output_top - 1.2))
    lookups = ", ".join(f"id {k} picks row {k}" for k in tokens)
    products = ", ".join(
        f"id {k} becomes the one-hot row ({', '.join(bits)})"
        for k, bits in zip(tokens, encoding, strict=True)
    )
    outputs = ", ".join(f"({', '.join(_format(row))})" for row in rows)
    return sheet.to_drawing(
        f"Two ways from the ids {', '.join(map(str, tokens))} to one output, "
        f"over one table of {vocab_size} rows. Looking up: {lookups}. "
        f"Multiplying: {products}, times the table. Both give: {outputs}."
    )


def _format(values: torch.Tensor) -> list[str]:
    """Format numbers with two decimals, or with an exponent if they do not fit."""
    return [f"{v:.2f}" if abs(v) < 100 else f"{v:.0e}" for v in values.tolist()]
