"""A plot of measurements shows the middle and the spread of each, and names them."""

import re

import pytest
from drawings import assert_colours_can_be_replaced, texts

from lookup_matmul.figures import draw_intervals

GROUPS = {
    "small": {"lookup": (1.0, 2.0, 4.0), "product": (3.0, 3.0, 3.0)},
    "large": {"lookup": (5.0, 6.0, 7.0)},
}
LABELS = {"x_label": "time [µs]", "alt": "The product takes longer."}


def test_headings_names_and_the_axis_are_texts():
    """In the order of the groups; an empty heading is left out."""
    drawn = texts(draw_intervals(GROUPS, **LABELS).svg)
    assert [text for text in drawn if text.isalpha()] == [
        "small",
        "lookup",
        "product",
        "large",
        "lookup",
    ]
    assert "time [µs]" in drawn
    assert "" not in texts(draw_intervals({"": GROUPS["small"]}, **LABELS).svg)


def test_bars_reach_from_low_to_high():
    """On one scale, which begins at zero."""
    svg = draw_intervals(GROUPS, **LABELS).svg
    bars = re.findall(r'd="M ([\d.]+) ([\d.]+)\s+L ([\d.]+) ([\d.]+)\s*"[^>]*-width: 3', svg)
    (a, _, b, _), (c, _, d, _), (e, _, f, _) = [tuple(map(float, bar)) for bar in bars]
    assert b - a == pytest.approx(3 * (d - c + (e - a) / 4))
    assert c == d
    assert f - e == pytest.approx(2 * (e - a) / 4, rel=1e-3)


def test_limit_is_a_line_with_a_name():
    """Also where it lies beyond all measurements."""
    drawing = draw_intervals(GROUPS, **LABELS, limit=("bound", 50.0))
    assert "bound" in texts(drawing.svg)
    assert "stroke-dasharray" in drawing.svg
    assert "stroke-dasharray" not in draw_intervals(GROUPS, **LABELS).svg


@pytest.mark.parametrize(("at", "anchor", "clear"), [(0.9, "start", 5), (6.0, "end", -5)])
def test_the_name_of_a_limit_stands_clear_of_its_line_where_there_is_room(at, anchor, clear):
    """Right of a line near the left end, else left of it."""
    svg = draw_intervals(GROUPS, **LABELS, log_x=True, limit=("bound", at)).svg
    (line,) = re.findall(r'd="M ([\d.]+) [^>]*stroke-dasharray', svg)
    (text,) = re.findall(r"<text[^>]*>bound<", svg)
    assert re.findall(r"text-anchor: (\w+)", text) == [anchor]
    (begin,) = re.findall(r'x="([\d.]+)"', text)
    assert float(begin) - float(line) == pytest.approx(clear, abs=0.01)


@pytest.mark.parametrize(("most", "ticks"), [(8.0, "1 2 5"), (5e3, "1 10 100 1,000")])
def test_a_logarithmic_axis_has_plain_numbers(most, ticks):
    """Several, also over less than a decade."""
    svg = draw_intervals({"": {"a": (0.9, 1.0, most)}}, **LABELS, log_x=True).svg
    assert set(ticks.split()) <= set(texts(svg))


def test_every_colour_can_be_replaced_by_the_page():
    """No colour is fixed: each is a property with a fallback."""
    drawing = draw_intervals(GROUPS, **LABELS, log_x=True, limit=("bound", 50.0))
    assert_colours_can_be_replaced(drawing)


@pytest.mark.parametrize(
    ("group", "options", "message"),
    [
        ({}, {}, "groups has 0 measurements"),
        ({f"{k}": (1.0, 1.0, 1.0) for k in range(13)}, {}, "groups has 13 measurements"),
        ({"a": (2.0, 1.0, 3.0)}, {}, "'a' is (2.0, 1.0, 3.0), expected 0 <= low"),
        ({"a": (1.0, 1.0, float("inf"))}, {}, "finite"),
        ({"a": (0.0, 1.0, 2.0)}, {"log_x": True}, "'a' begins at 0"),
        (
            {"a": (0.0, 1.0, 2.0)},
            {"limit": ("l", float("nan"))},
            "limit holds nan, expected finite",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(group, options, message):
    """Nothing, too much, an order that is none, and what a logarithm does not know."""
    with pytest.raises(ValueError, match=re.escape(message)):
        draw_intervals({"": group}, **LABELS, **options)
