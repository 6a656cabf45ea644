"""A few ids on their way through an Embedding, and through the OneHotLinear that replaces it."""

from collections.abc import Sequence

import torch
from torch import nn

from lookup_matmul.equality import assert_bitwise_equal
from lookup_matmul.figures.sheet import INK, MARK, PICK, QUIET, Drawing, Sheet, id_colors
from lookup_matmul.onehot.forms import one_hot
from lookup_matmul.onehot.one_hot_linear import OneHotLinear

LEFT, RIGHT = 75, 247  # the middle of each half


def draw_swap(ids: torch.Tensor, embedding: nn.Embedding, layer: OneHotLinear) -> Drawing:
    """Draw the shapes of inputs and outputs of both layers side by side.

    Raise AssertionError if the outputs are not bitwise equal.
    """
    assert_bitwise_equal(layer(ids), embedding(ids))
    rows, dim, picked = layer.num_embeddings, layer.embedding_dim, ids.tolist()
    count, height = len(picked), 0.55 * len(picked)
    layer_top, output_top = 3.5 + height, 5.8 + height
    sheet = Sheet(322)

    def draw_grid(middle: float, top: float, filled: Sequence[Sequence[int]]) -> None:
        for i, (token, bits) in enumerate(zip(picked, filled, strict=True)):
            for j, bit in enumerate(bits):
                position = (middle + (j - len(bits) / 2) * 12, top + i * 0.55, 12)
                colors, stroke_width = (id_colors(token), 1.0) if bit else (None, 0.8)
                sheet.cell(*position, height=0.55, colors=colors, stroke_width=stroke_width)

    names = f"Embedding({rows}, {dim})", f"Linear({rows}, {dim})"
    for x, name in zip((LEFT, RIGHT), names, strict=True):
        sheet.text(x, 0.4, "ids", QUIET)
        for i, token in enumerate(picked):
            fill, color = id_colors(token)
            cell = (x + (i - count / 2) * 24, 0.8, 24, str(token), color, True)
            sheet.cell(*cell, height=0.85, fill=fill)
        replaced = x == RIGHT
        colors, stroke_width = ((PICK, MARK), 2.0) if replaced else (("none", INK), 1.0)
        box = (x - 60, layer_top, 120, name, INK, replaced)
        sheet.cell(*box, colors=colors, stroke_width=stroke_width)
        sheet.arrow((x, layer_top + 1.05), (x, layer_top + 1.65))
        sheet.text(x, layer_top + 1.95, f"rows, {count} × {dim}", QUIET)
        draw_grid(x, output_top, [[1] * dim] * count)
    sheet.text(RIGHT, 2.35, f"one-hot rows, {count} × {rows}", QUIET)
    draw_grid(RIGHT, 2.7, one_hot(ids, rows, dtype=torch.int64).tolist())
    end = layer_top - 0.05
    for x, start, stop in ((LEFT, 1.7, end), (RIGHT, 1.7, 2.1), (RIGHT, end - 0.7, end)):
        sheet.arrow((x, start), (x, stop))
    sheet.text((LEFT + RIGHT) / 2, output_top + height / 2, "=")
    output = f"{count} rows of {dim} numbers"
    return sheet.to_drawing(
        f"Left: the ids {', '.join(map(str, picked))} go into {names[0]}, and {output} come out. "
        f"Right: they become {count} one-hot rows of {rows} numbers, which go into {names[1]}; "
        f"tools find this layer. {output} come out, equal to those on the left."
    )
