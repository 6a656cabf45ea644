"""The backward pass of a lookup: arriving rows, added into the rows of their ids."""

import torch

from lookup_matmul.figures.cells import (
    CELL_WIDTH,
    LABEL_WIDTH,
    LARGEST,
    canvas,
    draw_arrow,
    draw_caption,
    draw_row,
    in_cells,
    in_words,
)
from lookup_matmul.figures.palette import colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.inputs import check_ids
from lookup_matmul.inputs import check_type as expect
from lookup_matmul.onehot.one_hot_linear import padding_row


def draw_scatter_add(
    ids: torch.Tensor, arriving: torch.Tensor, vocab_size: int, *, padding_idx: int | None = None
) -> Drawing:
    """Draw where each row of an arriving gradient is added, and the sums.

    Parameters
    ----------
    ids : torch.Tensor
        Shape (number of ids,), 1 to 12 of them; dtype int32 or int64.
    arriving : torch.Tensor
        Shape (number of ids, embedding dimension), the gradient of each looked-up row.
    vocab_size : int
        Rows of the table, 1 to 12.
    padding_idx : int, optional
        The id whose arriving rows are left out, as by :class:`torch.nn.Embedding`; negative ones
        count from the end.

    Returns
    -------
    Drawing
        The arriving rows above, the gradient of the table below, an arrow for every addition.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_ids` says; also if ``arriving`` is no tensor or
        ``padding_idx`` no ``int``.
    ValueError
        As there; also if the shapes do not match, ``padding_idx`` names no row,
        or there is too much to draw.
    IndexError
        As there.

    Examples
    --------
    >>> draw_scatter_add(torch.tensor([1, 1]), torch.tensor([[0.5], [2.0]]), 2)
    2 rows arrive. (0.5000) arrives for id 1 and is added into row 1. \
(2.0000) arrives for id 1 and is added into row 1. \
The table's gradient: row 0 is (0.0000), row 1 is (2.5000).
    """
    check_ids(ids, vocab_size)
    expect("arriving", arriving, torch.Tensor, "wrap it in torch.tensor(...)")
    padding = padding_row(padding_idx, vocab_size)
    sizes = (*ids.shape, *arriving.shape[1:], vocab_size)
    if ids.dim() != 1 or arriving.dim() != 2 or len(ids) != len(arriving):
        raise ValueError(
            f"ids has shape {tuple(ids.shape)} and arriving {tuple(arriving.shape)}, "
            "expected (n,) and (n, embedding dimension)."
        )
    if not all(1 <= size <= LARGEST for size in sizes):
        raise ValueError(
            f"there are {sizes[0]} ids, {sizes[1]} columns and {vocab_size} rows, "
            f"expected each from 1 to {LARGEST}, to be readable; draw a slice."
        )
    places = ids.tolist()
    added = [k != padding for k in places]
    kept = arriving.detach() * torch.tensor(added).unsqueeze(1)
    total = torch.zeros_like(arriving[:1].expand(vocab_size, -1)).index_add(0, ids, kept)
    right = LABEL_WIDTH + arriving.shape[1] * CELL_WIDTH
    ax = canvas(max(right + 70, 230), len(places) + vocab_size + 2.2)
    draw_caption(ax, 0.5, "G: a row arrives for each id")
    below, words = len(places) + 2.0, []
    for n, k in enumerate(places):
        draw_row(ax, 1 + n, f"id {k}", in_cells(arriving[n]), picked=added[n], token=k)
        fate = f"is added into row {k}" if added[n] else "is left out, as padding"
        words.append(f"{in_words(arriving[n])} arrives for id {k} and {fate}.")
        if added[n]:
            # The further the way, the wider the bend, so that the arrows do not lie on each other.
            bend = 0.2 + 0.35 * (below + k - n) / (below + vocab_size)
            begin, end = (right + 1, 1.5 + n), (right + 1, below + k + 0.5)
            draw_arrow(ax, begin, end, colours_of(k)[1], bend=bend)
    draw_caption(ax, below - 0.4, "gradient of the table")
    used = {k for k, is_added in zip(places, added, strict=True) if is_added}
    for k in range(vocab_size):
        draw_row(ax, below + k, f"row {k}", in_cells(total[k]), picked=k in used, token=k)
    sums = ", ".join(f"row {k} is {in_words(total[k])}" for k in range(vocab_size))
    return finish(ax, f"{len(places)} rows arrive. {' '.join(words)} The table's gradient: {sums}.")
