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
    assert (
        to_bags([torch.tensor([2**31 - 1]).int(), offsets[:1].new_tensor([0, 1])]).weights is None
    )


def test_both_names_of_a_long_dtype_are_shared():
    """NumPy has two for 64 bits; torch knows one of the unsigned."""
    for dtype in (np.longlong, np.ulonglong):
        rows = sparse.csr_array((np.ones(1, dtype), np.array([1]), np.array([0, 1])), shape=(1, 4))
        assert rows.data.dtype == dtype
        assert np.shares_memory(to_bags(rows).weights.numpy(), rows.data)


def test_an_edited_matrix_edits_its_bags():
    """As documented: SciPy adds up duplicates unasked, and a copy is spared."""
    arrays = np.array([1, 4, 2], np.float32), np.array([2, 2, 0]), np.array([0, 2, 3])
    rows = sparse.csr_array(arrays, shape=(2, 4))
    shared, spared = to_bags(rows), to_bags(rows.copy())
    rows != 0  # noqa: B015 - the comparison is what edits
    assert shared.weights.tolist() != [1, 4, 2]
    assert spared.weights.tolist() == [1, 4, 2]
