"""The two forms on a small table, each number in its cell."""

from numbers import Integral

import torch

from lookup_matmul.figures.cells import (
    CELL_WIDTH,
    LABEL_WIDTH,
    canvas,
    check_sizes,
    draw_arrow,
    draw_caption,
    draw_row,
    draw_rule,
    draw_text,
    in_cells,
    in_words,
)
from lookup_matmul.figures.palette import QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.inputs import check_weight
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul


def draw_lookup(ids: torch.Tensor, weight: torch.Tensor) -> Drawing:
    """Draw the rows that ``ids`` pick from the table, and where each of them goes.

    Parameters
    ----------
    ids : torch.Tensor
        Shape (number of ids,), 1 to 12 of them; dtype int32 or int64.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), each 1 to 12.

    Returns
    -------
    Drawing
        The table above, the result below, an arrow for every id.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_inputs` says.
    ValueError
        As there, and if there is too much to draw.
    IndexError
        As :func:`lookup_matmul.check_inputs` says.

    Examples
    --------
    >>> draw_lookup(torch.tensor([1]), torch.tensor([[0.5, 1.0], [1.5, -2.0]]))
    A table with 2 rows of 2 numbers. Id 1 picks row 1: (1.5000, -2.0000). No arithmetic is done.
    """
    rows = lookup(ids, weight)
    check_sizes(ids, weight)
    vocab_size, dim = weight.shape
    picked = ids.tolist()
    right = LABEL_WIDTH + dim * CELL_WIDTH
    ax = canvas(right + 48, vocab_size + len(picked) + 3.1)
    draw_caption(ax, 0.5, f"weight: {vocab_size} rows × {dim} columns")
    for k in range(vocab_size):
        draw_row(ax, 1 + k, f"row {k}", in_cells(weight[k]), picked=k in picked, token=k)
    below = vocab_size + 2.0
    draw_caption(ax, below - 0.4, "output: one row for each id")
    for i, k in enumerate(picked):
        draw_row(ax, below + i, f"id {k}", in_cells(rows[i]), picked=True, token=k)
        # The arrows nest instead of crossing on one line.
        bend = 0.22 + 0.1 * i / len(picked)
        begin, end = (right + 1, 1.5 + k), (right + 1, below + i + 0.5)
        draw_arrow(ax, begin, end, colours_of(k)[1], bend=bend)
    story = " ".join(f"Id {k} picks row {k}: {in_words(weight[k])}." for k in picked)
    return finish(
        ax, f"A table with {vocab_size} rows of {dim} numbers. {story} No arithmetic is done."
    )


def draw_one_hot_product(token: int, weight: torch.Tensor) -> Drawing:
    """Draw the one-hot row of one id times the table, term by term.

    Parameters
    ----------
    token : int
        The id, from 0 to the vocabulary size less one.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), each 1 to 12.

    Returns
    -------
    Drawing
        Each row of the table beside its factor, 0 or 1, and the sum below.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_inputs` says; also if ``token`` is no ``int``.
    ValueError
        As there, and if there is too much to draw.
    IndexError
        As :func:`lookup_matmul.check_inputs` says.

    Examples
    --------
    >>> draw_one_hot_product(1, torch.tensor([[0.5, 1.0], [1.5, -2.0]]))
    The one-hot row of id 1 is (0, 1). Row 0 of the table is multiplied by 0. \
Row 1 of the table is multiplied by 1: (1.5000, -2.0000). The sum is (1.5000, -2.0000). \
2 of 4 multiplications are by zero.
    """
    check_weight(weight)
    if not isinstance(token, Integral):
        raise TypeError(
            f"token is {token!r} of type {type(token).__name__}, expected an int; pass one id."
        )
    ids = torch.tensor([token])
    product = one_hot_matmul(ids.to(weight.device), weight)[0]
    check_sizes(ids, weight)
    vocab_size, dim = weight.shape
    factors = one_hot(ids, vocab_size, dtype=torch.int64)[0].tolist()
    right = LABEL_WIDTH + dim * CELL_WIDTH
    ax = canvas(right + 40, vocab_size + 3.4)
    draw_caption(ax, 0.5, f"one-hot row of id {token}, upright, × weight")
    for k, factor in enumerate(factors):
        draw_row(ax, 1 + k, f"{factor}  ×", in_cells(weight[k]), picked=factor == 1, token=k)
        note = "kept" if factor else "all 0"
        colour = colours_of(k)[1] if factor else QUIET
        draw_text(ax, right + 6, 1.5 + k, note, colour, ha="left")
    draw_rule(ax, vocab_size + 1.2, right)
    draw_row(ax, vocab_size + 1.4, "sum", in_cells(product), picked=True, token=token)
    terms = [
        f"Row {k} of the table is multiplied by {x}{': ' + in_words(weight[k]) if x else ''}."
        for k, x in enumerate(factors)
    ]
    return finish(
        ax,
        f"The one-hot row of id {token} is ({', '.join(map(str, factors))}). {' '.join(terms)} "
        f"The sum is {in_words(product)}. "
        f"{(vocab_size - 1) * dim} of {vocab_size * dim} multiplications are by zero.",
    )
