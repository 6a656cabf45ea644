"""Bags become CSR matrices of SciPy and of torch, and return; memory is shared where possible."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oldest import LOWEST
from scipy import sparse

from lookup_matmul import (
    Bags,
    assert_bitwise_equal,
    assert_within,
    dense_matmul,
    dense_rows,
    lookup,
    one_hot,
    one_hot_matmul,
    shares_storage,
    sum_of_rows,
    to_bags,
    to_scipy_csr,
    to_torch_csr,
)


def matrix() -> sparse.csr_array:
    """Draw a small matrix of float32 with indices of int32."""
    return sparse.random_array((6, 9), density=0.3, format="csr", dtype=np.float32, rng=1)


@settings(deadline=None)
@given(
    st.integers(0, 6),
    st.integers(1, 9),
    st.floats(0, 1),
    st.sampled_from([np.int32, np.int64]),
    st.sampled_from([np.float32, np.float64]),
)
def test_there_and_back(count, columns, density, index, dtype):
    """Both ways round, through SciPy and through torch, every bit returns."""
    rows = sparse.random_array((count, columns), density=density, format="csr", dtype=dtype, rng=0)
    rows.indices, rows.indptr = rows.indices.astype(index), rows.indptr.astype(index)
    rows.sort_indices()
    bags = to_bags(rows)
    if LOWEST and not len(bags.ids):
        with pytest.raises(RuntimeError, match="expected col_indices to be a contiguous tensor"):
            to_torch_csr(bags, columns)
        return
    by_scipy, by_torch = to_bags(to_scipy_csr(bags, columns)), to_bags(to_torch_csr(bags, columns))
    for way in (by_scipy, by_torch):
        assert torch.equal(way.ids, bags.ids)
        assert torch.equal(way.offsets, bags.offsets)
        assert_bitwise_equal(way.weights, bags.weights)


def test_scipy_shares_memory_both_ways_and_copies_where_documented():
    """Values always, ids and offsets as int32; float16 and bfloat16 become float32."""
    bags = to_bags(given_rows := matrix())
    for rows in (given_rows, to_scipy_csr(bags, 9)):
        for array, member in zip((rows.indices, rows.indptr, rows.data), bags, strict=True):
            assert np.shares_memory(array, member.numpy())
    wide = Bags(bags.ids.long(), bags.offsets.long(), bags.weights)
    for columns, ids, offsets, shared in (
        (9, wide.ids, wide.offsets, (True, True)),  # though they could be int32
        (9, bags.ids, wide.offsets, (False, True)),
        (9, wide.ids, bags.offsets, (True, False)),
        (2**31 - 1, bags.ids, bags.offsets, (True, True)),
        (2**31, bags.ids, bags.offsets, (False, False)),
        (2**31, wide.ids, wide.offsets, (True, True)),
    ):
        rows = to_scipy_csr(Bags(ids, offsets), columns)
        assert (rows.indices.dtype == np.int32) is (shared == (True, True) and ids is bags.ids)
        assert np.shares_memory(rows.indices, ids.numpy()) is shared[0]
        assert np.shares_memory(rows.indptr, offsets.numpy()) is shared[1]
    for dtype in (torch.float16, torch.bfloat16, torch.float8_e5m2):
        assert to_scipy_csr(bags._replace(weights=bags.weights.to(dtype)), 9).dtype == np.float32
    assert to_scipy_csr(bags._replace(weights=None), 9).data.tolist() == [1.0] * len(bags.ids)


def test_to_torch_shares_memory():
    """Also the values that require a gradient, which reaches them; SciPy's stay behind."""
    bags = to_bags(matrix())
    values = bags.weights.clone().requires_grad_()
    assert shares_storage(torch.from_numpy(to_scipy_csr(Bags(*bags[:2], values), 9).data), values)
    rows = to_torch_csr(bags._replace(weights=values), 9)
    assert shares_storage(rows.values(), values)
    assert shares_storage(rows.col_indices(), bags.ids)
    read = to_bags(rows)
    for member, part in zip(read, (bags.ids, bags.offsets, values), strict=True):
        assert shares_storage(member, part)
    (rows.to_dense() * 2).sum().backward()
    assert (values.grad == 2).all()


@pytest.mark.parametrize(("ids", "offsets"), [("int", "long"), ("long", "int")])
def test_torch_csr_has_one_dtype_of_indices(ids, offsets):
    """That of the ids."""
    bags = to_bags(matrix())
    rows = to_torch_csr(Bags(getattr(bags.ids, ids)(), getattr(bags.offsets, offsets)()), 9)
    assert rows.crow_indices().dtype == rows.col_indices().dtype == getattr(torch, ids)


def test_ones_that_are_not_given_have_the_documented_dtype():
    """The default one, but float32 in SciPy's matrix."""
    bags = to_bags(matrix())._replace(weights=None)
    torch.set_default_dtype(torch.float64)
    try:
        matrices = to_torch_csr(bags, 9), dense_rows(bags, 9), to_scipy_csr(bags, 9)
    finally:
        torch.set_default_dtype(torch.float32)
    assert [rows.dtype for rows in matrices] == [torch.float64, torch.float64, np.float32]


@pytest.mark.parametrize(
    ("ids", "named"), [([5, 3, 0, 3], "3 before 0"), ([5, 0, 3, 3], "3 before 3")]
)
def test_torch_csr_needs_ascending_ids(ids, named):
    """The error names the row and the two ids, and the way out, which leaves the bags alone."""
    bags = Bags(torch.tensor(ids), torch.tensor([0, 1, 4]), torch.ones(4))
    way_out = r"sum_duplicates\(\) of a to_scipy_csr\(...\).copy"
    with pytest.raises(ValueError, match=f"row 1 has id {named}, expected .* {way_out}"):
        to_torch_csr(bags, 6)
    rows = to_scipy_csr(bags, 6).copy()
    rows.sum_duplicates()
    assert to_torch_csr(to_bags(rows), 6).to_dense()[1].tolist() == [1, 0, 0, 2, 0, 0]
    assert bags.ids.tolist() == ids


def test_the_default_device_decides_nothing():
    """Results are where their arguments are; a process may have another device in mind."""
    bags = to_bags(matrix())
    weight = torch.randn(9, 2)
    falling = bags._replace(offsets=bags.offsets.flip(0) - bags.offsets[-1])
    with torch.device("meta"):
        rows = to_torch_csr(bags, 9)
        assert rows.device.type == "cpu"
        assert_bitwise_equal(rows.to_dense(), dense_rows(bags, 9))
        assert_bitwise_equal(sum_of_rows(matrix(), weight), sum_of_rows(bags, weight))
        assert dense_matmul(bags, weight).device.type == "cpu"
        assert (to_scipy_csr(bags, 9) != matrix()).nnz == 0
        assert one_hot(bags.ids, 9).device.type == one_hot_matmul(bags.ids, weight).device.type
        assert_within(lookup(bags.ids, weight), weight[bags.ids], 0.0)
        with pytest.raises(ValueError, match="expected offsets that never fall"):
            to_bags(falling)
        with pytest.raises(IndexError, match="row 0 names column"):
            to_torch_csr(bags, 1)


def test_to_torch_copies_what_is_not_contiguous():
    """Every second element of a longer tensor is taken, as the other forms take it."""
    bags = to_bags(matrix())
    spread = Bags(*(member.repeat_interleave(2)[::2] for member in bags))
    assert not any(member.is_contiguous() for member in spread)
    assert torch.equal(to_torch_csr(spread, 9).to_dense(), to_torch_csr(bags, 9).to_dense())
    assert (to_scipy_csr(spread, 9) != to_scipy_csr(bags, 9)).nnz == 0
