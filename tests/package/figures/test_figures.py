"""The drawings are made from the tensors, scale, follow the page's colours and can be read aloud."""

import re
from xml.etree import ElementTree

import pytest
import torch
from drawings import assert_colours_can_be_replaced, assert_told, bold, texts

from lookup_matmul.figures import (
    draw_blocks,
    draw_curves,
    draw_heat_map,
    draw_lookup,
    draw_one_hot_product,
    draw_sum_of_rows,
)
from lookup_matmul.figures.palette import COLOURS

torch.manual_seed(123)
WEIGHT = torch.randn(4, 5)
DRAWINGS = {
    "one id": draw_lookup(torch.tensor([1]), WEIGHT),
    "batch": draw_lookup(torch.tensor([2, 3, 1]), WEIGHT),
    "product": draw_one_hot_product(2, WEIGHT),
    "sum": draw_sum_of_rows(torch.tensor([3, 1, 3]), torch.tensor([1, 2, 3]), WEIGHT),
}
PLOTS = {
    "curves": draw_curves(
        [1, 10, 100],
        {"lookup": [1.0, 2.0, 4.0], "product": [3.0, 9.0, 27.0]},
        x_label="rows",
        y_label="time [s]",
        alt="The product grows faster.",
        log_x=True,
        log_y=True,
    ),
    "heat map": draw_heat_map(
        torch.eye(3), x_label="step", y_label="row", alt="Step k moves row k."
    ),
}


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_numbers_come_from_the_tensor(drawing):
    """Every number of the table stands in the picture, as text."""
    drawn = texts(drawing.svg)
    for value in WEIGHT.flatten().tolist():
        assert f"{value:.4f}" in drawn


def test_lookup_draws_each_picked_row_twice():
    """Once in the table, once in the result, and an arrow between."""
    drawn = texts(DRAWINGS["batch"].svg)
    for row in range(4):
        assert drawn.count(f"{WEIGHT[row, 0]:.4f}") == (2 if row else 1)
    assert [text for text in drawn if text.startswith("id ")] == ["id 2", "id 3", "id 1"]
    heavy = bold(DRAWINGS["batch"].svg)
    assert [text for text in heavy if text.startswith("row")] == ["row 1", "row 2", "row 3"]


def test_product_draws_the_factors_in_order():
    """A factor for every row, one of them a one, and the sum below."""
    drawn = texts(DRAWINGS["product"].svg)
    assert [text[0] for text in drawn if text.endswith("×")] == ["0", "0", "1", "0"]
    assert drawn.count(f"{WEIGHT[2, 4]:.4f}") == 2


def test_sum_draws_one_factor_for_each_picked_row():
    """Entries of one column are added, rows without an entry have no factor."""
    drawn = texts(DRAWINGS["sum"].svg)
    assert [text for text in drawn if text.endswith("×")] == ["2  ×", "4  ×"]
    for value in (2 * WEIGHT[1] + 4 * WEIGHT[3]).tolist():
        assert f"{value:.4f}" in drawn
    heavy = bold(DRAWINGS["sum"].svg)
    assert f"{WEIGHT[1, 0]:.4f}" in heavy
    assert f"{WEIGHT[0, 0]:.4f}" not in heavy


@pytest.mark.parametrize(
    ("entries", "rows", "dim"), [(0, 4, 5), (13, 4, 5), (1, 13, 5), (1, 4, 13)]
)
def test_sum_refuses_what_nobody_could_read(entries, rows, dim):
    """Also a row with nothing in it, which would show nothing."""
    ids = torch.zeros(entries, dtype=torch.int64)
    with pytest.raises(ValueError, match="1 to 12 ids and rows, 1 to 12 columns"):
        draw_sum_of_rows(ids, torch.ones(entries), torch.ones(rows, dim))


def test_words_tell_the_same_story():
    """The label names the ids, their rows, the numbers and the count of zeros."""
    row = ", ".join(f"{value:.4f}" for value in WEIGHT[2].tolist())
    assert f"Id 2 picks row 2: ({row})" in DRAWINGS["batch"].alt
    assert "The one-hot row of id 2 is (0, 0, 1, 0)." in DRAWINGS["product"].alt
    assert f"The sum is ({row}). 15 of 20 multiplications are by zero." in DRAWINGS["product"].alt
    assert (
        f"Row 1 of the table is multiplied by 2: ({', '.join(f'{v:.4f}' for v in WEIGHT[1])})."
        in (DRAWINGS["sum"].alt)
    )
    for drawing in DRAWINGS.values():
        assert_told(drawing)
        assert repr(drawing) == drawing.alt


@pytest.mark.parametrize("drawing", (DRAWINGS | PLOTS).values(), ids=DRAWINGS | PLOTS)
def test_every_colour_can_be_replaced_by_the_page(drawing):
    """No colour is fixed: each is a property with a fallback."""
    assert_colours_can_be_replaced(drawing)
    assert all(name.startswith("--figure-") for name in COLOURS)


@pytest.mark.parametrize("drawing", (DRAWINGS | PLOTS).values(), ids=DRAWINGS | PLOTS)
def test_every_drawing_has_a_light_plate_where_no_page_takes_it_away(drawing):
    """So that a dark notebook, which sets no property, shows dark ink on white."""
    assert "; background: var(--figure-plate, #ffffff)" in drawing.svg.partition(">")[0]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (12345.678, "1e+04"),
        (-123.4567, "-123.5"),
        (99.5, "99.5000"),
        (float("nan"), "nan"),
        (-0.0, "-0.0000"),
    ],
)
def test_every_number_fits_its_cell(value, shown):
    """Four decimals where there is room, fewer digits where there is not."""
    assert shown in texts(draw_lookup(torch.tensor([0]), torch.tensor([[value]])).svg)


def test_plots_name_their_axes_and_curves():
    """Labels and legend are texts of the picture; each curve differs in its dash."""
    drawn = texts(PLOTS["curves"].svg)
    assert {"rows", "time [s]", "lookup", "product"} <= set(drawn)
    assert "stroke-dasharray" in PLOTS["curves"].svg
    assert {"step", "row"} <= set(texts(PLOTS["heat map"].svg))


def test_heat_map_marks_the_cells_above_the_threshold():
    """A dot for each, none for the others."""
    grid = torch.tensor([[0.0, 1.0, 2.0]])
    dots = [
        draw_heat_map(grid, x_label="x", y_label="y", alt="a", threshold=threshold).svg.count(
            "<use"
        )
        for threshold in (5.0, 1.0, 0.0)
    ]
    assert [count - dots[0] for count in dots] == [0, 1, 2]


def test_heat_map_puts_its_dots_where_it_is_told():
    """Two dots that have nothing to do with the values."""
    grid, told = torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([[True, True, False]])
    without, dotted = (
        draw_heat_map(grid, x_label="x", y_label="y", alt="a", dots=dots).svg.count("<use")
        for dots in (torch.zeros_like(told), told)
    )
    assert dotted - without == 2


def test_heat_map_leaves_blank_what_is_not_known_and_takes_labels():
    """No shade and no dot for a NaN; labels are texts of the picture."""
    known, unknown = (
        draw_heat_map(torch.tensor([[1.0, last]]), x_label="x", y_label="y", alt="a", **labels).svg
        for last, labels in (
            (1.0, {}),
            (float("nan"), {"x_ticks": ["1,024 ids", "9"], "y_ticks": ["V = 16"]}),
        )
    )
    assert known.count("<path") > unknown.count("<path")
    assert {"1,024 ids", "V = 16"} <= set(texts(unknown))


def test_several_drawings_fit_on_one_page():
    """Their ids do not collide, none styles the page, and drawing again gives the same text."""
    ids = [re.findall(r'\bid="([^"]+)"', drawing.svg) for drawing in DRAWINGS.values()]
    assert len({name for names in ids for name in names}) == sum(map(len, ids)) > 0
    for drawing in DRAWINGS.values():
        root = ElementTree.fromstring(drawing.svg)
        assert not [node for node in root.iter() if node.tag.endswith("}style")]
        assert root.get("viewBox")
        assert root.get("width") is None
    assert draw_lookup(torch.tensor([1]), WEIGHT) == DRAWINGS["one id"]


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: draw_lookup(torch.tensor([[1]]), WEIGHT), ValueError, "ids has shape (1, 1) and weight (4, 5), expected (n,)"),
        (lambda: draw_lookup(torch.arange(0), WEIGHT), ValueError, "1 to 12 ids and rows"),
        (lambda: draw_one_hot_product(0, torch.zeros(13, 2)), ValueError, "draw a slice"),
        (lambda: draw_lookup(torch.tensor([4]), WEIGHT), IndexError, "ids[0] is 4"),
        (lambda: draw_one_hot_product(-1, WEIGHT), IndexError, "ids[0] is -1"),
        (lambda: draw_one_hot_product("1", WEIGHT), TypeError, "token is '1' of type str, expected an int"),
        (lambda: draw_one_hot_product(1, WEIGHT.tolist()), TypeError, "weight is [["),
        (lambda: draw_heat_map([[1.0]], x_label="", y_label="", alt=""), TypeError, "values has type builtins.list, expected torch.Tensor"),
        (lambda: draw_heat_map(torch.ones(1, 1), x_label="", y_label="", alt="", dots=[[True]]), TypeError, "dots has type builtins.list, expected torch.Tensor"),
        (lambda: draw_curves([1], {}, x_label="", y_label="", alt=""), ValueError, "curves has 0 entries"),
        (lambda: draw_curves([1], {"a": [1, 2]}, x_label="", y_label="", alt=""), ValueError, "curve 'a' has 2 values, expected 1"),
        (lambda: draw_heat_map(torch.ones(25, 1), x_label="", y_label="", alt=""), ValueError, "values has shape (25, 1)"),
        (lambda: draw_heat_map(-torch.ones(1, 1), x_label="", y_label="", alt=""), ValueError, "negative or infinite"),
        (lambda: draw_heat_map(torch.ones(1, 2), x_label="", y_label="", alt="", x_ticks=["a"]), ValueError, "x_ticks has 1 labels, expected 2"),
        (lambda: draw_heat_map(torch.ones(1, 2), x_label="", y_label="", alt="", dots=torch.ones(2, 1)), ValueError, "dots has shape (2, 1), expected (1, 2)"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    """Bad ids and tables too large to read get a message instead of a picture."""
    with pytest.raises(error, match=re.escape(message)):
        draw()


def test_lines_end_before_the_texts_of_a_plot():
    """Each has a halo in the colour of its ground; a text in a cell has the cell's own."""
    halo = r"<text[^>]*paint-order: stroke"
    plot, cells = PLOTS["curves"], DRAWINGS["one id"]
    assert len(re.findall(halo, plot.svg)) == len(texts(plot.svg))
    assert not re.findall(halo, cells.svg)


@pytest.mark.parametrize("rows", [2, 12])
def test_a_drawing_ends_just_below_its_lowest_cell(rows):
    """So that every caption is as near."""
    svg = draw_blocks({"a": [""] * rows}, torch.tensor([1]), torch.zeros(rows, 2)).svg
    height = float(ElementTree.fromstring(svg).get("viewBox", "").split()[3])
    _, _, cells = svg.partition("patch_2")  # the first patch is the sheet
    lowest = max(float(y) for y in re.findall(r"[ML] [\d.]+ ([\d.]+)", cells))
    assert lowest + 7 < height < lowest + 9


@pytest.mark.parametrize(
    ("y", "ticks"),
    [((1e-5, 10.0), "10⁻⁵ 10⁻¹ 1 10"), ((30.0, 500.0), "100 200"), ((0.01, 1e3), "0.01 1 1,000")],
)
def test_a_logarithmic_axis_has_one_text_for_each_number(y, ticks):
    """Whole numbers where they fit, else powers, all of one kind."""
    svg = draw_curves([0, 1], {"c": y}, x_label="x", y_label="y", alt="", log_y=True).svg
    assert set(ticks.split()) <= set(texts(svg))
    assert "tspan" not in svg
