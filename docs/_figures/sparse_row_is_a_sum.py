"""The rows of a table that one sparse row scales and adds."""

from collections.abc import Sequence

import torch

from lookup_matmul.figures.sheet import CELL_WIDTH, LABEL_WIDTH, QUIET, Drawing, Sheet, id_colors
from lookup_matmul.figures.tables import format_tuple
from lookup_matmul.sparse.sums import dense_rows, sum_of_rows


def draw_sum_of_rows(
    ids: torch.Tensor,
    values: torch.Tensor,
    weight: torch.Tensor,
    names: Sequence[str],
    columns: Sequence[str],
) -> Drawing:
    """Draw the entries of a sparse row beside the named rows of the table that they scale."""
    bags = (ids, torch.tensor([0, len(ids)]), values)
    total = sum_of_rows(bags, weight)[0]
    vocab_size, dim = weight.shape
    factors = dense_rows(bags, vocab_size)[0].tolist()
    stored = sorted(set(ids.tolist()))
    x = 2 * LABEL_WIDTH
    sheet = Sheet(x + dim * CELL_WIDTH + 12)
    for j, column in enumerate(columns):
        sheet.text(x + (j + 0.5) * CELL_WIDTH, 0.5, column, QUIET)
    for k, (name, row) in enumerate(zip(names[:vocab_size], weight, strict=True)):
        label = f"{factors[k]:.4g}  × {name}" if k in stored else name
        colors = id_colors(k) if k in stored else None
        sheet.row(1 + k, label, [f"{value:.4g}" for value in row], colors, x=x)
    sheet.line((4, vocab_size + 1.2), (x + dim * CELL_WIDTH, vocab_size + 1.2))
    sheet.row(vocab_size + 1.4, "total", [f"{value:.4g}" for value in total], x=x)
    terms = " ".join(
        f"Row {k} of the table is multiplied by {factors[k]:.4g}: {format_tuple(weight[k])}."
        for k in stored
    )
    return sheet.to_drawing(
        f"A sparse row with {len(ids)} entries over a table of {vocab_size} rows. {terms} "
        f"The other rows are not read. The sum is {format_tuple(total)}."
    )
