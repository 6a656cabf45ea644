"""Small tables with each number in a cell: lookups, products and gradients."""

import torch

from lookup_matmul.figures.sheet import QUIET, Drawing, Sheet, cell_x, id_colors
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul


def draw_lookup(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw a table, the rows that ``ids`` pick, and an arrow from each to the output.

    ``ids`` has shape (number of ids,), ``weight`` (vocabulary size, embedding dimension), of up to
    12 ids and 12 rows.

    >>> draw_lookup(torch.tensor([1]), torch.tensor([[0.5, 1.0], [1.5, -2.0]]))
    A table with 2 rows of 2 numbers. Id 1 picks row 1: (1.5000, -2.0000). No arithmetic is done.
    """
    rows = lookup(ids, weight)
    tokens = ids.tolist()
    vocab_size, dim = weight.shape
    right = cell_x(dim) + 1
    sheet = Sheet(right + 47)
    sheet.caption(0.5, f"weight: {vocab_size} rows × {dim} columns")
    for k, row in enumerate(weight):
        sheet.row(1 + k, f"row {k}", format_values(row), id_colors(k) if k in tokens else None)
    top = vocab_size + 2.0
    sheet.caption(top - 0.4, "output: one row for each id")
    for i, (k, row) in enumerate(zip(tokens, rows, strict=True)):
        sheet.row(top + i, f"id {k}", format_values(row), id_colors(k))
        bend = 0.22 + 0.1 * i / len(tokens)  # different, so that arrows do not overlap
        sheet.arrow((right, 1.5 + k), (right, top + i + 0.5), id_colors(k)[1], bend)
    picks = " ".join(f"Id {k} picks row {k}: {format_tuple(weight[k])}." for k in tokens)
    return sheet.to_drawing(
        f"A table with {vocab_size} rows of {dim} numbers. {picks} No arithmetic is done."
    )


def draw_one_hot_product(token: int, weight: torch.Tensor) -> Drawing:
    """Draw the one-hot row of an id times the table, term by term.

    ``weight`` has shape (vocabulary size, embedding dimension), of up to 12 rows.

    >>> draw_one_hot_product(1, torch.tensor([[0.5, 1.0], [1.5, -2.0]]))
    The one-hot row of id 1 is (0, 1). Row 0 of the table is multiplied by 0. \
Row 1 of the table is multiplied by 1: (1.5000, -2.0000). The sum is (1.5000, -2.0000). \
2 of 4 multiplications are by zero.
    """
    product = one_hot_matmul(torch.tensor([token]), weight)[0]
    vocab_size, dim = weight.shape
    factors = one_hot(torch.tensor(token), vocab_size, dtype=torch.int64).tolist()
    colors = id_colors(token)
    right = cell_x(dim)
    sheet = Sheet(right + 40)
    sheet.caption(0.5, f"one-hot row of id {token}, upright, × weight")
    for k, factor in enumerate(factors):
        sheet.row(1 + k, f"{factor}  ×", format_values(weight[k]), colors if factor else None)
        note, color = ("kept", colors[1]) if factor else ("all 0", QUIET)
        sheet.text(right + 6, 1.5 + k, note, color, "start")
    sheet.line((4, vocab_size + 1.2), (right, vocab_size + 1.2))
    sheet.row(vocab_size + 1.4, "sum", format_values(product), colors)
    terms = [
        f"Row {k} of the table is multiplied by {x}{': ' + format_tuple(weight[k]) if x else ''}."
        for k, x in enumerate(factors)
    ]
    return sheet.to_drawing(
        f"The one-hot row of id {token} is ({', '.join(map(str, factors))}). {' '.join(terms)} "
        f"The sum is {format_tuple(product)}. "
        f"{(vocab_size - 1) * dim} of {vocab_size * dim} multiplications are by zero."
    )


def draw_scatter_add(
    ids: torch.Tensor, grad_output: torch.Tensor, vocab_size: int, *, padding_idx: int | None = None
) -> Drawing:
    """Draw the row of the table to which each row of a gradient is added, and the sums.

    ``ids`` has shape (number of ids,), ``grad_output``, the gradient of the looked-up rows, (number
    of ids, embedding dimension), of up to 12 ids and 12 rows. Rows of ``padding_idx``, which is not
    negative, are left out, as in :class:`torch.nn.Embedding`.

    >>> draw_scatter_add(torch.tensor([1, 1]), torch.tensor([[0.5], [2.0]]), 2)
    2 rows arrive. (0.5000) arrives for id 1 and is added into row 1. \
(2.0000) arrives for id 1 and is added into row 1. \
The table's gradient: row 0 is (0.0000), row 1 is (2.5000).
    """
    targets = ids.tolist()
    dim = grad_output.shape[1]
    colors = {k: id_colors(k) for k in targets if k != padding_idx}
    summands = grad_output.detach() * torch.tensor([k in colors for k in targets]).unsqueeze(1)
    weight_grad = grad_output.new_zeros(vocab_size, dim).index_add(0, ids, summands)
    right = cell_x(dim) + 1
    sheet = Sheet(max(right + 69, 230))
    sheet.caption(0.5, "G: a row arrives for each id")
    top = len(targets) + 2.0
    sentences = []
    for n, k in enumerate(targets):
        sheet.row(1 + n, f"id {k}", format_values(grad_output[n]), colors.get(k))
        verb = f"is added into row {k}" if k in colors else "is left out, as padding"
        sentences.append(f"{format_tuple(grad_output[n])} arrives for id {k} and {verb}.")
        if k in colors:
            bend = 0.2 + 0.35 * (top + k - n) / (top + vocab_size)  # longer arrows bend more
            sheet.arrow((right, 1.5 + n), (right, top + k + 0.5), colors[k][1], bend)
    sheet.caption(top - 0.4, "gradient of the table")
    for k, row in enumerate(weight_grad):
        sheet.row(top + k, f"row {k}", format_values(row), colors.get(k))
    sums = ", ".join(f"row {k} is {format_tuple(row)}" for k, row in enumerate(weight_grad))
    return sheet.to_drawing(
        f"{len(targets)} rows arrive. {' '.join(sentences)} The table's gradient: {sums}."
    )


def format_values(values: torch.Tensor) -> list[str]:
    """Format numbers for cells: with four decimals as torch prints them, or fewer digits to fit."""
    candidates = ([f"{x:{spec}}" for spec in (".4f", ".4g", ".3g", ".0e")] for x in values.tolist())
    return [next((text for text in texts if len(text) <= 7), texts[-1]) for texts in candidates]


def format_tuple(values: torch.Tensor) -> str:
    """Format a row of numbers as in its cells, for alt text."""
    return f"({', '.join(format_values(values))})"
