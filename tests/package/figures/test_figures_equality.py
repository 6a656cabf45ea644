"""The drawing of both forms over one table, and the plot of rows as points."""

import re
from itertools import pairwise

import pytest
import torch
from drawings import assert_colours_can_be_replaced, texts, width_of

from lookup_matmul.figures import draw_equality, draw_points
from lookup_matmul.figures.palette import FILLS

torch.manual_seed(123)
WEIGHT = torch.randn(4, 5)
BOTH = draw_equality(torch.tensor([2, 3, 1]), WEIGHT)
ROWS = torch.tensor([[0.0, 0.0], [0.1, 0.0], [0.05, 0.01], [9.0, 9.0]])
POINTS = draw_points(ROWS, ["cat", "dog", "cow", "tea"], [0, 0, 0, 1], alt="tea is far away.")


def heights(svg: str, names: list[str]) -> list[float]:
    """Give how far down each text stands."""
    found = re.findall(r'<text[^>]* y="([\d.]+)"[^>]*>([^<]+)<', svg)
    return [float(y) for name in names for y, text in found if text == name]


def test_both_halves_and_the_output_stand_in_one_picture():
    """The table and the output with two decimals, the ids, and their one-hot rows."""
    drawn = texts(BOTH.svg)
    for k, row in enumerate(WEIGHT):
        for value in row.tolist():
            assert drawn.count(f"{value:.2f}") == (2 if k else 1)
    assert [text for text in drawn if text in ("2", "3")] == ["2", "3"]
    assert (drawn.count("0"), drawn.count("1")) == (9, 3 + 1)  # three ones and the id 1
    assert [text for text in drawn if text.startswith("id ")] == ["id 2", "id 3", "id 1"]


def test_each_id_has_its_colour_in_all_places():
    """In the table, among the ids, at its one, and in the output; row 0 is nobody's."""
    fills = [
        len(re.findall(rf"fill: var\(--figure-fill-{k}, {FILLS[k]}", BOTH.svg)) for k in range(4)
    ]
    assert fills == [0, 12, 12, 12]  # five cells twice, the id, and the one


def test_the_picture_is_told_in_words_and_narrow():
    """The label says both ways; 320 points at the most, so that a phone shows it unscaled."""
    assert "id 3 picks row 3" in BOTH.alt
    assert "id 3 becomes the one-hot row (0, 0, 0, 1)" in BOTH.alt
    assert "(0.70, -1.81, -1.16, 0.33, -0.63)" in BOTH.alt
    for ids, rows, dim in ([2, 3, 1], 4, 5), ([0] * 6, 6, 5), ([5], 6, 3):
        assert width_of(draw_equality(torch.tensor(ids), torch.ones(rows, dim))) <= 320


def test_names_of_near_points_do_not_overlap():
    """Each of three names beside one another stands a line above the last."""
    lines = sorted(heights(POINTS.svg, ["cat", "dog", "cow"]))
    assert len(lines) == 3
    assert min(b - a for a, b in pairwise(lines)) >= 12


def test_names_stand_on_the_side_where_they_hide_no_point():
    """At the right, unless a beginning lies there, or the line of a name runs through a point."""
    cities = torch.tensor([[-0.2, -1.57], [-0.42, -1.65], [-0.95, -1.68], [0.32, -1.78]])
    corners = torch.tensor([[-2.7, 0.55], [1.65, 1.4]])
    names = ["Lima", "Cairo", "Oslo", "Rome", "a", "b"]
    svg = draw_points(torch.cat([cities, corners]), names, [0] * 6, alt="Six.").svg
    found = [re.search(rf"anchor: (\w+)[^>]*>{name}<", svg) for name in names[:4]]
    assert [match[1] for match in found] == ["end"] * 4
    rows = torch.tensor([[2.0, 0.0], [0.0, 4.0], [4.0, 4.0]])
    begun = rows - torch.tensor([[-0.6, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert (
        draw_points(torch.randn(12, 2), list("abcdefghijkl"), [0] * 12, alt="Many.").alt == "Many."
    )
    for start, ends in ((None, ["start"] * 3), (begun, ["end", "start", "start"])):
        svg = draw_points(rows, ["cat", "tea", "Rome"], [0, 1, 2], start=start, alt="Three.").svg
        found = [
            re.search(rf"<text[^>]*anchor: (\w+)[^>]*>{name}<", svg)
            for name in ("cat", "tea", "Rome")
        ]
        assert [match[1] if match else "start" for match in found] == ends


def test_points_show_groups_and_beginnings():
    """Markers differ from group to group; a line is added for each row with a beginning."""
    moved = draw_points(ROWS, list("abcd"), [0, 0, 0, 1], start=ROWS - 1, alt="All moved.")
    assert moved.svg.count("<use") > POINTS.svg.count("<use")
    assert {"--figure-mark", "--figure-other"} <= set(re.findall(r"--figure-\w+", POINTS.svg))
    assert repr(POINTS) == "tea is far away."


@pytest.mark.parametrize("drawing", [BOTH, POINTS], ids=["both", "points"])
def test_no_colour_is_fixed(drawing):
    """Each is a property with a fallback, so that the page's dark scheme reaches it."""
    assert_colours_can_be_replaced(drawing)


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: draw_equality(torch.arange(7) % 4, WEIGHT), ValueError, "1 to 6 ids and rows"),
        (lambda: draw_equality(torch.tensor([[1]]), WEIGHT), ValueError, "ids has shape (1, 1)"),
        (lambda: draw_equality(torch.tensor([1]), torch.ones(4, 6)), ValueError, "weight (4, 6), expected (n,) and two sizes: 1 to 6 ids and rows, 3 to 5 columns"),
        (lambda: draw_equality(torch.tensor([4]), WEIGHT), IndexError, "ids[0] is 4"),
        (lambda: draw_equality(torch.tensor([0]), torch.tensor([[-0.0, 1, 2], [1, 1, 1]])), AssertionError, "not bitwise equal: 1 of 3"),
        (lambda: draw_points(torch.ones(2, 3), ["a", "b"], [0, 0], alt=""), ValueError, "rows has shape (2, 3)"),
        (lambda: draw_points(ROWS, ["a"], [0, 0, 0, 0], alt=""), ValueError, "names has 1 entries, expected 4"),
        (lambda: draw_points(ROWS, list("abcd"), [0, 0, 0], alt=""), ValueError, "groups has 3 entries"),
        (lambda: draw_points(ROWS, list("abcd"), [0, 0, 0, 0], start=ROWS[:1], alt=""), ValueError, "start has 1 entries"),
        (lambda: draw_points(ROWS, list("abcd"), [0, 0, 0, 4], alt=""), ValueError, "expected 0 to 3"),
        (lambda: draw_points(ROWS / 0, list("abcd"), [0, 0, 0, 0], alt=""), ValueError, "rows holds "),
        (lambda: draw_points(ROWS, list("abcd"), [0, 0, 0, 0], start=ROWS * float("nan"), alt=""), ValueError, "start holds nan, expected finite numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    """Too much, too little, or two outputs where the picture promises one."""
    with pytest.raises(error, match=re.escape(message)):
        draw()
