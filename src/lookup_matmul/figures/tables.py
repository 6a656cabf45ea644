"""The two forms on a small table, each number in its cell."""

import torch
from matplotlib.patches import FancyArrowPatch

from lookup_matmul.figures.cells import (
    CELL_HEIGHT,
    CELL_WIDTH,
    LABEL_WIDTH,
    LARGEST,
    canvas,
    draw_caption,
    draw_row,
    draw_text,
    in_words,
)
from lookup_matmul.figures.palette import INK, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.forms import lookup, one_hot, one_hot_matmul


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
    IndexError
        If an id is not in the table.
    ValueError
        As there, and if there is too much to draw.

    Examples
    --------
    >>> draw_lookup(torch.tensor([1]), torch.tensor([[0.5, 1.0], [1.5, -2.0]]))
    A table with 2 rows of 2 numbers. Id 1 picks row 1: (1.5000, -2.0000). No arithmetic is done.
    """
    rows = lookup(ids, weight)
    _check_size(ids, weight)
    vocab_size, dim = weight.shape
    picked = ids.tolist()
    ax = canvas(LABEL_WIDTH + dim * CELL_WIDTH + 48, (vocab_size + len(picked) + 3.1) * CELL_HEIGHT)
    draw_caption(ax, 0.5, f"weight: {vocab_size} rows × {dim} columns")
    for k in range(vocab_size):
        draw_row(ax, 1 + k, f"row {k}", weight[k], picked=k in picked, token=k)
    below = vocab_size + 2.0
    draw_caption(ax, below - 0.4, "output: one row for each id")
    right = LABEL_WIDTH + dim * CELL_WIDTH
    for i, k in enumerate(picked):
        draw_row(ax, below + i, f"id {k}", rows[i], picked=True, token=k)
        ends = [(right + 1, (1.5 + k) * CELL_HEIGHT), (right + 1, (below + i + 0.5) * CELL_HEIGHT)]
        # The arrows nest instead of crossing on one line.
        bend = f"arc3,rad=-{0.22 + 0.1 * i / len(picked):.2f}"
        arrow = FancyArrowPatch(
            *ends,
            arrowstyle="->",
            connectionstyle=bend,
            color=colours_of(k)[1],
            mutation_scale=11,
            lw=1.4,
        )
        ax.add_patch(arrow)
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
        As :func:`lookup_matmul.check_inputs` says.
    IndexError
        If an id is not in the table.
    ValueError
        As there, and if there is too much to draw.

    Examples
    --------
    >>> draw_one_hot_product(1, torch.tensor([[0.5, 1.0], [1.5, -2.0]]))
    The one-hot row of id 1 is (0, 1). Row 0 of the table is multiplied by 0. \
Row 1 of the table is multiplied by 1: (1.5000, -2.0000). The sum is (1.5000, -2.0000). \
2 of 4 multiplications are by zero.
    """
    ids = torch.tensor([token])
    product = one_hot_matmul(ids.to(weight.device), weight)[0]
    _check_size(ids, weight)
    vocab_size, dim = weight.shape
    factors = one_hot(ids, vocab_size, dtype=torch.int64)[0].tolist()
    ax = canvas(LABEL_WIDTH + dim * CELL_WIDTH + 48, (vocab_size + 3.4) * CELL_HEIGHT)
    draw_caption(ax, 0.5, f"one-hot row of id {token}, upright, × weight")
    for k, factor in enumerate(factors):
        draw_row(ax, 1 + k, f"{factor}  ×", weight[k], picked=factor == 1, token=k)
        note = "kept" if factor else "all 0"
        draw_text(
            ax,
            LABEL_WIDTH + dim * CELL_WIDTH + 6,
            1.5 + k,
            note,
            colours_of(k)[1] if factor else QUIET,
            ha="left",
        )
    line = (vocab_size + 1.2) * CELL_HEIGHT
    ax.plot([4, LABEL_WIDTH + dim * CELL_WIDTH], [line, line], color=INK, lw=1.2)
    draw_row(ax, vocab_size + 1.4, "sum", product, picked=True, token=token)
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


def _check_size(ids: torch.Tensor, weight: torch.Tensor) -> None:
    sizes = {"ids": tuple(ids.shape), "weight": tuple(weight.shape)}
    if ids.dim() != 1 or not all(1 <= n <= LARGEST for shape in sizes.values() for n in shape):
        raise ValueError(
            f"ids has shape {sizes['ids']} and weight {sizes['weight']}, "
            f"expected (n,) and two sizes, each from 1 to {LARGEST}, to be readable; draw a slice."
        )
