"""The drawing of a table that several processes hold."""

import pytest
import torch

from lookup_matmul.figures import draw_shards
from lookup_matmul.sharded import cut

WEIGHT = torch.arange(8.0).reshape(4, 2)


def test_each_process_gives_its_rows_and_zeros():
    """The story follows the tensors: whose row is where, and what is missing there."""
    drawing = draw_shards(torch.tensor([2, 0]), WEIGHT, cut(4, 2))
    assert drawing.alt == (
        "Process 0 holds rows 0 to 1 and gives (0.0000, 0.0000) for id 2, (0.0000, 1.0000) for id 0. "
        "Process 1 holds rows 2 to 3 and gives (4.0000, 5.0000) for id 2, (0.0000, 0.0000) for id 0. "
        "The sum is (4.0000, 5.0000) for id 2, (0.0000, 1.0000) for id 0."
    )
    assert drawing.svg.count("process 1 holds") == 1


def test_a_process_may_hold_nothing():
    """As when there are fewer rows than processes."""
    assert "Process 3 holds no row" in draw_shards(torch.tensor([1]), WEIGHT[:3], cut(3, 4)).alt


@pytest.mark.parametrize(
    "parts", [[slice(0, 2)], [slice(2, 4), slice(0, 2)], [slice(0, 4), slice(3, 4)]]
)
def test_parts_cover_the_table_once(parts):
    """A gap, another order and a row held twice are refused."""
    with pytest.raises(ValueError, match="expected slices that cover 4 rows in order"):
        draw_shards(torch.tensor([1]), WEIGHT, parts)


def test_numbers_of_rows_are_no_parts():
    """Where each begins is what has to be known."""
    with pytest.raises(TypeError, match=r"parts is \[2, 2\], expected slices; pass those of"):
        draw_shards(torch.tensor([1]), WEIGHT, [2, 2])
