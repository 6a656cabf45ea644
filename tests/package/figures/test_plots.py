"""Plots place the numbers that they are given, and label them."""

import math
import re

import numpy as np
import pytest
import torch
from drawings import assert_valid, attributes, elements, text_of, texts, with_colors

from lookup_matmul.figures import draw_curves, draw_intervals, draw_parts, draw_points
from lookup_matmul.figures.axes import SERIES_STYLES
from lookup_matmul.figures.sheet import CSS_VALUES

LABELS = {"x_label": "ids", "y_label": "time [µs]", "alt": "an alt text"}
LOG = LABELS | {"log_x": True, "log_y": True}
X_LABEL = {"x_label": "time [µs]", "alt": "an alt text"}
TIMES = {"lookup": [(1.0, 2.0, 4.0), (1.0, 2.0, 8.0), (1.0, 4.0, 8.0)]}
GROUPS = {
    "small": {"lookup": (1.0, 2.0, 4.0), "product": (3.0, 3.0, 3.0)},
    "large": {"lookup": (5.0, 6.0, 7.0)},
}
BARS = {"first": {"lookup": 2.0, "sum": 1.0}, "second": {"sum": 5.0}}
ROWS = torch.tensor([[0.0, 0.0], [0.1, 0.0], [0.05, 0.01], [9.0, 9.0]])
NAMES, KINDS, KIND_NAMES = ["a", "e", "", "7"], [0, 0, 1, 2], ["vowels", "none", "digits"]
DRAWINGS = {
    "curves": draw_curves([1, 10, 100], {"lookup": [1, 2, 4], "product": [3, 9, 27]}, **LOG),
    "spreads": draw_curves([1, 10, 100], TIMES, **LOG),
    "intervals": draw_intervals(GROUPS, log_x=True, limit=("bound", 50.0), **X_LABEL),
    "parts": draw_parts(BARS, **X_LABEL),
    "points": draw_points(ROWS, NAMES, KINDS, KIND_NAMES, alt="an alt text"),
}
TEXTS = {
    "curves": {"lookup", "product", "ids", "time [µs]", "1", "10", "100"},
    "spreads": {"ids", "time [µs]"},
    "intervals": {"small", "large", "lookup", "product", "bound", "time [µs]"},
    "parts": {"first: 3", "second: 5", "lookup", "sum", "time [µs]"},
    "points": {"a", "e", "7", *KIND_NAMES, "first number of the row", "second number"},
}


def near(expected):
    """Return an approximation within the rounding of SVG coordinates."""
    return pytest.approx(expected, rel=1e-3)


def straight_lines(svg, width):
    """Return x and y of both ends of the straight lines with a width, in document order."""
    ends = r'd="M ([\d.]+) ([\d.]+)\s+L ([\d.]+) ([\d.]+)\s*"[^>]*stroke-width: '
    return [tuple(map(float, line)) for line in re.findall(ends + rf"{width}[;\"]", svg)]


def marker_positions(svg):
    """Return the positions of markers, without ticks, in document order."""
    uses = [use for use in elements(svg, "use") if "figure-line" not in use.get("style", "")]
    return [attributes(use, "x", "y") for use in uses]


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_plot_is_valid_and_labels_what_it_contains(name):
    """Every text has an outline, which interrupts lines behind it."""
    drawing = DRAWINGS[name]
    assert_valid(drawing)
    assert TEXTS[name] <= {text.strip() for text in texts(drawing.svg)}
    styles = [text.get("style") or "" for text in elements(drawing.svg, "text")]
    assert all("paint-order: stroke" in style for style in styles)


def test_ids_of_two_plots_on_a_page_do_not_collide():
    """The same call returns the same drawing."""
    first, second, repeated = (
        draw_points(ROWS, NAMES, KINDS, KIND_NAMES, alt=alt) for alt in "abb"
    )
    first_ids, second_ids = (set(re.findall(r'\bid="([^"]+)"', x.svg)) for x in (first, second))
    assert not first_ids & second_ids
    assert repeated == second


def test_spreads_extend_from_low_to_high_on_a_logarithmic_axis():
    """The curve connects the middles."""
    svg = DRAWINGS["spreads"].svg
    lines = straight_lines(svg, 4)
    lengths = [bottom - top for _, bottom, _, top in lines]
    logs = [math.log2(high / low) for low, _, high in TIMES["lookup"]]
    assert lengths == near([x * lengths[0] / 2 for x in logs])
    heights = [line[1] - y for line, (_, y) in zip(lines, marker_positions(svg), strict=True)]
    assert heights == near([lengths[0] / 2, lengths[0] / 2, lengths[0]])


def test_intervals_extend_from_low_to_high_on_an_axis_from_zero():
    """Markers are at the middles, and zero is at the left edge."""
    svg = draw_intervals(GROUPS, **X_LABEL).svg
    (a, _, b, _), (c, _, d, _), (e, _, f, _) = straight_lines(svg, 3)
    unit = (e - a) / 4  # from 1 to 5
    assert (b - a, d - c, f - e, c - a) == near((3 * unit, 0, 2 * unit, 2 * unit))
    assert a - unit == near(12)
    middles = [a + (middle - 1) * unit for middle in (2, 3, 6)]
    assert [x for x, _ in marker_positions(svg)] == near(middles)


@pytest.mark.parametrize(("count", "expected"), [(4, 4), (5, 1)])
def test_no_two_measurements_of_a_group_share_a_color_unless_all_do(count, expected):
    """There are four colors; a fifth measurement would look related to the first."""
    group = {f"card {k}": (1.0, 2.0, 3.0) for k in range(count)}
    svg = with_colors(draw_intervals({"": group}, **X_LABEL).svg)
    used = [f"stroke: {CSS_VALUES[color]}; stroke-width: 3" in svg for color, *_ in SERIES_STYLES]
    assert sum(used) == expected


@pytest.mark.parametrize("limit", [4.0, 14.0])
def test_a_limit_is_a_line_at_its_value_that_crosses_each_bar(limit):
    """The axis includes a limit beyond all measurements."""
    svg = draw_intervals(GROUPS, limit=("bound", limit), **X_LABEL).svg
    lines, bars = straight_lines(svg, r"1\.2"), straight_lines(svg, 3)
    (a, *_), _, (e, *_) = bars
    for (x, start, _, end), (_, y, _, _) in zip(lines, bars, strict=True):
        assert x == near(a + (limit - 1) * (e - a) / 4)
        assert x < 330 - 18  # the right edge
        assert min(start, end) < y < max(start, end)


def test_parts_are_as_long_as_they_are_large():
    """A part begins where the part before it ends."""
    first_corners = r'd="M ([\d.]+) [\d.]+\s+L ([\d.]+) [^"]*"[^>]*fill: url'
    corners = re.findall(first_corners, DRAWINGS["parts"].svg)  # only "sum" has a pattern
    (start, end), (bar_x, bar_end) = [tuple(map(float, pair)) for pair in corners[:2]]
    unit = end - start
    assert (start - bar_x, bar_end - bar_x) == near((2 * unit, 5 * unit))
    for total, text in ((999.4, "999"), (999.6, "1,000"), (2048.0, "2,048")):
        assert f"bar: {text}" in texts(draw_parts({"bar": {"part": total}}, **X_LABEL).svg)


def test_texts_keep_their_digits():
    """Only positions are shortened."""
    curves = {"loss": [0.001, 0.0035]}
    svg = draw_curves([1, 2], curves, x_label="0.98765", y_label="y", alt="small", log_y=False).svg
    assert {"0.0010", "0.0035", "0.98765"} <= {*texts(svg)}
    assert not re.search(r'[xy]="\d+\.\d{3}', svg)


@pytest.mark.parametrize(
    ("y", "log_y"), [([0.0, 1.0], True), ([math.nan, 1.0], False), ([1.0, math.inf], False)]
)
def test_numbers_without_a_position_raise(y, log_y):
    """Matplotlib would leave them out without a warning."""
    with pytest.raises(ValueError, match="the plot holds"):
        draw_curves([1, 2], {"a": y}, **LABELS, log_y=log_y)


def test_a_row_is_its_name_at_its_numbers_or_a_marker():
    """The label of its group is above or below, farther from the middle."""
    svg = DRAWINGS["points"].svg
    at = {text_of(node): np.array(attributes(node, "x", "y")) for node in elements(svg, "text")}
    ((x, y),) = marker_positions(svg)
    unit = (at["7"] - at["a"])[0] / 9
    assert (at["e"] - at["a"]).tolist() == pytest.approx([0.1 * unit, 0], abs=0.02)
    assert (at["a"] - at["7"])[1] == pytest.approx(9 * unit, abs=0.02)
    assert x - at["a"][0] == pytest.approx(0.05 * unit, abs=0.02)
    assert at["digits"][1] < at["7"][1] < y < at["a"][1] < at["vowels"][1]


@pytest.mark.parametrize(
    ("y", "ticks"),
    [((1e-5, 10.0), "10⁻⁵ 10⁻¹ 1 10"), ((30.0, 500.0), "100 200"), ((0.01, 1e3), "0.01 1 1,000")],
)
def test_ticks_of_a_logarithmic_axis_are_one_text_each(y, ticks):
    """They are numbers in full if all are short, else powers."""
    svg = draw_curves([0, 1], {"c": y}, **LABELS, log_y=True).svg
    assert set(ticks.split()) <= set(texts(svg))
    assert "tspan" not in svg
