"""Drawings of times, predictions and ceilings tell what they are given, and refuse the rest."""

import math

import pytest
from drawings import assert_colours_can_be_replaced, assert_told, texts, width_of

from lookup_matmul.figures import (
    draw_coinciding,
    draw_curves,
    draw_distances,
    draw_intervals,
    draw_measured,
    draw_parts,
    draw_predictions,
    draw_roofline,
)

TIMES = {"lookup": {1: (1.9, 2.0, 2.2), 64: (2.0, 2.5, 2.7)}, "product": {1: (8.0, 9.0, 9.5)}}
MODEL = {"lookup": {1: 2.1, 64: 2.2}, "product": {1: 8.0}}
FLOORS = {"lookup": 1.8, "product": 4.0}
LABELS = {"x_label": "ids", "y_label": "time [µs]", "alt": "a story"}
LEVELS = {"L2": 200.0, "memory": 20.0}
POINTS = {"product": (8.0, (70.0, 75.0, 80.0)), "gradient": (0.1, (1.0, 1.1, 1.2))}
RATIOS = {
    "lookup": {"hot": (0.9, 1.0, 1.1), "cold": (0.8, 1.2, 1.5)},
    "product": {"hot": (1, 2, 3)},
}
ASIDE = {"x_label": "measured / predicted", "alt": "a story"}
DRAWINGS = {
    "predictions": draw_predictions(TIMES, MODEL, FLOORS, **LABELS),
    "roofline": draw_roofline(LEVELS, 100.0, POINTS, alt="a story"),
    "distances": draw_distances(RATIOS, (0.67, 1.5), **ASIDE),
}


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_every_colour_can_be_replaced_and_words_tell_the_story(drawing):
    """No colour is fixed, the label is the story, and nothing is wider than a phone needs."""
    assert_colours_can_be_replaced(drawing)
    assert_told(drawing)
    assert width_of(drawing) <= 360


def test_measurements_and_predictions_are_named_apart():
    """Each curve twice: its marks, and its line."""
    drawn = texts(DRAWINGS["predictions"].svg)
    assert {"lookup", "lookup, predicted", "product", "product, predicted"} <= set(drawn)


def test_a_roofline_names_its_levels_and_its_points():
    """A letter stands at the point and before its name."""
    drawn = texts(DRAWINGS["roofline"].svg)
    assert {"L2", "memory", "a", "b"} <= {text.strip() for text in drawn}
    assert {"a   product", "b   gradient"} <= set(drawn)


def test_a_roofline_has_room_for_a_point_above_its_roof():
    """The rate may have been measured while the processor was busy."""
    tall = draw_roofline(LEVELS, 0.1, {"product": (8.0, (70.0, 75.0, 80.0))}, alt="")
    assert "a" in texts(tall.svg)  # the letter goes with its point


def test_the_sum_of_shares_need_not_be_told():
    """It is a hundred percent, whatever the whole."""
    for totals, said in [(True, "whole: 3"), (False, "whole")]:
        wholes = {"whole": {"left": 1.0, "right": 2.0}}
        assert said in texts(draw_parts(wholes, x_label="ms", alt="", totals=totals).svg)


def test_distances_name_each_form_once_and_each_kind_once():
    """Whatever the number of lines."""
    drawn = texts(DRAWINGS["distances"].svg)
    assert [drawn.count(name) for name in ("lookup", "product", "hot", "cold")] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: draw_predictions({}, {}, {}, **LABELS), "measured has 0 curves, expected 1 to 4"),
        (
            lambda: draw_predictions(TIMES, MODEL, {"lookup": 1.0}, **LABELS),
            r"the curves are \['lookup'\], expected \['lookup', 'product'\]",
        ),
        (
            lambda: draw_predictions(TIMES, MODEL | {"product": {2: 8.0}}, FLOORS, **LABELS),
            r"predictions of 'product' are at \[2\], expected \[1\]",
        ),
        (
            lambda: draw_predictions({"a": {1: (2, 1, 3)}}, {"a": {1: 1}}, {"a": 1}, **LABELS),
            "'a' is .* low <= middle <= high",
        ),
        (lambda: draw_roofline({}, 1.0, POINTS, alt=""), "there are 0 levels and 2 points"),
        (lambda: draw_roofline(LEVELS, 1.0, {}, alt=""), "there are 2 levels and 0 points"),
        (lambda: draw_roofline(LEVELS, 1.0, {"a": (1.0, (3, 2, 1))}, alt=""), "low <= middle"),
        (lambda: draw_distances({}, (0.5, 2), **ASIDE), "ratios has 0 lines with 0 kinds"),
        (
            lambda: draw_distances({"a": {"hot": (0, 1, 2)}}, (0.5, 2), **ASIDE),
            "'a' begins at 0, expected more on a logarithmic axis",
        ),
        (
            lambda: draw_distances({str(k): RATIOS["product"] for k in range(25)}, (1, 2), **ASIDE),
            "ratios has 25 lines",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    """With what arrived and what was expected."""
    with pytest.raises(ValueError, match=message):
        draw()


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (lambda x: draw_curves([x], {"a": [1]}, **LABELS, log_x=True), "x"),
        (lambda x: draw_curves([1], {"a": [x]}, **LABELS, log_y=True), "curve 'a'"),
        (lambda x: draw_coinciding([1], {"a": [1], "b": [2]}, **LABELS, limit=("", x)), "limit"),
        (lambda x: draw_distances(RATIOS, (x, 2), **ASIDE), "band"),
        (lambda x: draw_intervals({"": {"a": (1, 2, 3)}}, **ASIDE, log_x=True, limit=("", x)), "limit"),
        (lambda x: draw_measured([x], {"a": [(1, 2, 3)]}, **LABELS), "x"),
        (lambda x: draw_measured([1], {"a": [(1, 2, 3)]}, **LABELS, marked=("", x)), "marked"),
        (lambda x: draw_predictions({"a": {x: (1, 2, 3)}}, {"a": {x: 1}}, {"a": 1}, **LABELS), "measured of 'a'"),
        (lambda x: draw_predictions({"a": {1: (1, 2, 3)}}, {"a": {1: x}}, {"a": 1}, **LABELS), "predicted of 'a'"),
        (lambda x: draw_predictions({"a": {1: (1, 2, 3)}}, {"a": {1: 1}}, {"a": x}, **LABELS), "floors"),
        (lambda x: draw_roofline(LEVELS | {"new": x}, 1.0, POINTS, alt=""), "levels"),
        (lambda x: draw_roofline(LEVELS, x, POINTS, alt=""), "rate"),
        (lambda x: draw_roofline(LEVELS, 1.0, {"a": (x, (1, 2, 3))}, alt=""), "points"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("number", [0.0, -1.0, math.nan, math.inf])
def test_a_number_without_a_place_on_a_logarithmic_axis_is_refused(draw, name, number):
    """It would be left out of the drawing in silence."""
    draw(1.5)
    with pytest.raises(ValueError, match=rf"^{name} holds {number}, expected numbers above zero"):
        draw(number)
