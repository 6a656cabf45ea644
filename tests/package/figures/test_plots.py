"""Plots place the numbers that they are given, and label them."""

import math
import re

import numpy as np
import pytest
from drawings import (
    assert_valid,
    elements,
    markers,
    near,
    text_boxes,
    text_of,
    texts,
    values_at,
    with_colors,
)
from layout import assert_apart

from lookup_matmul.figures import draw_curves, draw_intervals, draw_parts
from lookup_matmul.figures.axes import SERIES_STYLES
from lookup_matmul.figures.sheet import CSS_VALUES

LABELS = {"x_label": "ids / 0.98765", "y_label": "time [µs]", "alt": "an alt text"}
X_LABEL = {"x_label": "time [µs]", "alt": "an alt text"}
SMALL = {"lookup": (1.0, 2.0, 4.0), "product": (3.0, 3.0, 3.0)}
GROUPS = {"small": SMALL, "large": {"lookup": (5.0, 6.0, 7.0)}}
LIMIT = {"limit": ("bound", 14.0)}
BARS = {"first": {"lookup": 2.0, "sum": 1.0}, "second": {"sum": 2.0, "a": 1.0, "b": 1.0, "c": 1.0}}
# Name: a drawing, and texts in it.
DRAWINGS = {
    "curves": (draw_curves([1, 10, 100], {"lookup": [1, 2, 4], "product": [3, 9, 27]}, **LABELS, log_x=True, log_y=True), {"lookup", "product", "ids / 0.98765", "time [µs]", "1", "10", "100"}),
    "intervals": (draw_intervals(GROUPS, log_x=True, **LIMIT, **X_LABEL), {"small", "large", "lookup", "product", "bound", "time [µs]"}),
    "parts": (draw_parts(BARS, **X_LABEL), {"first: 3", "second: 5", "lookup", "sum", "a", "b", "c", "time [µs]"}),
}  # fmt: skip


def straight_lines(svg, width):
    """Return x and y of both ends of the straight lines with a width, in document order."""
    ends = r'd="M ([\d.]+) ([\d.]+)\s+L ([\d.]+) ([\d.]+)\s*"[^>]*stroke-width: '
    return [tuple(map(float, line)) for line in re.findall(ends + rf"{width}[;\"]", svg)]


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_plot_is_valid_and_labels_what_it_contains(name):
    """Every text has an outline, which interrupts lines behind it; only positions are shortened."""
    drawing, expected = DRAWINGS[name]
    assert_valid(drawing)
    assert not re.search(r'[xy]="\d+\.\d{3}', drawing.svg)
    assert expected <= {text.strip() for text in texts(drawing.svg)}
    assert all("paint-order: stroke" in x.get("style", "") for x in elements(drawing.svg, "text"))
    assert_apart(text_boxes(drawing))


def test_ids_of_two_plots_on_a_page_do_not_collide():
    """The same call returns the same drawing."""
    first, second, repeated = (draw_parts(BARS, x_label="time", alt=alt) for alt in "abb")
    first_ids, second_ids = (set(re.findall(r'\bid="([^"]+)"', x.svg)) for x in (first, second))
    assert not first_ids & second_ids
    assert repeated == second


@pytest.mark.parametrize("log", [False, True])
def test_curves_are_at_their_values_and_the_legend_names_them(log):
    """Their spreads extend from low to high."""
    spreads = [(1.0, 3.0, 9.0), (9.0, 9.0, 9.0), (27.0, 90.0, 270.0)]
    curves = {"lookup": [1.0, 2.0, 4.0], "product": spreads}
    svg = draw_curves([1, 10, 100], curves, **LABELS, log_x=log, log_y=log).svg
    x, y = markers(svg)[:-2].T  # the last two are in the legend
    assert values_at(x, svg, 0, log=log) == near([1, 10, 100] * 2)
    assert values_at(y, svg, 1, log=log) == near([1, 2, 4, 3, 9, 90])
    lines = np.array(straight_lines(svg, 4))
    assert values_at(lines[:, 0], svg, 0, log=log) == near([1, 10, 100])
    assert values_at(lines[:, [1, 3]], svg, 1, log=log) == near([(1, 9), (9, 9), (27, 270)])
    assert [text_of(text) for text in elements(svg, "text")[-2:]] == [*curves]


@pytest.mark.parametrize("options", [{}, LIMIT, LIMIT | {"log_x": True}])
def test_intervals_extend_from_low_to_high_and_a_limit_crosses_each(options):
    """Markers are at the middles, names above; the axis begins at zero unless logarithmic."""
    svg, log = draw_intervals(GROUPS, **options, **X_LABEL).svg, "log_x" in options
    bars, lines = (np.array(straight_lines(svg, width)) for width in ("3", r"1\.2"))
    assert values_at(bars[:, [0, 2]], svg, 0, log=log) == near([(1, 4), (3, 3), (5, 7)])
    assert values_at(markers(svg)[:, 0], svg, 0, log=log) == near([2, 3, 6])
    assert log or values_at(12, svg, 0, log=log) == near(0)  # the left edge
    names = [float(x.get("y")) for x in elements(svg, "text") if text_of(x) in SMALL]
    assert names[0] < 70  # there is at most one line above the first name, its heading
    heights = [names, bars[:, 1]]
    if options:
        assert values_at(lines[:, 0], svg, 0, log=log) == near([14] * 3)
        heights = [names, lines[:, [1, 3]].min(1), bars[:, 1], lines[:, [1, 3]].max(1)]
    assert (np.diff(np.transpose(heights).flatten()) > 0).all()


@pytest.mark.parametrize(("count", "expected"), [(4, 4), (5, 1)])
def test_no_two_measurements_of_a_group_share_a_color_unless_all_do(count, expected):
    """There are four colors; a fifth measurement would look related to the first."""
    group = {f"card {k}": (1.0, 2.0, 3.0) for k in range(count)}
    svg = with_colors(draw_intervals({"": group}, **X_LABEL).svg)
    used = [f"stroke: {CSS_VALUES[color]}; stroke-width: 3" in svg for color, *_ in SERIES_STYLES]
    assert sum(used) == expected


def test_parts_are_as_long_as_they_are_large():
    """A part begins where the part before it ends, below the name of its bar."""
    svg = DRAWINGS["parts"][0].svg
    corners = r'd="M ([\d.]+) ([\d.]+)\s+L ([\d.]+) [\d. ]+L [\d.]+ ([\d.]+)[^"]*" clip'
    left, top, right, bottom = np.array(re.findall(corners, svg), dtype=float).T
    assert values_at([left, right], svg, 0) == near([(0, 2, 0, 2, 3, 4), (2, 3, 2, 3, 4, 5)])
    names = [float(x.get("y")) for x in elements(svg, "text") if ": " in x.text]
    heights = names, top[[0, 2]], bottom[[0, 2]]
    assert (np.diff(np.transpose(heights).flatten()) > 0).all()
    for total, text in ((999.4, "999"), (999.6, "1,000"), (2048.0, "2,048")):
        assert f"bar: {text}" in texts(draw_parts({"bar": {"part": total}}, **X_LABEL).svg)


@pytest.mark.parametrize(
    ("y", "log_y"), [([0.0, 1.0], True), ([math.nan, 1.0], False), ([1.0, math.inf], False)]
)
def test_numbers_without_a_position_raise(y, log_y):
    """Matplotlib would leave them out without a warning."""
    with pytest.raises(ValueError, match="the plot holds"):
        draw_curves([1, 2], {"a": y}, **LABELS, log_y=log_y)


@pytest.mark.parametrize(
    ("y", "labels"),
    [((1e-5, 10.0), "10⁻⁵ 10⁻¹ 1 10"), ((30.0, 500.0), "100 200"), ((0.01, 1e3), "0.01 1 1,000")],
)
def test_numbers_along_a_logarithmic_axis_are_one_text_each(y, labels):
    """They are numbers in full if all are short, else powers."""
    drawing = draw_curves([0, 1], {"c": y}, **LABELS, log_y=True)
    assert set(labels.split()) <= set(texts(drawing.svg))
    assert "tspan" not in drawing.svg
    assert_apart(text_boxes(drawing))
