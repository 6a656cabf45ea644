"""Tensors on one storage are found, however they view it, and rows that moved by their bits."""

import numpy as np
import pytest
import torch

from lookup_matmul import rows_moved, shares_storage


def test_shares_storage_sees_views_and_ignores_empty_tensors():
    """Any view counts, an empty tensor holds nothing."""
    weight = torch.zeros(4, 5)
    assert shares_storage(weight, weight[1:, ::2].T)
    assert not shares_storage(weight, weight.clone())
    assert not shares_storage(torch.empty(0), torch.empty(0))
    assert not shares_storage(weight[:0], weight)
    assert not shares_storage(weight, weight[:0])
    assert not shares_storage(weight.to("meta"), weight.to("meta"))


class Elsewhere(torch.Tensor):
    """A tensor that says it is on an accelerator, whose addresses are its own."""

    device = "an accelerator"


def test_storages_of_two_devices_are_two():
    """Even where their addresses are the same."""
    weight = torch.zeros(4, 5)
    assert not shares_storage(weight, weight.as_subclass(Elsewhere))
    assert shares_storage(weight.as_subclass(Elsewhere), weight.T.as_subclass(Elsewhere))


def test_shares_storage_sees_views_of_one_array():
    """Torch makes a storage of each; where they overlap, a change of one is one of the other."""
    array = np.zeros(8, np.float32)
    full, end, begin = (torch.from_numpy(part) for part in (array, array[3:], array[:3]))
    assert shares_storage(full, end)
    assert shares_storage(end, full)
    assert shares_storage(begin, full)
    assert shares_storage(end[:1], full[:1])  # as of two views of one tensor
    assert not shares_storage(begin, end)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_smallest_move_is_seen(dtype):
    """One unit in the last place of one number, or the sign of a zero."""
    before = torch.ones(4, 3, dtype=dtype)
    before[3, 0], before[2] = 0.0, torch.nan  # which stays and has not moved
    after = before.clone()
    after[1, 2] += torch.finfo(dtype).eps
    after[3, 0] = -0.0
    assert rows_moved(before, after).tolist() == [False, True, False, True]


@pytest.mark.parametrize("after", [torch.zeros(3, 2), torch.zeros(2, 3).double()])
def test_other_tables_are_refused(after):
    """Shape and dtype must agree, and a table has two dimensions."""
    for before, changed in ((torch.zeros(2, 3), after), (torch.zeros(3), torch.zeros(3))):
        with pytest.raises(ValueError, match=r"expected the same table at two times; take before"):
            rows_moved(before, changed)


def test_a_layer_is_no_table():
    """On either side."""
    layer, table = torch.nn.Embedding(1, 1), torch.zeros(1, 1)
    for tables, name in (((layer, table), "before"), ((table, layer), "after")):
        with pytest.raises(TypeError, match=f"{name} is a Embedding, .*; pass the .weight"):
            rows_moved(*tables)


def test_a_table_is_not_compared_with_itself():
    """A forgotten clone would hide every move."""
    weight = torch.nn.Parameter(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"expected a copy; take before = weight.clone\(\)"):
        rows_moved(weight.detach(), weight)
    square = torch.zeros(2, 2)
    with pytest.raises(ValueError, match="share storage"):
        rows_moved(square.T, square)
