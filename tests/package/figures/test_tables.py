"""Drawings of tables contain the numbers of their tensors; doctests have their alt texts."""

from itertools import chain

import pytest
import torch
from drawings import assert_valid, bold_texts, elements, text_lines, texts, with_colors
from torch.nn.functional import embedding

from lookup_matmul import figures
from lookup_matmul.figures.sheet import FILLS, STROKES, Sheet, id_colors

torch.manual_seed(123)
WEIGHT, IDS = torch.randn(4, 5), torch.tensor([2, 3, 1])
GRADIENT, LARGE = torch.randn(3, 5), torch.randn(12, 5)
DRAWINGS = {
    "lookup": figures.draw_lookup(IDS, WEIGHT),
    "large lookup": figures.draw_lookup(torch.arange(12), LARGE),
    "product": figures.draw_one_hot_product(2, WEIGHT),
    "equality": figures.draw_equality(IDS, WEIGHT),
    "large equality": figures.draw_equality(torch.tensor([5] * 6), LARGE[:6]),
    "narrow equality": figures.draw_equality(torch.tensor([5]), LARGE[:6, :3]),
    "scatter add": figures.draw_scatter_add(torch.tensor([2, 3, 2]), GRADIENT, 4),
    "large scatter add": figures.draw_scatter_add(torch.arange(11, -1, -1), LARGE, 12),
}


def formatted(row, digits=4):
    """Format numbers as torch prints them, or with fewer digits."""
    return [f"{value:.{digits}f}" for value in row.tolist()]


def numeric_lines(drawing):
    """Return the lines with more than one text."""
    return [line for line in text_lines(drawing.svg) if len(line) > 1]


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_a_drawing_is_valid_and_inside_its_sheet(drawing):
    """The largest drawings, too."""
    assert_valid(drawing)


def test_lookup_has_the_table_and_the_rows_of_the_ids():
    """Picked rows are bold, and an arrow leads from each of them."""
    drawing = DRAWINGS["lookup"]
    table = [[f"row {k}", *formatted(WEIGHT[k])] for k in range(4)]
    output = [[f"id {k}", *formatted(WEIGHT[k])] for k in IDS]
    assert numeric_lines(drawing) == [*table, *output]
    assert sorted(bold_texts(drawing.svg)) == sorted(chain(*table[1:], *output))
    assert len(elements(drawing.svg, "path")) == 3


def test_product_has_each_row_beside_its_factor_and_the_sum():
    """Only one factor is 1, and its row is the sum."""
    factors, notes = ["0  ×", "0  ×", "1  ×", "0  ×"], ["all 0", "all 0", "kept", "all 0"]
    table = [[factors[k], *formatted(WEIGHT[k]), notes[k]] for k in range(4)]
    assert numeric_lines(DRAWINGS["product"]) == [*table, ["sum", *formatted(WEIGHT[2])]]


def test_equality_has_the_table_both_forms_and_one_output():
    """Ids are below their title, beside one-hot rows in which each 1 has the color of its id."""
    drawing = DRAWINGS["equality"]
    inputs = [[str(k), *(str(int(k == j)) for j in range(4))] for k in IDS.tolist()]
    inputs[1] = ["ids", inputs[1][0], "X", *inputs[1][1:]]
    table = [[f"row {k}", *formatted(WEIGHT[k], 2)] for k in range(4)]
    output = [[f"id {k}", *formatted(WEIGHT[k], 2)] for k in IDS]
    assert [x for x in text_lines(drawing.svg) if len(x) > 2] == table + inputs + output
    for k in range(4):  # five cells twice, the id, and the 1; no id picks row 0
        assert with_colors(drawing.svg).count(f"fill: var(--figure-fill-{k},") == (12 if k else 0)
    assert bold_texts(drawing.svg).count("1") == 3 + 1  # the ones and the id
    x = {node.text: node.get("x") for node in elements(drawing.svg, "text")}
    assert x["look up"] == x["2"] == x["3"]


def test_equality_is_not_drawn_if_the_outputs_differ():
    """The product loses the sign of a zero."""
    with pytest.raises(AssertionError, match="not bitwise equal: 1 of 3"):
        figures.draw_equality(torch.tensor([0]), torch.tensor([[-0.0, 1, 2], [1, 1, 1]]))


@pytest.mark.parametrize("padding", [None, 2])
def test_scatter_add_has_the_gradient_of_autograd(padding):
    """Rows of the padding id are left out."""
    ids, table = torch.tensor([2, 3, 2]), torch.zeros(4, 5, requires_grad=True)
    embedding(ids, table, padding_idx=padding).backward(GRADIENT)
    drawing = figures.draw_scatter_add(ids, GRADIENT, 4, padding_idx=padding)
    inputs = [[f"id {k}", *formatted(row)] for k, row in zip(ids, GRADIENT, strict=True)]
    sums = [[f"row {k}", *formatted(table.grad[k])] for k in range(4)]
    assert numeric_lines(drawing) == inputs + sums
    assert drawing.alt.count("is left out, as padding") == ids.tolist().count(padding)
    assert len(elements(drawing.svg, "path")) == 3 - ids.tolist().count(padding)
    assert bold_texts(drawing.svg).count("row 2") == (padding is None)


@pytest.mark.parametrize(
    ("value", "text"),
    [(12345.678, "1e+04"), (-123.4567, "-123.5"), (99.5, "99.5000"), (float("nan"), "nan"), (-0.0, "-0.0000")],
)  # fmt: skip
def test_every_number_fits_its_cell(value, text):
    """Four decimals if there is room, else fewer digits."""
    assert text in texts(figures.draw_lookup(torch.tensor([0]), torch.tensor([[value]])).svg)


def test_wide_outlines_cover_narrow_ones_and_colors_repeat():
    """The order in which shapes were drawn does not matter; there are eight colors of ids."""
    sheet = Sheet(100)
    sheet.cell(0, 0, 50, stroke_width=2)
    sheet.cell(50, 0, 50)
    cells = elements(sheet.to_drawing("Two cells.").svg, "rect")
    assert [cell.get("x") for cell in cells] == ["50", "0"]
    assert id_colors(11) == id_colors(3) == (FILLS[3], STROKES[3])
