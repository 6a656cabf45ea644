"""Drawings of a spreading NaN, of bits, and of a path: right numbers, right words, clear refusals."""

import pytest
import torch
from drawings import assert_colours_can_be_replaced, assert_told, bold, texts

from lookup_matmul.figures import draw_bits, draw_path, draw_spread

torch.manual_seed(123)
WEIGHT = torch.randn(4, 5)
IDS = torch.tensor([2, 3, 1])
NAN, INF = float("nan"), float("inf")


def broken() -> torch.Tensor:
    """Give the table with a NaN and an infinity in row 0, which no id asks for."""
    table = WEIGHT.clone()
    table[0, 0], table[0, 1] = NAN, -INF
    return table


TABLE = torch.tensor([[1.0, 0.0], [3.0, 1.0], [-1.0, 2.0], [0.0, -3.0]])
SCORE = torch.tensor([2.0, -1.0])
NUMBER = WEIGHT[3, 0]
CUT = (NUMBER.view(torch.int32) & ~0x1FFF).view(torch.float32)
DRAWINGS = {
    "spread": draw_spread(IDS, broken()),
    "bits": draw_bits(
        {"float32": (NUMBER, 23), "TF32": (CUT, 10), "bfloat16": (NUMBER.bfloat16(), 7)}
    ),
    "path": draw_path(TABLE, 2, 1, torch.linspace(0, 1, 5), SCORE),
}


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_drawing_has_words_and_only_colours_of_the_page(drawing):
    """A label for screen readers, and no colour that the page could not replace."""
    assert_told(drawing)
    assert_colours_can_be_replaced(drawing)


def test_spread_shows_what_the_product_and_the_lookup_give():
    """Two numbers of the table are not finite, six of the product, none of the lookup."""
    drawn = texts(DRAWINGS["spread"].svg)
    assert (drawn.count("NaN"), drawn.count("-Inf")) == (1 + 6, 1)
    assert bold(DRAWINGS["spread"].svg).count("NaN") == 7
    for value in WEIGHT[IDS].flatten().tolist():
        assert f"{value:.2f}" in drawn
    assert drawn.count(f"{WEIGHT[2, 0]:.2f}") == 2  # the table and the lookup
    assert drawn.count(f"{WEIGHT[2, 4]:.2f}") == 3
    alt = DRAWINGS["spread"].alt
    assert "Row 0 has NaN in column 0 and -Inf in column 1." in alt
    assert "The product for id 3 has NaN in column 0 and NaN in column 1." in alt
    assert alt.endswith("The lookup for id 1 is finite.")


def test_spread_of_a_row_that_is_asked_for_is_told():
    """The lookup of the broken row has the NaN too, and no other."""
    alt = draw_spread(torch.tensor([0, 1]), broken()).alt
    assert "The lookup for id 0 has NaN in column 0 and -Inf in column 1." in alt
    assert "The lookup for id 1 is finite." in alt


def test_spread_of_a_finite_table_says_so():
    """Nothing is outlined, and every result is finite."""
    drawing = draw_spread(IDS, WEIGHT)
    assert "NaN" not in drawing.svg
    assert drawing.alt.count("is finite.") == 6


@pytest.mark.parametrize(
    ("ids", "shape"), [((0,) * 7, (4, 5)), ((), (4, 5)), ((0,), (7, 5)), ((0,), (4, 6))]
)
def test_spread_refuses_what_nobody_could_read(ids, shape):
    """Also an empty batch."""
    with pytest.raises(ValueError, match="1 to 6 ids and rows, 1 to 5 columns"):
        draw_spread(torch.tensor(ids, dtype=torch.int64), torch.ones(shape))


def test_spread_refuses_bad_ids_as_the_forms_do():
    """The same words as everywhere."""
    with pytest.raises(IndexError, match=r"ids\[0\] is 4, but a table of 4 rows"):
        draw_spread(torch.tensor([4]), WEIGHT)


def test_bits_are_those_in_memory():
    """As many digits as each format has, in order, and the number beside its name."""
    drawn = texts(DRAWINGS["bits"].svg)
    digits = "".join(text for text in drawn if text in "01")
    expected = [
        f"{number.float().view(torch.int32).item() & 0xFFFFFFFF:032b}"[:length]
        for number, length in ((NUMBER, 32), (CUT, 19), (NUMBER.bfloat16(), 16))
    ]
    assert digits == "".join(expected)
    assert {"-2.83999395", "-2.83984375", "-2.84375", "sign", "exponent", "mantissa"} <= set(drawn)
    assert DRAWINGS["bits"].alt.endswith("mantissa 0110110, 16 bits fewer.")


@pytest.mark.parametrize("value", [0.0, -0.0, NAN, INF, 1e-40, 1.0])
def test_bits_of_unusual_numbers_can_be_drawn(value):
    """Zeros keep their sign bit, and a NaN is a number of the format too."""
    number = torch.tensor(value)
    bits = f"{number.view(torch.int32).item() & 0xFFFFFFFF:032b}"
    drawn = texts(draw_bits({"float32": (number, 23)}).svg)[2:]  # after name and number
    assert "".join(text for text in drawn if text in "01") == bits


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ((torch.tensor(0.1), 10), "and no bit set after them"),
        ((torch.tensor(0.1), 24), "expected 0 to 23"),
        ((torch.tensor([0.1, 0.2]), 23), "expected one number"),
        ((torch.tensor(0.1, dtype=torch.float64), 23), "expected a number that float32 holds"),
    ],
)
def test_bits_refuse_what_the_strip_could_not_show(entry, message):
    """A longer mantissa than said, two numbers, a number of float64."""
    with pytest.raises(ValueError, match=message):
        draw_bits({"name": entry})


@pytest.mark.parametrize("count", [0, 7])
def test_bits_refuse_no_strips_and_too_many(count):
    """One to six."""
    with pytest.raises(ValueError, match="expected 1 to 6"):
        draw_bits({str(k): (torch.tensor(1.0), 23) for k in range(count)})


def test_path_names_every_token_with_its_score():
    """Scores are those of the product, and the mixtures stand in the words."""
    drawn = texts(DRAWINGS["path"].svg)
    for k, score in enumerate((TABLE @ SCORE).tolist()):
        assert f"token {k}" in drawn
        assert f"score {score:g}" in drawn
    assert "over mixtures at (-1, 2), (0, 1.75), (1, 1.5), (2, 1.25), (3, 1)" in (
        DRAWINGS["path"].alt
    )


@pytest.mark.parametrize(
    ("weight", "start", "end", "shares", "direction", "message"),
    [
        (torch.ones(3, 3), 0, 1, [0.0], [1.0, 0.0], r"expected \(2 to 8, 2\)"),
        (torch.ones(9, 2), 0, 1, [0.0], [1.0, 0.0], r"expected \(2 to 8, 2\)"),
        (TABLE, 0, 4, [0.0], [1.0, 0.0], "end is 4, expected 0 to 3"),
        (TABLE, -1, 1, [0.0], [1.0, 0.0], "start is -1, expected 0 to 3"),
        (TABLE, 0, 1, [1.5], [1.0, 0.0], "numbers from 0 to 1"),
        (TABLE, 0, 1, [], [1.0, 0.0], "numbers from 0 to 1"),
        (TABLE, 0, 1, [0.0], [0.0, 0.0], "not both zero"),
        (TABLE * INF, 0, 1, [0.0], [1.0, 0.0], "weight holds inf, expected finite numbers"),
        (TABLE, 0, 1, [0.0], [NAN, 1.0], "direction holds nan, expected finite numbers"),
    ],
)
def test_path_refuses_what_is_no_path(weight, start, end, shares, direction, message):
    """Wrong shapes, ids outside the table, shares outside 0 to 1, no direction."""
    with pytest.raises(ValueError, match=message):
        draw_path(weight, start, end, torch.tensor(shares), torch.tensor(direction))
