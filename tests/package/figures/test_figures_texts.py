"""Drawings of texts, categories, measurements and curves that coincide tell what they are given."""

import re
from xml.etree import ElementTree

import pytest
import torch
from drawings import assert_colours_can_be_replaced, assert_told, bold, texts, width_of

from lookup_matmul.figures import (
    draw_bag_of_words,
    draw_blocks,
    draw_coinciding,
    draw_hashes,
    draw_measured,
    draw_parts,
    draw_votes,
)

NAN = float("nan")
NAMES = ["NumPy", "PyTorch"]
VOTES = torch.tensor([[2.0, -1.0], [-1.0, 0.0], [0.25, 3.0]])
VOCABULARY = {"axis": 0, "dim": 1, "tensor": 2}
COLUMNS = {"colour": ["blue", "red"], "size": ["large"]}
LABELS = {"x_label": "x", "y_label": "y", "alt": "a story"}
DRAWINGS = {
    "bag of words": draw_bag_of_words("a tensor dim of a tensor", VOCABULARY, VOTES, NAMES),
    "votes": draw_votes(list(VOCABULARY), VOTES, NAMES),
    "blocks": draw_blocks(COLUMNS, torch.tensor([1, 2]), VOTES),
    "hashes": draw_hashes({"user 1": 2, "user 2": 0, "user 3": 2}, 4),
    "coinciding": draw_coinciding(
        range(4), {"one": [4, 3, 2, 1], "other": [4, 3, 2, 1.5]}, limit=("limit", 1.0), **LABELS
    ),
    "spreads": draw_measured(
        [1, 10], {"one": [(1, 2, 3), (2, 3, 4)]}, marked=("here", 5.0), **LABELS
    ),
    "parts": draw_parts(
        {"whole": {"left": 2.0, "right": 1.0}, "other": {"right": 5.0}}, x_label="ms", alt="a story"
    ),
}


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_every_colour_can_be_replaced_and_words_tell_the_story(drawing):
    """No colour is fixed, the label is the story, and nothing is wider than a phone needs."""
    assert_colours_can_be_replaced(drawing)
    assert_told(drawing)
    assert width_of(drawing) <= 360


def test_bag_of_words_shows_the_text_its_rows_and_their_sum():
    """Each word stands once in the text, each known one once more with its count."""
    drawn = texts(DRAWINGS["bag of words"].svg)
    assert drawn[:6] == ["a", "tensor", "dim", "of", "a", "tensor"]
    assert {"2 × tensor", "1 × dim", "+0.25", "-0.50", "+6"} <= set(drawn)
    assert drawn[-2:] == ["-0.50", "+6"]
    heavy = bold(DRAWINGS["bag of words"].svg)
    assert "+6" in heavy
    assert "-0.50" not in heavy
    assert DRAWINGS["bag of words"].alt.endswith("the largest is PyTorch.")


def test_a_long_text_is_broken_into_lines():
    """No word leaves the drawing."""
    drawn = draw_bag_of_words(" ".join(["tensor"] * 12), VOCABULARY, VOTES, NAMES)
    root = ElementTree.fromstring(drawn.svg)
    assert float(root.get("viewBox").split()[3]) > 150
    assert "12 × tensor" in drawn.alt


def test_votes_mark_the_largest_of_each_row():
    """Bold where the row is largest, shaded where a vote is positive."""
    heavy = bold(DRAWINGS["votes"].svg)
    assert heavy == ["axis", "+2", "dim", "0", "tensor", "+3"]
    assert "tensor (+0.25, +3): PyTorch." in DRAWINGS["votes"].alt


def test_blocks_say_where_each_column_begins():
    """Every category stands beside its row, and the picked rows add up."""
    drawn = texts(DRAWINGS["blocks"].svg)
    assert [text for text in drawn if "rows from" in text] == [
        "colour: rows from 0",
        "size: rows from 2",
    ]
    assert drawn[-2:] == ["-0.75", "3.00"]
    assert "The record picks row 1, red, and row 2, large" in DRAWINGS["blocks"].alt


def test_hashes_count_the_keys_of_a_shared_row():
    """A row says how many keys it has if there are several."""
    drawn = texts(DRAWINGS["hashes"].svg)
    assert drawn.count("2 keys") == 1
    assert [text for text in drawn if text.startswith("row ")] == [f"row {k}" for k in range(4)]
    assert "Shared: row 2 by 2 keys." in DRAWINGS["hashes"].alt
    assert draw_hashes({"a": 0}, 1).alt.endswith("Shared: no row.")


def test_coinciding_curves_differ_in_width_and_a_zero_distance_is_not_drawn():
    """Three steps of four agree, so the lower plot has one marker, beside that of its kind."""
    agreeing = draw_coinciding(range(2), {"a": [1, 2], "b": [1, 2]}, **LABELS)
    apart = draw_coinciding(range(2), {"a": [1, 2], "b": [1, 3]}, **LABELS)
    assert apart.svg.count("<use") > agreeing.svg.count("<use")
    assert {"one", "other", "limit"} <= set(texts(DRAWINGS["coinciding"].svg))
    assert len(set(re.findall(r"stroke-width: ([\d.]+)", DRAWINGS["coinciding"].svg))) >= 3


def test_spreads_and_parts_name_what_they_show():
    """Labels, the marked place and the size of each whole are texts of the picture."""
    assert {"here", "x", "y"} <= {text.strip() for text in texts(DRAWINGS["spreads"].svg)}
    assert {"whole: 3", "other: 5", "left", "right", "ms"} <= set(texts(DRAWINGS["parts"].svg))
    assert "<pattern" in DRAWINGS["parts"].svg
    shares = draw_parts({"a: half": {"b": 1.0}}, x_label="%", alt="half", totals=False)
    assert "a: half" in texts(shares.svg)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: draw_votes(["dim"], VOTES.tolist(), NAMES), "weight has type builtins.list, expected torch.Tensor"),
        (lambda: draw_hashes({"a": "1"}, 3), "key 'a' has row '1' of type str, expected an int"),
    ],
)  # fmt: skip
def test_what_is_no_tensor_and_no_row_is_refused(draw, message):
    """By name, and with its type."""
    with pytest.raises(TypeError, match=re.escape(message)):
        draw()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: draw_bag_of_words("no word", VOCABULARY, VOTES, NAMES), "text has 0 different words"),
        (lambda: draw_bag_of_words("dim", VOCABULARY, VOTES, ["one"]), "expected a name for each"),
        (lambda: draw_votes(["dim"], VOTES, NAMES), "words has 1 entries and weight 3 rows"),
        (lambda: draw_blocks({"size": ["large"]}, torch.tensor([0]), VOTES), "columns has 1 categories"),
        (lambda: draw_blocks(COLUMNS, torch.tensor([], dtype=torch.int64), VOTES), "ids has shape (0,)"),
        (lambda: draw_blocks(COLUMNS, torch.tensor([[1]]), VOTES), "ids has shape (1, 1)"),
        (lambda: draw_bag_of_words("dim", VOCABULARY, VOTES / 0, NAMES), "weight holds "),
        (lambda: draw_votes(list(VOCABULARY), VOTES * NAN, NAMES), "weight holds nan, expected finite numbers"),
        (lambda: draw_hashes({"a": 4}, 4), "a key has row 4"),
        (lambda: draw_hashes({}, 4), "rows has 0 keys"),
        (lambda: draw_coinciding([1], {"a": [1]}, **LABELS), "expected 2 or 3"),
        (lambda: draw_coinciding([1], {"a": [1], "b": [1, 2]}, **LABELS), "curve 'b' has 2 values"),
        (lambda: draw_measured([1], {}, **LABELS), "measured has 0 curves"),
        (lambda: draw_measured([1], {"a": []}, **LABELS), "'a' has 0 values"),
        (lambda: draw_measured([1], {"a": [(2, 1, 3)]}, **LABELS), "expected 0 < low"),
        (lambda: draw_parts({}, x_label="", alt=""), "wholes has 0 bars"),
        (lambda: draw_parts({"a": {"b": -1.0}}, x_label="", alt=""), "negative size"),
        (lambda: draw_parts({"a": {"b": NAN}}, x_label="", alt=""), "'a' holds nan, expected finite numbers"),
        (lambda: draw_parts({"a": {"b": float("inf")}}, x_label="", alt=""), "'a' holds inf"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw, message):
    """Sizes that do not fit together and drawings too large to read get a message."""
    with pytest.raises(ValueError, match=re.escape(message)):
        draw()


def test_rows_outside_of_the_table_are_refused():
    """A record cannot pick what is not there."""
    with pytest.raises(IndexError):
        draw_blocks(COLUMNS, torch.tensor([3]), VOTES)
