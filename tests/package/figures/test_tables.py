"""Drawings of tables show the numbers of their tensors, and tell what they show."""

from itertools import chain

import pytest
import torch
from drawings import assert_inside, assert_sound, bold, elements, heights, lines, texts
from torch.nn.functional import embedding

from lookup_matmul.figures import (
    draw_bits,
    draw_blocks,
    draw_equality,
    draw_lookup,
    draw_one_hot_product,
    draw_scatter_add,
)

torch.manual_seed(123)
WEIGHT, IDS = torch.randn(4, 5), torch.tensor([2, 3, 1])
ARRIVING = torch.randn(3, 5)
NUMBER = WEIGHT[3, 0]
CUT = (NUMBER.view(torch.int32) & ~0x1FFF).view(torch.float32)
FORMATS = {"float32": (NUMBER, 23), "TF32": (CUT, 10), "bfloat16": (NUMBER.bfloat16(), 7)}
BLOCKS = {"color": ["blue", "red"], "size": ["large", "small"]}
LARGE = torch.randn(12, 5)
DRAWINGS = {
    "lookup": draw_lookup(IDS, WEIGHT),
    "large lookup": draw_lookup(torch.arange(12), LARGE),
    "product": draw_one_hot_product(2, WEIGHT),
    "equality": draw_equality(IDS, WEIGHT),
    "large equality": draw_equality(torch.tensor([5] * 6), LARGE[:6]),
    "narrow equality": draw_equality(torch.tensor([5]), LARGE[:6, :3]),
    "scatter add": draw_scatter_add(torch.tensor([2, 3, 2]), ARRIVING, 4),
    "large scatter add": draw_scatter_add(torch.arange(11, -1, -1), LARGE, 12),
    "blocks": draw_blocks(BLOCKS, torch.tensor([1, 2]), WEIGHT[:, :4]),
    "bits": draw_bits(FORMATS),
}


def written(row, digits=4):
    """Write numbers as torch prints them, or with fewer digits."""
    return [f"{value:.{digits}f}" for value in row.tolist()]


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_a_drawing_is_sound_and_all_of_it_is_on_its_sheet(drawing):
    """Told in words, narrow, in the page's colors; the largest of a kind too."""
    assert_sound(drawing)
    assert_inside(drawing)


def test_lookup_shows_the_table_and_the_rows_of_the_ids():
    """Row for row; what is picked is bold, and an arrow leads from each picked row."""
    drawing = DRAWINGS["lookup"]
    table = [[f"row {k}", *written(WEIGHT[k])] for k in range(4)]
    given = [[f"id {k}", *written(row)] for k, row in zip(IDS, embedding(IDS, WEIGHT), strict=True)]
    assert [line for line in lines(drawing.svg) if len(line) > 1] == [*table, *given]
    assert sorted(bold(drawing.svg)) == sorted(chain(*table[1:], *given))
    assert len(elements(drawing.svg, "path")) == 3
    for k in IDS.tolist():
        assert f"Id {k} picks row {k}: ({', '.join(written(WEIGHT[k]))})" in drawing.alt


def test_product_shows_each_row_beside_its_factor_and_the_sum():
    """One factor is a one, and its row is the sum."""
    drawing = DRAWINGS["product"]
    shown = [line for line in lines(drawing.svg) if len(line) > 1]
    notes = ["all 0", "all 0", "kept", "all 0"]
    factors = ["0  ×", "0  ×", "1  ×", "0  ×"]
    table = [[factors[k], *written(WEIGHT[k]), notes[k]] for k in range(4)]
    assert shown == [*table, ["sum", *written(WEIGHT[2])]]
    assert "The one-hot row of id 2 is (0, 0, 1, 0)." in drawing.alt
    row = ", ".join(written(WEIGHT[2]))
    assert f"The sum is ({row}). 15 of 20 multiplications are by zero." in drawing.alt


def test_equality_shows_the_table_both_forms_and_one_output():
    """The one-hot rows beside their ids, two decimals, and the ones in the colors of the ids."""
    drawing = DRAWINGS["equality"]
    encoding = [[str(int(k == j)) for j in range(4)] for k in IDS]
    shown = [line for line in lines(drawing.svg) if len(line) > 2]
    assert shown[:4] == [[f"row {k}", *written(WEIGHT[k], 2)] for k in range(4)]
    between = [[str(k), *bits] for k, bits in zip(IDS.tolist(), encoding, strict=True)]
    between[1] = ["ids", between[1][0], "X", *between[1][1:]]
    assert shown[4:7] == between
    assert shown[7:] == [[f"id {k}", *written(WEIGHT[k], 2)] for k in IDS]
    for k in range(4):  # five cells twice, the id, and the one; row 0 is nobody's
        assert drawing.svg.count(f"fill: var(--figure-fill-{k},") == (12 if k else 0)
    assert bold(drawing.svg).count("1") == 3 + 1  # the ones and the id
    assert "0" not in bold(drawing.svg)
    assert "id 3 becomes the one-hot row (0, 0, 0, 1)" in drawing.alt
    assert f"Both give: ({', '.join(written(WEIGHT[2], 2))})" in drawing.alt


def test_equality_is_not_drawn_where_there_is_none():
    """A product loses the sign of a zero, and the drawing says that both give the same."""
    with pytest.raises(AssertionError, match="not bitwise equal: 1 of 3"):
        draw_equality(torch.tensor([0]), torch.tensor([[-0.0, 1, 2], [1, 1, 1]]))


@pytest.mark.parametrize("padding", [None, 2])
def test_scatter_add_shows_the_gradient_that_autograd_gives(padding):
    """What arrives above, the sums below; rows of the padding id are left out."""
    ids, table = torch.tensor([2, 3, 2]), torch.zeros(4, 5, requires_grad=True)
    embedding(ids, table, padding_idx=padding).backward(ARRIVING)
    drawing = draw_scatter_add(ids, ARRIVING, 4, padding_idx=padding)
    shown = [line for line in lines(drawing.svg) if len(line) > 1]
    assert shown[:3] == [[f"id {k}", *written(row)] for k, row in zip(ids, ARRIVING, strict=True)]
    assert shown[3:] == [[f"row {k}", *written(table.grad[k])] for k in range(4)]
    rows = {text.text: float(text.get("y", "")) for text in elements(drawing.svg, "text")}
    tips = [heights(arrow)[1] for arrow in elements(drawing.svg, "path")]
    assert len(tips) == (3 if padding is None else 1)
    for k, tip in zip([k for k in ids.tolist() if k != padding], tips, strict=True):
        assert abs(tip - rows[f"row {k}"]) < 13  # half a row
    assert drawing.alt.count("is left out, as padding") == (0 if padding is None else 2)
    assert f"row 2 is ({', '.join(written(table.grad[2]))})" in drawing.alt


def test_blocks_show_each_category_beside_its_row_and_the_sum_of_the_picked():
    """A block says at which row it begins."""
    drawing, table = DRAWINGS["blocks"], WEIGHT[:, :4]
    rows = [[name, str(k), *written(table[k], 2)] for k, name in enumerate(chain(*BLOCKS.values()))]
    total = table[1] + table[2]
    first, second = ["color: rows from 0"], ["size: rows from 2"]
    assert lines(drawing.svg) == [first, *rows[:2], second, *rows[2:], ["sum", *written(total, 2)]]
    assert "The record picks row 1, red, and row 2, large" in drawing.alt
    painted = [drawing.svg.count(f"fill: var(--figure-fill-{k},") for k in range(8)]
    assert painted == [0, 0, 0, 0, 4, 4, 0, 0]  # by blocks, in colors that no id has here


def test_bits_are_those_in_memory():
    """As many digits as each format has, in order, and a dashed place for each other one."""
    drawing = DRAWINGS["bits"]
    digits = "".join(text for text in texts(drawing.svg) if text in "01")
    kept = [(NUMBER, 32), (CUT, 19), (NUMBER.bfloat16(), 16)]
    held = [f"{x.float().view(torch.int32).item() & 0xFFFFFFFF:032b}"[:size] for x, size in kept]
    assert digits == "".join(held)
    assert drawing.svg.count("stroke-dasharray: 1 2") == 13 + 16
    assert drawing.svg.count("fill: var(--figure-fill-0,") == 23 + 10 + 7  # of the mantissa
    assert {"-2.83999395", "-2.83984375", "-2.84375", "sign", "exponent"} <= {*texts(drawing.svg)}
    for (x, _), bits in zip(kept, held, strict=True):
        said = f"{x.item():.9g}: sign {bits[0]}, exponent {bits[1:9]}, mantissa {bits[9:]}"
        assert said in drawing.alt


@pytest.mark.parametrize(
    ("value", "shown"),
    [(12345.678, "1e+04"), (-123.4567, "-123.5"), (99.5, "99.5000"), (float("nan"), "nan"), (-0.0, "-0.0000")],
)  # fmt: skip
def test_every_number_fits_its_cell(value, shown):
    """Four decimals where there is room, fewer digits where there is not."""
    assert shown in texts(draw_lookup(torch.tensor([0]), torch.tensor([[value]])).svg)


def test_bits_that_a_format_has_not_are_refused():
    """They would be left out of the drawing in silence."""
    with pytest.raises(ValueError, match="expected none set after the first 10"):
        draw_bits({"a": (torch.tensor(0.1), 10)})
