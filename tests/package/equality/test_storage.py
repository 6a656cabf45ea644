"""Detection of tensors that share storage, and of rows whose bits changed."""

import numpy as np
import pytest
import torch

from lookup_matmul import rows_moved, shares_storage


def test_views_share_storage_and_empty_tensors_do_not():
    """Neither do copies and tensors on the device meta."""
    weight = torch.zeros(4, 5)
    assert shares_storage(weight, weight[1:, ::2].T)
    assert not shares_storage(weight, weight.clone())
    assert not shares_storage(torch.empty(0), torch.empty(0))
    assert not shares_storage(weight[:0], weight)
    assert not shares_storage(weight, weight[:0])
    assert not shares_storage(weight.to("meta"), weight.to("meta"))


class TensorOnAccelerator(torch.Tensor):
    """A tensor that claims to be on another device."""

    device = "an accelerator"


def test_tensors_on_two_devices_do_not_share_storage():
    """Even if their addresses are equal."""
    weight = torch.zeros(4, 5)
    on_accelerator = weight.as_subclass(TensorOnAccelerator)
    assert not shares_storage(weight, on_accelerator)
    assert shares_storage(on_accelerator, weight.T.as_subclass(TensorOnAccelerator))


def test_overlapping_views_of_an_array_share_storage():
    """``torch.from_numpy`` makes a storage for each view of a NumPy array."""
    array = np.zeros(8, np.float32)
    full, tail, head = (torch.from_numpy(view) for view in (array, array[3:], array[:3]))
    assert shares_storage(full, tail)
    assert shares_storage(tail, full)
    assert shares_storage(head, full)
    assert shares_storage(tail[:1], full[:1])  # the storages overlap, though not the elements
    assert not shares_storage(head, tail)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_one_bit_makes_a_row_moved(dtype):
    """One unit in the last place, or the sign of a zero; an unchanged NaN does not."""
    before = torch.ones(4, 3, dtype=dtype)
    before[3, 0], before[2] = 0.0, torch.nan
    after = before.clone()
    after[1, 2] += torch.finfo(dtype).eps
    after[3, 0] = -0.0
    assert rows_moved(before, after).tolist() == [False, True, False, True]


@pytest.mark.parametrize("after", [torch.zeros(3, 2), torch.zeros(2, 3).double()])
def test_tables_that_cannot_be_compared_are_refused(after):
    """Shapes and dtypes must be equal, and a table has two dimensions."""
    for tables in ((torch.zeros(2, 3), after), (torch.zeros(3), torch.zeros(3))):
        with pytest.raises(ValueError, match=r"expected the same table at two times; take before"):
            rows_moved(*tables)


def test_a_layer_is_refused():
    """As either argument."""
    layer, table = torch.nn.Embedding(1, 1), torch.zeros(1, 1)
    for tables, name in (((layer, table), "before"), ((table, layer), "after")):
        with pytest.raises(TypeError, match=f"{name} is a Embedding, .*; pass the .weight"):
            rows_moved(*tables)


def test_tables_that_share_storage_are_refused():
    """A missing ``clone`` would hide every change."""
    weight = torch.nn.Parameter(torch.zeros(2, 3))
    with pytest.raises(ValueError, match=r"expected a copy; take before = weight.clone\(\)"):
        rows_moved(weight.detach(), weight)
    square = torch.zeros(2, 2)
    with pytest.raises(ValueError, match="share storage"):
        rows_moved(square.T, square)
