"""The drawing of a language model shows its one table at both ends, and names the rows used."""

import re

import pytest
import torch
from drawings import assert_colours_can_be_replaced, assert_told, bold, texts, width_of

from lookup_matmul.figures import draw_both_ends, draw_points
from lookup_matmul.figures.palette import colours_of

IDS = torch.tensor(list(b"byte"))
BYTE = draw_both_ends("byte", IDS, 256)


def test_both_ends_show_inputs_targets_and_their_rows():
    """All tokens but the last go in, all but the first are read, and each row is drawn once."""
    drawn = texts(BYTE.svg)
    assert [text for text in drawn if text in {*"byte"}] == ["b", "y", "t"]
    assert [text for text in drawn if text.startswith("row ")] == [
        "row 98",
        "row 101",
        "row 116",
        "row 121",
    ]
    counts = {token: drawn.count(str(token)) for token in IDS.tolist()}
    assert counts == {98: 2, 121: 3, 116: 3, 101: 1}  # as an id, as a row, as a target
    assert drawn.count("256") == 3
    assert "one table," in bold(BYTE.svg)
    assert all(colours_of(token)[1] in BYTE.svg for token in IDS.tolist())
    assert "of the 256 scores the loss reads one: 121 at position 0" in BYTE.alt


def test_dots_stand_for_the_rows_between():
    """They are left out where one drawn row follows the other, and at the ends of the table."""
    for ids, dots in (([0, 1], 1), ([0, 3], 1), ([1, 2], 2), ([0, 2], 2), ([2, 2], 2)):
        drawing = draw_both_ends("ab", torch.tensor(ids), 4)
        assert texts(drawing.svg).count("⋮") == dots
    assert texts(draw_both_ends("ab", torch.tensor([0, 1]), 2).svg).count("⋮") == 0


@pytest.mark.parametrize("ids", [IDS, IDS[:2], torch.tensor([50_256, 3, 3, 128_255, 7])])
def test_it_fits_a_phone_and_can_be_heard(ids):
    """No colour is fixed, the width is that of a phone, and the story is the label."""
    drawing = draw_both_ends("bytes"[: len(ids)], ids, 128_256)
    assert_colours_can_be_replaced(drawing)
    assert_told(drawing)
    assert width_of(drawing) <= 330


def test_points_name_their_axes():
    """By default the two numbers are a row's own; a page may say what else they are."""
    drawn = texts(draw_points(torch.eye(2), ["a", "b"], [0, 1], alt="two").svg)
    assert {"first number of the row", "second number"} <= {*drawn}
    drawn = texts(draw_points(torch.eye(2), ["a", "b"], [0, 1], alt="two", axes=("x", "y")).svg)
    assert {"x", "y"} <= {*drawn}
    assert "second number" not in drawn


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: draw_both_ends("b", IDS[:1], 256), ValueError, "expected 2 to 5 ids"),
        (lambda: draw_both_ends("byte" * 2, IDS.repeat(2), 256), ValueError, "ids has shape (8,) for 8 tokens"),
        (lambda: draw_both_ends("byt", IDS, 256), ValueError, "for 3 tokens"),
        (lambda: draw_both_ends("byte", IDS[None], 256), ValueError, "ids has shape (1, 4)"),
        (lambda: draw_both_ends("byte", IDS, 121), IndexError, "ids[1] is 121"),
        (lambda: draw_both_ends("byte", IDS.double(), 256), TypeError, "ids has dtype torch.float64"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    """Too short, too long, without as many tokens, or with ids that have no row."""
    with pytest.raises(error, match=re.escape(message)):
        draw()
