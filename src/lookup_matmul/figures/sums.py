"""A sparse row's entries, and the rows of the table that they pick and scale."""

import torch

from lookup_matmul.figures.cells import (
    CELL_WIDTH,
    LABEL_WIDTH,
    canvas,
    check_sizes,
    draw_caption,
    draw_row,
    draw_rule,
    in_cells,
    in_words,
)
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.sparse.dense import dense_rows
from lookup_matmul.sparse.sums import sum_of_rows


def draw_sum_of_rows(ids: torch.Tensor, values: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw the entries of one sparse row beside the rows of the table that they scale.

    Parameters
    ----------
    ids : torch.Tensor
        Shape (number of entries,), up to 12 columns; dtype int32 or int64.
    values : torch.Tensor
        Shape (number of entries,), the value of each.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), each 1 to 12.

    Returns
    -------
    Drawing
        The table with a factor at each row that is picked, and the sum below.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_bags` says.
    ValueError
        As there, and if there is too much to draw.
    IndexError
        As :func:`lookup_matmul.check_bags` says.

    Examples
    --------
    >>> table = torch.tensor([[0.5, 1.0], [1.5, -2.0], [1.0, 1.0]])
    >>> draw_sum_of_rows(torch.tensor([1, 2]), torch.tensor([2, 3]), table)
    A sparse row with 2 entries over a table of 3 rows. Row 1 of the table is multiplied by 2: \
(1.5000, -2.0000). Row 2 of the table is multiplied by 3: (1.0000, 1.0000). \
The other rows are not read. The sum is (6.0000, -1.0000).
    """
    bags = (ids, torch.tensor([0, len(ids)], device=ids.device), values)
    total = sum_of_rows(bags, weight)[0]
    vocab_size, dim = weight.shape
    check_sizes(ids, weight)
    factors = dense_rows(bags, vocab_size)[0].tolist()
    picked = sorted(set(ids.tolist()))
    columns = max(3, dim)  # so wide that the caption fits
    ax = canvas(LABEL_WIDTH + columns * CELL_WIDTH + 12, vocab_size + 3.4)
    draw_caption(ax, 0.5, "value × row of the table")
    for k in range(vocab_size):
        label = f"{factors[k]:.4g}  ×" if k in picked else ""
        draw_row(ax, 1 + k, label, in_cells(weight[k]), picked=k in picked, token=k)
    draw_rule(ax, vocab_size + 1.2, LABEL_WIDTH + dim * CELL_WIDTH)
    draw_row(ax, vocab_size + 1.4, "sum", in_cells(total), picked=True)
    terms = " ".join(
        f"Row {k} of the table is multiplied by {factors[k]:.4g}: {in_words(weight[k])}."
        for k in picked
    )
    return finish(
        ax,
        f"A sparse row with {len(ids)} entries over a table of {vocab_size} rows. {terms} "
        f"The other rows are not read. The sum is {in_words(total)}.",
    )
