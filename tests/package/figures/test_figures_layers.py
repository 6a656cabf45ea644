"""The drawings of memory, of names and of the backward pass say what the tensors are."""

import re

import pytest
import torch
from drawings import assert_colours_can_be_replaced, bold, texts, width_of
from torch import nn

from lookup_matmul.figures import draw_names, draw_scatter_add, draw_strips
from lookup_matmul.figures.palette import colours_of

TABLE = torch.tensor([[0.1, 0.2, 0.3], [1.1, 1.2, 1.3], [2.1, 2.2, 2.3], [3.1, 3.2, 3.3]])
IDS, G = torch.tensor([2, 3, 2]), torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def strip(svg: str) -> list[str]:
    """Give the numbers of a drawing in the order in which they were drawn."""
    return [text for text in texts(svg) if re.fullmatch(r"\d\.\d", text)]


def test_strips_show_the_order_of_the_storage():
    """Row after row for the Embedding, column after column of it for the Linear."""
    numbers = strip(draw_strips(TABLE, TABLE.T.contiguous()).svg)
    rows, columns = ([f"{x:.1f}" for x in t.flatten()] for t in (TABLE, TABLE.T))
    assert numbers == [*rows, *columns, *rows, *columns]


def test_strips_of_a_view_show_one_memory():
    """The Linear's memory is the Embedding's, and the other way round, as the strides say."""
    assert strip(draw_strips(TABLE, TABLE.T).svg)[24:] == [f"{x:.1f}" for x in TABLE.flatten()]
    transposed = TABLE.T.contiguous()
    drawing = draw_strips(transposed.T, transposed)
    assert strip(drawing.svg)[24:] == [f"{x:.1f}" for x in transposed.flatten()]
    assert "One memory holds both" in drawing.alt


def test_names_count_parameters_and_memories():
    """A tie, two Parameters on one memory, and two on two."""
    first = nn.Parameter(TABLE.clone())
    seconds = [first, nn.Parameter(first.detach()), nn.Parameter(TABLE.clone())]
    drawings = [draw_names({"embedding.weight": first, "head.weight": p}) for p in seconds]
    assert [drawing.alt.partition(".")[0] for drawing in drawings] == [
        "2 names, 1 Parameter, 1 memory",
        "2 names, 2 Parameters, 1 memory",
        "2 names, 2 Parameters, 2 memories",
    ]
    for drawing, boxes in zip(drawings, (1, 2, 2), strict=True):
        assert sum(text.startswith("Parameter ") for text in texts(drawing.svg)) == boxes


def test_scatter_add_sums_the_rows_of_one_id():
    """Each arriving row once, the sums below, bold where an id was used."""
    drawing = draw_scatter_add(IDS, G, 4)
    drawn = texts(drawing.svg)
    assert [text for text in drawn if text.startswith("id ")] == ["id 2", "id 3", "id 2"]
    assert {"6.0000", "8.0000"} <= set(drawn)
    heavy = bold(drawing.svg)
    assert [text for text in heavy if text.startswith("row")] == ["row 2", "row 3"]
    assert "row 0 is (0.0000, 0.0000)" in drawing.alt
    assert "row 2 is (6.0000, 8.0000)" in drawing.alt


def test_scatter_add_leaves_padding_out():
    """No arrow in its colour, and no sum."""
    drawing = draw_scatter_add(IDS, G, 4, padding_idx=2)
    assert draw_scatter_add(IDS, G, 4, padding_idx=-2).alt == drawing.alt
    assert "is left out, as padding" in drawing.alt
    assert "row 2 is (0.0000, 0.0000)" in drawing.alt
    assert colours_of(2)[1] not in drawing.svg
    assert colours_of(3)[1] in drawing.svg


@pytest.mark.parametrize(
    "drawing",
    [
        draw_strips(TABLE, TABLE.T),
        draw_names({"weight": nn.Parameter(TABLE)}),
        draw_scatter_add(IDS, G, 4),
    ],
    ids=["strips", "names", "scatter"],
)
def test_every_colour_can_be_replaced_by_the_page(drawing):
    """No colour is fixed, and the drawing fits a phone."""
    assert_colours_can_be_replaced(drawing)
    assert width_of(drawing) <= 330


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: draw_strips(TABLE, TABLE), ValueError, "expected the same numbers transposed"),
        (lambda: draw_strips(torch.zeros(4, 5), torch.zeros(5, 4)), ValueError, "the weight has 20 numbers"),
        (lambda: draw_strips(TABLE[:, ::2], TABLE[:, ::2].T), ValueError, "expected a memory without gaps"),
        (lambda: draw_names({}), ValueError, "weights has 0 names"),
        (lambda: draw_names({"w": nn.Parameter(torch.zeros(9, 2))}), ValueError, "at most 8 rows"),
        (lambda: draw_scatter_add(IDS, G[:2], 4), ValueError, "ids has shape (3,) and arriving (2, 2)"),
        (lambda: draw_scatter_add(IDS, G, 13), ValueError, "draw a slice"),
        (lambda: draw_scatter_add(IDS, G, 3), IndexError, "ids[1] is 3"),
        (lambda: draw_scatter_add(IDS, G, 4, padding_idx=9), ValueError, "padding_idx is 9, but a table of 4 rows takes -4 to 3"),
        (lambda: draw_scatter_add(IDS, G, 4, padding_idx="0"), TypeError, "padding_idx is '0' of type str, expected an int"),
        (lambda: draw_scatter_add(IDS, G.tolist(), 4), TypeError, "arriving has type builtins.list, expected torch.Tensor; wrap it"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    """Tables that do not belong together or are too large get a message instead of a picture."""
    with pytest.raises(error, match=re.escape(message)):
        draw()
