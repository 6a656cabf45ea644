"""Rows that moved are found by their bits, and a table is not compared with itself."""

import pytest
import torch

from lookup_matmul import rows_moved


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_smallest_move_is_seen(dtype):
    """One unit in the last place of one number, or the sign of a zero."""
    before = torch.ones(4, 3, dtype=dtype)
    before[3, 0], before[2] = 0.0, torch.nan  # which stays and has not moved
    after = before.clone()
    after[1, 2] += torch.finfo(dtype).eps
    after[3, 0] = -0.0
    assert rows_moved(before, after).tolist() == [False, True, False, True]


def test_rows_of_an_sgd_step():
    """Plain SGD moves the rows that the batch used, and no others."""
    weight = torch.nn.Parameter(torch.randn(5, 2))
    before = weight.detach().clone()
    torch.nn.functional.embedding(torch.tensor([4, 1]), weight).sum().backward()
    torch.optim.SGD([weight], lr=0.1).step()
    assert rows_moved(before, weight).tolist() == [False, True, False, False, True]


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (torch.zeros(3, 2), "expected the same table at two times"),
        (torch.zeros(2, 3, dtype=torch.float64), "expected the same table at two times"),
        (torch.zeros(2, 3, device="meta"), "before is on cpu and after on meta, expected one device"),
    ],
)  # fmt: skip
def test_other_tables_are_refused(after, message):
    """Shape, dtype and device must agree, and a table has two dimensions."""
    with pytest.raises(ValueError, match=message):
        rows_moved(torch.zeros(2, 3), after)
    with pytest.raises(ValueError, match=r"expected the same table at two times; take before = w"):
        rows_moved(torch.zeros(3), torch.zeros(3))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ([[0.0]], "is a list, expected a torch.Tensor"),
        (torch.nn.Embedding(1, 1), "is a Embedding, expected a torch.Tensor; pass its .weight"),
        (torch.zeros(1, 1).to_sparse(), "has layout torch.sparse_coo"),
    ],
)
def test_what_is_no_table_is_named(other, message):
    """On either side."""
    with pytest.raises(TypeError, match=f"before {message}"):
        rows_moved(other, torch.zeros(1, 1))
    with pytest.raises(TypeError, match=f"after {message}"):
        rows_moved(torch.zeros(1, 1), other)


def test_a_table_is_not_compared_with_itself():
    """A forgotten clone would hide every move."""
    weight = torch.nn.Parameter(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"expected a copy; take before = weight.clone\(\)"):
        rows_moved(weight.detach(), weight)
    square = torch.zeros(2, 2)
    with pytest.raises(ValueError, match="share storage"):
        rows_moved(square.T, square)
