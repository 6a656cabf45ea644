"""Two tensors on one storage are found, however they view it."""

import re

import numpy as np
import pytest
import torch

from lookup_matmul import shares_storage


def test_shares_storage_sees_views_and_ignores_empty_tensors():
    """Any view counts, an empty tensor holds nothing."""
    weight = torch.zeros(4, 5)
    assert shares_storage(weight, weight[1:, ::2].T)
    assert not shares_storage(weight, weight.clone())
    assert not shares_storage(torch.empty(0), torch.empty(0))
    assert not shares_storage(weight[:0].clone(), weight)
    assert not shares_storage(weight[:0], weight)
    assert not shares_storage(weight, weight[:0])
    assert not shares_storage(weight.to("meta"), weight.to("meta"))
    assert not shares_storage(weight.to("meta"), weight)


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
    whole, end, begin = (torch.from_numpy(part) for part in (array, array[3:], array[:3]))
    assert shares_storage(whole, end)
    assert shares_storage(end, whole)
    assert shares_storage(begin, whole)
    assert shares_storage(end[:1], whole[:1])  # as of two views of one tensor
    assert not shares_storage(begin, end)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (torch.nn.Embedding(4, 5), "first has type torch.nn.modules.sparse.Embedding, expected torch.Tensor; pass the .weight"),
        (torch.zeros(1).to_sparse(), "first has layout torch.sparse_coo, expected a dense tensor; compare its members"),
    ],
)  # fmt: skip
def test_what_has_no_storage_is_refused(first, message):
    """A layer holds a tensor, and a sparse tensor holds several."""
    with pytest.raises(TypeError, match=re.escape(message)):
        shares_storage(first, torch.zeros(1))
