"""The drawings are made from the tensors, scale, follow the page's colours and can be read aloud."""

import re
from xml.etree import ElementTree

import pytest
import torch

from lookup_matmul.figures import COLOURS, draw_lookup, draw_one_hot_product

torch.manual_seed(123)
WEIGHT = torch.randn(4, 5)
DRAWINGS = {
    "one id": draw_lookup(torch.tensor([1]), WEIGHT),
    "batch": draw_lookup(torch.tensor([2, 3, 1]), WEIGHT),
    "product": draw_one_hot_product(2, WEIGHT),
}


def texts(svg: str) -> list[str]:
    """Give the texts of a drawing in the order in which they were drawn."""
    return [
        node.text or "" for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")
    ]


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_numbers_come_from_the_tensor(drawing):
    """Every number of the table stands in the picture, as text."""
    drawn = texts(drawing.svg)
    for value in WEIGHT.flatten().tolist():
        assert f"{value:.4f}" in drawn


def test_lookup_draws_each_picked_row_twice():
    """Once in the table, once in the result, and an arrow between."""
    drawn = texts(DRAWINGS["batch"].svg)
    for row in range(4):
        assert drawn.count(f"{WEIGHT[row, 0]:.4f}") == (2 if row else 1)
    assert [text for text in drawn if text.startswith("id ")] == ["id 2", "id 3", "id 1"]


def test_product_draws_the_factors_in_order():
    """A factor for every row, one of them a one, and the sum below."""
    drawn = texts(DRAWINGS["product"].svg)
    assert [text[0] for text in drawn if text.endswith("×")] == ["0", "0", "1", "0"]
    assert drawn.count(f"{WEIGHT[2, 4]:.4f}") == 2


def test_words_tell_the_same_story():
    """The label names the ids, their rows, the numbers and the count of zeros."""
    row = ", ".join(f"{value:.4f}" for value in WEIGHT[2].tolist())
    assert f"Id 2 picks row 2: ({row})" in DRAWINGS["batch"].alt
    assert "The one-hot row of id 2 is (0, 0, 1, 0)." in DRAWINGS["product"].alt
    assert f"The sum is ({row}). 15 of 20 multiplications are by zero." in DRAWINGS["product"].alt
    for drawing in DRAWINGS.values():
        root = ElementTree.fromstring(drawing.svg)
        assert (root.get("role"), root.get("aria-label")) == ("img", drawing.alt)
        assert repr(drawing) == drawing.alt


@pytest.mark.parametrize("drawing", DRAWINGS.values(), ids=DRAWINGS)
def test_every_colour_can_be_replaced_by_the_page(drawing):
    """No colour is fixed: each is a property with a fallback."""
    rest = re.sub(r"var\(--figure-\w+, #[0-9a-f]{6}\)|url\(#[\w-]+\)", "", drawing.svg)
    assert rest != drawing.svg
    assert not re.search(r"#[0-9a-f]{6}|rgb|black|white", rest)
    assert all(name.startswith("--figure-") for name in COLOURS)


def test_several_drawings_fit_on_one_page():
    """Their ids do not collide, none styles the page, and drawing again gives the same text."""
    ids = [re.findall(r'\bid="([^"]+)"', drawing.svg) for drawing in DRAWINGS.values()]
    assert len({name for names in ids for name in names}) == sum(map(len, ids)) > 0
    for drawing in DRAWINGS.values():
        root = ElementTree.fromstring(drawing.svg)
        assert not [node for node in root.iter() if node.tag.endswith("}style")]
        assert root.get("viewBox")
        assert root.get("width") is None
    assert draw_lookup(torch.tensor([1]), WEIGHT) == DRAWINGS["one id"]


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: draw_lookup(torch.tensor([[1]]), WEIGHT), ValueError, "ids has shape (1, 1) and weight (4, 5), expected (n,)"),
        (lambda: draw_lookup(torch.arange(0), WEIGHT), ValueError, "each from 1 to 12"),
        (lambda: draw_one_hot_product(0, torch.zeros(13, 2)), ValueError, "draw a slice"),
        (lambda: draw_lookup(torch.tensor([4]), WEIGHT), IndexError, "ids[0] is 4"),
        (lambda: draw_one_hot_product(-1, WEIGHT), IndexError, "ids[0] is -1"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(draw, error, message):
    """Bad ids and tables too large to read get a message instead of a picture."""
    with pytest.raises(error, match=re.escape(message)):
        draw()
