"""Plots show the numbers that they are given, and name them."""

import math
import re
from itertools import pairwise

import pytest
import torch
from drawings import assert_sound, elements, texts

from lookup_matmul.figures import (
    draw_curves,
    draw_intervals,
    draw_parts,
    draw_points,
)

LABELS = {"x_label": "ids", "y_label": "time [µs]", "alt": "a story"}
LOG = LABELS | {"log_x": True, "log_y": True}
ASIDE = {"x_label": "time [µs]", "alt": "a story"}
TIMES = {"lookup": [(1.0, 2.0, 4.0), (1.0, 2.0, 8.0), (1.0, 4.0, 8.0)]}
GROUPS = {
    "small": {"lookup": (1.0, 2.0, 4.0), "product": (3.0, 3.0, 3.0)},
    "large": {"lookup": (5.0, 6.0, 7.0)},
}
WHOLES = {"whole": {"left": 2.0, "right": 1.0}, "other": {"right": 5.0}}
ROWS = torch.tensor([[0.0, 0.0], [0.1, 0.0], [0.05, 0.01], [9.0, 9.0]])
NAMES, KINDS = ["cat", "dog", "cow", "tea"], [0, 0, 0, 1]
DRAWINGS = {
    "curves": draw_curves([1, 10, 100], {"lookup": [1, 2, 4], "product": [3, 9, 27]}, **LOG),
    "spreads": draw_curves([1, 10, 100], TIMES, **LOG),
    "intervals": draw_intervals(GROUPS, log_x=True, limit=("bound", 50.0), **ASIDE),
    "parts": draw_parts(WHOLES, **ASIDE),
    "points": draw_points(ROWS, NAMES, KINDS, start=ROWS - 1, alt="a story"),
}
SAID = {
    "curves": {"lookup", "product", "ids", "time [µs]", "1", "10", "100"},
    "spreads": {"ids", "time [µs]"},
    "intervals": {"small", "large", "lookup", "product", "bound", "time [µs]"},
    "parts": {"whole: 3", "other: 5", "left", "right", "time [µs]"},
    "points": {*NAMES, "first number of the row", "second number"},
}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_plot_is_sound_and_names_what_it_shows(name):
    """Labels, curves and marks are texts, each with a halo, before which lines end."""
    drawing = DRAWINGS[name]
    assert_sound(drawing)
    assert SAID[name] <= {text.strip() for text in texts(drawing.svg)}
    styles = [text.get("style") or "" for text in elements(drawing.svg, "text")]
    assert all("paint-order: stroke" in style for style in styles)


def test_several_plots_fit_on_one_page():
    """Their ids do not collide, and drawing again gives the same text."""
    ids = [re.findall(r'\bid="([^"]+)"', drawing.svg) for drawing in DRAWINGS.values()]
    alike = draw_points(ROWS, NAMES, KINDS, alt="another story")
    ids.append(re.findall(r'\bid="([^"]+)"', alike.svg))
    assert not set(ids[-1]) & set(ids[-2])
    assert draw_points(ROWS, NAMES, KINDS, alt="another story") == alike


def bars(svg, width):
    """Return the ends of the straight lines of a width, in the order in which they were drawn."""
    ends = r'd="M ([\d.]+) ([\d.]+)\s+L ([\d.]+) ([\d.]+)\s*"[^>]*stroke-width: '
    return [tuple(map(float, bar)) for bar in re.findall(ends + rf"{width}[;\"]", svg)]


def marks(svg):
    """Return the places of all marks but ticks, in the order in which they were drawn."""
    found = [use for use in elements(svg, "use") if "figure-line" not in use.get("style", "")]
    return [(float(use.get("x", "")), float(use.get("y", ""))) for use in found]


def test_spreads_reach_from_low_to_high_on_a_logarithmic_axis():
    """Each from its low to its high quartile, and the curve leads through the middle ones."""
    ends = bars(DRAWINGS["spreads"].svg, 4)
    lengths = [bottom - top for _, bottom, _, top in ends]
    logs = [math.log(high / low) for low, _, high in TIMES["lookup"]]
    assert lengths == pytest.approx([x / logs[0] * lengths[0] for x in logs], rel=1e-3)
    above = [bar[1] - y for bar, (_, y) in zip(ends, marks(DRAWINGS["spreads"].svg), strict=True)]
    assert above == pytest.approx([lengths[0] / 2, lengths[0] / 2, lengths[0]], rel=1e-3)


def test_intervals_reach_from_low_to_high_on_a_scale_that_begins_at_zero():
    """Four points: the left edge, and the ends of three bars; a mark is at the middle."""
    svg = draw_intervals(GROUPS, **ASIDE).svg
    (a, _, b, _), (c, _, d, _), (e, _, f, _) = bars(svg, 3)
    unit = (e - a) / 4  # from 1 to 5
    assert (b - a, d - c, f - e, c - a) == pytest.approx(
        (3 * unit, 0, 2 * unit, 2 * unit), rel=1e-3
    )
    assert a - unit == pytest.approx(12, rel=1e-3)
    middles = [a + (middle - 1) * unit for middle in (2, 3, 6)]
    assert [x for x, _ in marks(svg)] == pytest.approx(middles, rel=1e-3)


@pytest.mark.parametrize("limit", [4.0, 14.0])
def test_a_limit_stands_at_its_number(limit):
    """Also beyond what was measured: the axis reaches as far."""
    svg = draw_intervals(GROUPS, limit=("bound", limit), **ASIDE).svg
    ((x, *_),), ((a, *_), _, (e, *_)) = bars(svg, r"1\.2"), bars(svg, 3)
    assert x == pytest.approx(a + (limit - 1) * (e - a) / 4, rel=1e-3)
    assert x < 330 - 18  # the right edge


def test_a_limit_strikes_no_name():
    """It is one line along all bars, drawn before the names, whose halos interrupt it."""
    svg = DRAWINGS["intervals"].svg
    ((_, one, _, other),) = bars(svg, r"1\.2")
    thick = [y for _, y, _, _ in bars(svg, 3)]
    assert min(one, other) < min(thick) < max(thick) < max(one, other)
    names = list(re.finditer(r"<text[^>]*>(?:lookup|product)<", svg))
    line = re.search(r"stroke-width: 1\.2[;\"]", svg)
    assert len(names) == 3
    assert all(name.start() > line.start() for name in names)


def test_parts_are_as_long_as_they_are_large():
    """One after the other, each part in the pattern of its name."""
    corners = re.findall(
        r'd="M ([\d.]+) [\d.]+\s+L ([\d.]+) [^"]*"[^>]*fill: url', DRAWINGS["parts"].svg
    )
    (begin, end), (edge, other) = [(float(a), float(b)) for a, b in corners[:2]]
    unit = end - begin
    # The other part has no pattern.
    assert (begin - edge, other - edge) == pytest.approx((2 * unit, 5 * unit), rel=1e-3)
    for size, said in ((999.4, "999"), (999.6, "1,000"), (2048.0, "2,048")):
        assert f"large: {said}" in texts(draw_parts({"large": {"left": size}}, **ASIDE).svg)


@pytest.mark.parametrize(
    ("y", "log_y"), [([0.0, 1.0], True), ([math.nan, 1.0], False), ([1.0, math.inf], False)]
)
def test_a_number_without_a_place_is_no_gap(y, log_y):
    """Matplotlib would leave it out and say nothing."""
    with pytest.raises(ValueError, match="the plot holds"):
        draw_curves([1, 2], {"a": y}, x_label="x", y_label="y", alt="a", log_y=log_y)


def test_lines_lead_to_each_point_from_its_start_and_its_name():
    """Thin ones, all of one length here, and dotted ones, in the order of the names."""
    svg = DRAWINGS["points"].svg
    places = marks(svg)[1::2]  # a point follows its start
    thin = [(c, d, c - a, d - b) for a, b, c, d in bars(svg, r"0\.7")]
    assert thin == [pytest.approx((x, y, *thin[0][2:]), abs=0.01) for x, y in places]
    dotted = re.findall(r'([\d.]+) ([\d.]+) +"[^>]*dasharray', svg)
    named = [places[NAMES.index(text)] for text in texts(svg) if text in NAMES]
    ends = [math.dist(map(float, end), at) for end, at in zip(dotted, named, strict=True)]
    assert max(ends) < 3.5


def test_names_of_near_points_do_not_overlap():
    """Each of three names beside one another stands a line above the last."""
    nodes = elements(DRAWINGS["points"].svg, "text")
    heights = sorted(float(node.get("y", "")) for node in nodes if node.text in NAMES[:3])
    assert min(b - a for a, b in pairwise(heights)) >= 12


@pytest.mark.parametrize(
    ("y", "ticks"),
    [((1e-5, 10.0), "10⁻⁵ 10⁻¹ 1 10"), ((30.0, 500.0), "100 200"), ((0.01, 1e3), "0.01 1 1,000")],
)
def test_a_logarithmic_axis_has_one_text_for_each_number(y, ticks):
    """Whole numbers where they fit, else powers, all of one kind."""
    svg = draw_curves([0, 1], {"c": y}, **LABELS, log_y=True).svg
    assert set(ticks.split()) <= set(texts(svg))
    assert "tspan" not in svg
