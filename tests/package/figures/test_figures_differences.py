"""The drawing of two outputs that should be the same."""

import re

import pytest
import torch
from drawings import assert_colours_can_be_replaced, texts, width_of

from lookup_matmul.figures import draw_differences
from lookup_matmul.figures.palette import PICK

NAN = float("nan")
FIRST = torch.tensor([[1.0, -0.0, NAN], [2.0, 3.0, 4.0]])
SECOND = torch.tensor([[1.0, 0.0, NAN], [2.0, 3.5, 4.0], [0.0, 0.0, 0.0]])
DRAWN = draw_differences({"Embedding": FIRST, "Linear": SECOND})


def filled(svg):
    """Count the cells that are marked."""
    return len(re.findall(rf"fill: var\(--figure-pick, {PICK}", svg))


def test_what_differs_in_a_bit_is_marked_in_both():
    """A sign of a zero and a number; a NaN with the same bits agrees, a further row does not."""
    assert filled(DRAWN.svg) == 2 * 2 + 3
    assert filled(draw_differences({"a": FIRST, "b": FIRST}).svg) == 0
    assert texts(DRAWN.svg).count("3.5000") == texts(DRAWN.svg).count("-0.0000") == 1
    assert texts(DRAWN.svg).count("nan") == 2


def test_the_words_name_the_places():
    """Whoever hears the drawing gets the same numbers."""
    assert DRAWN.alt == (
        "2 of 6 numbers differ. row 0: column 1 is -0.0000 in Embedding, 0.0000 in Linear. "
        "row 1: column 1 is 3.0000 in Embedding, 3.5000 in Linear. "
        "Linear has 3 rows, the other 2."
    )
    named = draw_differences({"a": FIRST[1:], "b": SECOND[:1]}, labels=["id 7"])
    assert "id 7: column 0 is" in named.alt


def test_another_dtype_differs_where_its_values_do():
    """1.0 is the same number in both, 0.1 is not."""
    numbers = torch.tensor([[1.0, 0.1]])
    assert filled(draw_differences({"a": numbers, "b": numbers.bfloat16()}).svg) == 2


def test_it_is_narrow_and_takes_the_colours_of_the_page():
    """The widest that is allowed fits a phone."""
    assert width_of(draw_differences({"a": torch.zeros(6, 5), "b": torch.zeros(6, 5)})) <= 320
    assert_colours_can_be_replaced(DRAWN)


@pytest.mark.parametrize(
    ("shapes", "labels", "message"),
    [
        ([(2, 3)], (), "expected two tables of 1 to 6 rows"),
        ([(2, 3), (2, 4)], (), "expected two tables"),
        ([(7, 3), (7, 3)], (), "expected two tables"),
        ([(2, 6), (2, 6)], (), "number of columns, 1 to 5; draw a slice"),
        ([(3,), (3,)], (), "expected two tables"),
        ([(2, 3), (2, 3)], ["id 1"], "labels has 1 entries, expected 2"),
    ],
)
def test_what_cannot_be_drawn_is_refused(shapes, labels, message):
    """With the shapes that arrived and those that were expected."""
    outputs = {str(i): torch.zeros(shape) for i, shape in enumerate(shapes)}
    with pytest.raises(ValueError, match=message):
        draw_differences(outputs, labels=labels)


def test_lists_are_refused():
    """With the name of the output."""
    with pytest.raises(TypeError, match=r"b has type builtins.list, expected torch.Tensor; wrap"):
        draw_differences({"a": torch.ones(1, 1), "b": [[1.0]]})
