"""Sparse rows of every notation are read as bags, sharing memory where that is possible."""

import numpy as np
import pytest
import torch
from scipy import sparse

from lookup_matmul import shares_storage, to_bags, to_torch_csr


def matrix(index: type = np.int32, dtype: type = np.float32) -> sparse.csr_array:
    """Draw a small matrix of the wanted dtypes."""
    rows = sparse.random_array((6, 9), density=0.3, format="csr", dtype=dtype, rng=1)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    return rows


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bags_share_the_memory_of_scipy(index, dtype):
    """A change of the matrix is seen in each of the three tensors."""
    rows = matrix(index, dtype)
    bags = to_bags(rows)
    for member, array in zip(bags, (rows.indices, rows.indptr, rows.data), strict=True):
        assert np.shares_memory(member.numpy(), array)
        assert member.numpy().dtype == array.dtype


def test_bags_share_the_memory_of_torch():
    """All three members are those of the CSR tensor."""
    rows = to_torch_csr(to_bags(matrix()), 9)
    bags = to_bags(rows)
    for member, part in zip(
        bags, (rows.col_indices(), rows.crow_indices(), rows.values()), strict=True
    ):
        assert shares_storage(member, part)


def test_bags_of_tensors_pass_through():
    """A triple is checked and returned as it is, without a number of columns to check against."""
    ids, offsets = torch.tensor([7, 10**6]), torch.tensor([0, 2])
    assert to_bags((ids, offsets)) == (ids, offsets, None)
    with pytest.raises(IndexError, match="row 0 names column -1"):
        to_bags((torch.tensor([-1]), torch.tensor([0, 1])))
