"""The drawing of a swap says what goes in, what passes and whether the outputs are equal."""

import pytest
import torch
from drawings import assert_colours_can_be_replaced, bold, texts, width_of
from torch import nn

from lookup_matmul import OneHotLinear, to_linear
from lookup_matmul.figures import draw_swap

IDS = torch.tensor([2, 3, 1])


def layers(rows=12, dim=4):
    """Give an Embedding and the layer for its place."""
    embedding = nn.Embedding(rows, dim)
    return embedding, OneHotLinear(to_linear(embedding, share=False))


def test_both_ways_are_named_and_the_linear_stands_out():
    """Each id on both sides, the sizes, and an equals sign that was earned."""
    drawing = draw_swap(IDS, *layers())
    drawn = texts(drawing.svg)
    assert [text for text in drawn if text in "123"] == ["2", "3", "1"] * 2
    assert {"Embedding(12, 4)", "Linear(12, 4)", "one-hot rows, 3 × 12", "="} <= set(drawn)
    assert "Linear(12, 4)" in bold(drawing.svg)
    assert "Embedding(12, 4)" not in bold(drawing.svg)
    assert width_of(drawing) <= 330
    assert_colours_can_be_replaced(drawing)


def test_outputs_that_differ_are_not_called_equal():
    """Another table, another sign, in the drawing and in the words."""
    drawing = draw_swap(IDS, layers()[0], layers()[1])
    assert "≠" in texts(drawing.svg)
    assert drawing.alt.endswith("different from those on the left.")


@pytest.mark.parametrize(
    ("ids", "pair"),
    [
        (torch.arange(5), layers()),
        (IDS, (layers()[0], layers(11)[1])),
        (IDS, layers(13)),
        (torch.tensor([[1]]), layers()),
        (torch.tensor([], dtype=torch.int64), layers()),
    ],
)
def test_what_cannot_be_drawn_is_refused(ids, pair):
    """Too many ids or rows, or tables of two shapes."""
    with pytest.raises(ValueError, match="draw a slice"):
        draw_swap(ids, *pair)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((IDS.float(), *layers()), "ids has dtype torch.float32"),
        ((IDS, layers()[1], layers()[1]), "embedding has type lookup_matmul.onehot.one_hot_linear.OneHotLinear, expected torch.nn.Embedding"),
        ((IDS, layers()[0], layers()[1].linear), "layer is a Linear, expected a OneHotLinear; pass the one"),
    ],
)  # fmt: skip
def test_other_layers_and_ids_are_refused(given, message):
    """By name."""
    with pytest.raises(TypeError, match=message):
        draw_swap(*given)
