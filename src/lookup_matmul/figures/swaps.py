"""An Embedding and the layer that takes its place: what goes in, what passes, what comes out."""

from __future__ import annotations

import torch
from matplotlib.axes import Axes
from torch import nn

from lookup_matmul.figures.cells import canvas, check_sizes, draw_arrow, draw_cell, draw_text
from lookup_matmul.figures.palette import INK, LINE, MARK, PICK, QUIET, colours_of
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.inputs import check_inputs
from lookup_matmul.inputs import check_type as expect
from lookup_matmul.onehot.forms import one_hot
from lookup_matmul.onehot.one_hot_linear import OneHotLinear

COLUMN, GAP, SMALL, HEIGHT = 150.0, 22.0, 12.0, 0.55
LARGEST_IDS = 4


def draw_swap(ids: torch.Tensor, embedding: nn.Embedding, layer: OneHotLinear) -> Drawing:
    """Draw the way of a few ids through an Embedding, and through a OneHotLinear beside it.

    Parameters
    ----------
    ids : torch.Tensor
        Shape (number of ids,), 1 to 4 of them; dtype int32 or int64.
    embedding : torch.nn.Embedding
        At most 12 rows and 12 columns.
    layer : lookup_matmul.OneHotLinear
        Of the same sizes.

    Returns
    -------
    Drawing
        Two columns, ids above and rows below; on the right also the one-hot rows and the Linear
        that a tool finds. The words say whether the outputs are equal.

    Raises
    ------
    TypeError
        As :func:`lookup_matmul.check_inputs` says; also if ``embedding`` is no Embedding or
        ``layer`` no OneHotLinear.
    ValueError
        As there; also if the sizes of the layers differ, or there is nothing or too much to draw.
    IndexError
        As there.

    Examples
    --------
    >>> from torch import nn
    >>> embedding, linear = nn.Embedding(4, 2), nn.Linear(4, 2, bias=False)
    >>> linear.weight = nn.Parameter(embedding.weight.detach().T.contiguous())
    >>> draw_swap(torch.tensor([2, 0]), embedding, OneHotLinear(linear))
    Left: the ids 2, 0 go into Embedding(4, 2), and 2 rows of 2 numbers come out. Right: they \
become 2 one-hot rows of 4 numbers, which go into Linear(4, 2); tools find this layer. \
2 rows of 2 numbers come out, equal to those on the left.
    """
    expect("embedding", embedding, nn.Embedding, "pass the layer that was swapped")
    if not isinstance(layer, OneHotLinear):
        raise TypeError(
            f"layer is a {type(layer).__name__}, expected a OneHotLinear; pass the one that "
            "swap_embeddings made of the Embedding."
        )
    check_inputs(ids, embedding.weight)
    sizes = (layer.num_embeddings, layer.embedding_dim)
    few = ids.dim() == 1 and 1 <= len(ids) <= LARGEST_IDS
    if embedding.weight.shape != sizes or not few:
        raise ValueError(
            f"ids has shape {tuple(ids.shape)}, and the layers hold tables of shape "
            f"{tuple(embedding.weight.shape)} and {sizes}, expected 1 to {LARGEST_IDS} ids and "
            "one shape; draw a slice, and the layer that swap_embeddings made of the Embedding."
        )
    check_sizes(ids, embedding.weight)
    rows, dim = sizes
    picked = ids.tolist()
    left, right = COLUMN / 2, COLUMN * 1.5 + GAP
    box_at = 2.9 + HEIGHT * len(picked)
    ax = canvas(2 * COLUMN + GAP, box_at + 3.4 + HEIGHT * len(picked))
    for middle in (left, right):
        draw_text(ax, middle, 0.4, "ids", QUIET)
        _draw_ids(ax, middle, 0.8, picked)
    draw_text(ax, right, 2.35, f"one-hot rows, {len(ids)} × {rows}", QUIET)
    _draw_rows(ax, right, 2.7, picked, one_hot(ids, rows, dtype=torch.bool))
    names = (f"Embedding({rows}, {dim})", f"Linear({rows}, {dim})")
    for middle, name in zip((left, right), names, strict=True):
        _draw_box(ax, middle, box_at + 0.6, name, found=name is names[1])
        draw_arrow(ax, (middle, box_at + 1.65), (middle, box_at + 2.25))
        draw_text(ax, middle, box_at + 2.55, f"rows, {len(ids)} × {dim}", QUIET)
        every = torch.ones(len(picked), dim, dtype=torch.bool)
        _draw_rows(ax, middle, box_at + 2.9, picked, every)
    draw_arrow(ax, (left, 1.75), (left, box_at + 0.55))
    draw_arrow(ax, (right, 1.7), (right, 2.1))
    draw_arrow(ax, (right, box_at - 0.15), (right, box_at + 0.55))
    equal = torch.equal(embedding(ids), layer(ids))
    draw_text(ax, COLUMN + GAP / 2, box_at + 2.9 + HEIGHT * len(picked) / 2, "=" if equal else "≠")
    outcome = "equal to" if equal else "different from"
    out = f"{len(ids)} rows of {dim} numbers"
    return finish(
        ax,
        f"Left: the ids {', '.join(map(str, picked))} go into {names[0]}, and {out} come out. "
        f"Right: they become {len(ids)} one-hot rows of {rows} numbers, which go into {names[1]}; "
        f"tools find this layer. {out} come out, {outcome} those on the left.",
    )


def _draw_ids(ax: Axes, middle: float, row: float, ids: list[int]) -> None:
    width = 24.0
    for i, token in enumerate(ids):
        fill, stroke = colours_of(token)
        begin = middle + (i - len(ids) / 2) * width
        draw_cell(ax, begin, row, width, str(token), height=0.85, fill=fill, ink=stroke, bold=True)


def _draw_rows(ax: Axes, middle: float, row: float, ids: list[int], filled: torch.Tensor) -> None:
    """Draw a small grid, a line for each id, in its colour where a number is not zero."""
    begin = middle - filled.shape[1] * SMALL / 2
    for i, (token, marks) in enumerate(zip(ids, filled.tolist(), strict=True)):
        for j, mark in enumerate(marks):
            fill, edge = colours_of(token) if mark else ("none", LINE)
            place = begin + j * SMALL, row + i * HEIGHT
            draw_cell(ax, *place, SMALL, height=HEIGHT, fill=fill, edge=edge, zorder=1.0 + mark)


def _draw_box(ax: Axes, middle: float, row: float, name: str, *, found: bool) -> None:
    fill, edge, width = (PICK, MARK, 2.0) if found else ("none", INK, 1.0)
    draw_cell(ax, middle - 60, row, 120, fill=fill, edge=edge, lw=width)
    draw_text(ax, middle, row + 0.5, name, bold=found)
