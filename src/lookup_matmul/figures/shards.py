"""A table cut by rows: what each process computes, and the sum."""

from collections.abc import Sequence

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
from lookup_matmul.onehot.forms import lookup


def draw_shards(ids: torch.Tensor, weight: torch.Tensor, parts: Sequence[slice]) -> Drawing:
    """Draw the rows that each process holds, its partial rows for all ids, and their sum.

    Parameters
    ----------
    ids : torch.Tensor
        Shape (number of ids,), 1 to 12 of them; dtype int32 or int64.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), each 1 to 12.
    parts : collections.abc.Sequence
        The rows of each process, as slices that follow each other and cover the table.

    Returns
    -------
    Drawing
        For each process its rows and, below, a row for each id, zeros where the row is elsewhere.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_inputs` says; also if a part is no slice.
    ValueError
        As there, and if the parts do not cover the table, or there is too much to draw.
    IndexError
        As :func:`lookup_matmul.check_inputs` says.

    Examples
    --------
    >>> table = torch.tensor([[0.5], [1.5], [2.5]])
    >>> draw_shards(torch.tensor([2]), table, [slice(0, 2), slice(2, 3)])
    Process 0 holds rows 0 to 1 and gives (0.0000) for id 2. \
Process 1 holds row 2 and gives (2.5000) for id 2. The sum is (2.5000) for id 2.
    """
    rows = lookup(ids, weight)
    check_sizes(ids, weight)
    if not all(isinstance(part, slice) for part in parts):
        raise TypeError(
            f"parts is {list(parts)}, expected slices; pass those of lookup_matmul.sharded.cut."
        )
    held = [list(range(len(weight))[part]) for part in parts]
    if [k for of in held for k in of] != list(range(len(weight))):
        raise ValueError(
            f"parts is {list(parts)}, expected slices that cover {len(weight)} rows in order."
        )
    picked = ids.tolist()
    right = LABEL_WIDTH + weight.shape[1] * CELL_WIDTH
    ax = canvas(right + 8, len(weight) + (len(held) + 1) * (len(ids) + 1.5) + 1.1 * len(held))
    y, words = 0.0, []
    for process, of in enumerate(held):
        draw_caption(ax, y + 0.5, f"process {process} holds")
        for k in of:
            y += 1
            draw_row(ax, y, f"row {k}", in_cells(weight[k]), picked=k in picked, token=k)
        y += 1.1
        draw_caption(ax, y + 0.5, "and gives")
        told = []
        for k, row in zip(picked, rows, strict=True):
            y += 1
            here = k in of
            partial = row if here else torch.zeros_like(row)
            draw_row(ax, y, f"id {k}", in_cells(partial), picked=here, token=k)
            told.append(f"{in_words(partial)} for id {k}")
        y += 1.5
        name = f"rows {of[0]} to {of[-1]}" if len(of) > 1 else f"row {of[0]}" if of else "no row"
        words.append(f"Process {process} holds {name} and gives {', '.join(told)}.")
    draw_rule(ax, y - 0.15, right)
    draw_caption(ax, y + 0.5, "all-reduce: the sum, in every process")
    for k, row in zip(picked, rows, strict=True):
        y += 1
        draw_row(ax, y, f"id {k}", in_cells(row), picked=True, token=k)
    told = [f"{in_words(row)} for id {k}" for k, row in zip(picked, rows, strict=True)]
    return finish(ax, f"{' '.join(words)} The sum is {', '.join(told)}.")
