"""Conversion of bags to CSR matrices of SciPy and torch and back, with shared memory."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oldest import LOWEST
from scipy import sparse

from lookup_matmul.equality import assert_bitwise_equal, assert_within, shares_storage
from lookup_matmul.onehot.forms import lookup, one_hot, one_hot_matmul
from lookup_matmul.sparse.bags import Bags, to_bags, to_scipy_csr, to_torch_csr
from lookup_matmul.sparse.sums import dense_matmul, dense_rows, sum_of_rows

MATRIX = sparse.random_array((6, 9), density=0.3, format="csr", dtype=np.float32, rng=1)
BAGS = to_bags(MATRIX)  # of float32 and int32


@given(
    st.integers(0, 6),
    st.integers(1, 9),
    st.floats(0, 1),
    st.sampled_from([np.int32, np.int64]),
    st.sampled_from([np.float32, np.float64]),
)
def test_round_trips_are_exact(count, columns, density, index_dtype, dtype):
    """Through SciPy and through torch, the bags keep every bit."""
    rows = sparse.random_array((count, columns), density=density, format="csr", dtype=dtype, rng=0)
    rows.indices, rows.indptr = rows.indices.astype(index_dtype), rows.indptr.astype(index_dtype)
    rows.sort_indices()
    bags = to_bags(rows)
    if LOWEST and not len(bags.ids):
        with pytest.raises(RuntimeError, match="expected col_indices to be a contiguous tensor"):
            to_torch_csr(bags, columns)
        return
    for convert in (to_scipy_csr, to_torch_csr):
        result = to_bags(convert(bags, columns))
        assert torch.equal(result.ids, bags.ids)
        assert torch.equal(result.offsets, bags.offsets)
        assert_bitwise_equal(result.weights, bags.weights)


def test_scipy_shares_memory_except_where_documented():
    """Mixed index dtypes are copied as int64; float16, bfloat16 and float8 become float32."""
    for rows in (MATRIX, to_scipy_csr(BAGS, 9)):
        for array, member in zip((rows.indices, rows.indptr, rows.data), BAGS, strict=True):
            assert np.shares_memory(array, member.numpy())
    wide = Bags(BAGS.ids.long(), BAGS.offsets.long(), BAGS.weights)
    for columns, ids, offsets, shared in (
        (9, wide.ids, wide.offsets, (True, True)),  # not narrowed to int32
        (9, BAGS.ids, wide.offsets, (False, True)),
        (9, wide.ids, BAGS.offsets, (True, False)),
        (2**31 - 1, BAGS.ids, BAGS.offsets, (True, True)),
        (2**31, BAGS.ids, BAGS.offsets, (False, False)),
        (2**31, wide.ids, wide.offsets, (True, True)),
    ):
        rows = to_scipy_csr(Bags(ids, offsets), columns)
        assert (rows.indices.dtype == np.int32) is (shared == (True, True) and ids is BAGS.ids)
        assert np.shares_memory(rows.indices, ids.numpy()) is shared[0]
        assert np.shares_memory(rows.indptr, offsets.numpy()) is shared[1]
    for dtype in (torch.float16, torch.bfloat16, torch.float8_e5m2):
        assert to_scipy_csr(BAGS._replace(weights=BAGS.weights.to(dtype)), 9).dtype == np.float32
    assert to_scipy_csr(BAGS._replace(weights=None), 9).data.tolist() == [1.0] * len(BAGS.ids)


def test_to_torch_shares_memory():
    """Gradients flow to the weights; a SciPy matrix shares their memory without a gradient."""
    values = BAGS.weights.clone().requires_grad_()
    assert shares_storage(torch.from_numpy(to_scipy_csr(Bags(*BAGS[:2], values), 9).data), values)
    rows = to_torch_csr(BAGS._replace(weights=values), 9)
    assert shares_storage(rows.values(), values)
    assert shares_storage(rows.col_indices(), BAGS.ids)
    for result, expected in zip(to_bags(rows), (BAGS.ids, BAGS.offsets, values), strict=True):
        assert shares_storage(result, expected)
    (rows.to_dense() * 2).sum().backward()
    assert (values.grad == 2).all()


def test_torch_csr_has_the_index_dtype_of_the_ids():
    """The offsets are converted."""
    for ids, offsets in ((BAGS.ids.int(), BAGS.offsets.long()), (BAGS.ids.long(), BAGS.offsets)):
        rows = to_torch_csr(Bags(ids, offsets), 9)
        assert rows.crow_indices().dtype == rows.col_indices().dtype == ids.dtype


def test_implicit_ones_have_the_documented_dtype():
    """The default dtype, but float32 in SciPy."""
    bags = BAGS._replace(weights=None)
    torch.set_default_dtype(torch.float64)
    try:
        matrices = to_torch_csr(bags, 9), dense_rows(bags, 9), to_scipy_csr(bags, 9)
    finally:
        torch.set_default_dtype(torch.float32)
    assert [rows.dtype for rows in matrices] == [torch.float64, torch.float64, np.float32]


@pytest.mark.parametrize(
    ("ids", "pair"), [([5, 3, 0, 3], "3 before 0"), ([5, 0, 3, 3], "3 before 3")]
)
def test_torch_csr_requires_ascending_ids(ids, pair):
    """The remedy in the message works, and does not change the bags."""
    bags = Bags(torch.tensor(ids), torch.tensor([0, 1, 4]), torch.ones(4))
    remedy = r"sum_duplicates\(\) of a to_scipy_csr\(...\).copy"
    with pytest.raises(ValueError, match=f"row 1 has id {pair}, expected .* {remedy}"):
        to_torch_csr(bags, 6)
    rows = to_scipy_csr(bags, 6).copy()
    rows.sum_duplicates()
    assert to_torch_csr(to_bags(rows), 6).to_dense()[1].tolist() == [1, 0, 0, 2, 0, 0]
    assert bags.ids.tolist() == ids


def test_the_default_device_has_no_effect():
    """Results are on the device of the arguments."""
    weight = torch.randn(9, 2)
    decreasing = BAGS._replace(offsets=BAGS.offsets.flip(0) - BAGS.offsets[-1])
    with torch.device("meta"):
        assert_bitwise_equal(to_torch_csr(BAGS, 9).to_dense(), dense_rows(BAGS, 9))
        assert_bitwise_equal(sum_of_rows(MATRIX, weight), sum_of_rows(BAGS, weight))
        assert (to_scipy_csr(BAGS, 9) != MATRIX).nnz == 0
        results = dense_matmul(BAGS, weight), one_hot_matmul(BAGS.ids, weight), one_hot(BAGS.ids, 9)
        assert {result.device.type for result in results} == {"cpu"}
        assert_within(lookup(BAGS.ids, weight), weight[BAGS.ids], 0.0)
        with pytest.raises(ValueError, match="expected offsets that never fall"):
            to_bags(decreasing)
        with pytest.raises(IndexError, match="row 0 names column"):
            to_torch_csr(BAGS, 1)


def test_bags_need_not_be_contiguous():
    """Every second element of a longer tensor gives the same matrices."""
    strided = Bags(*(member.repeat_interleave(2)[::2] for member in BAGS))
    assert not any(member.is_contiguous() for member in strided)
    assert torch.equal(to_torch_csr(strided, 9).to_dense(), to_torch_csr(BAGS, 9).to_dense())
    assert (to_scipy_csr(strided, 9) != to_scipy_csr(BAGS, 9)).nnz == 0
