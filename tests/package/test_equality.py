"""Assertions with the place and size of a difference, bounds of sums, storage and changed rows."""

import re
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lookup_matmul import (
    assert_bitwise_equal,
    assert_within,
    rounding_bound,
    rows_moved,
    shares_storage,
)

NAN, INF = float("nan"), float("inf")
QUIET_NANS = torch.tensor([0x7FC00000, 0x7FC00001], dtype=torch.int32).view(torch.float32)
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_one_bit_makes_a_difference(dtype):
    """The next number is not equal; nor is the row of a table that holds it, or another zero."""
    before = torch.ones(4, 3, dtype=dtype)
    before[3, 0], before[2] = 0.0, torch.nan
    after = before.clone()
    after[1, 2] += torch.finfo(dtype).eps
    message = r"1 of 12 elements differ. First at \[1, 2\]: 1.0, expected"
    with pytest.raises(AssertionError, match=message):
        assert_bitwise_equal(before, after)
    after[3, 0] = -0.0
    assert rows_moved(before, after).tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (QUIET_NANS[:1], QUIET_NANS[1:], "First at [0]: nan (bits 0x7fc00000), expected nan (bits 0x7fc00001)."),
        (torch.tensor([1], dtype=torch.uint8), torch.tensor([255], dtype=torch.uint8), "Largest difference: 254 at [0]."),
        (torch.tensor([True]), torch.tensor([False]), "First at [0]: True, expected False. Largest difference: 1 at [0]."),
        (torch.tensor([NAN, 1.0]), torch.tensor([1.0, NAN]), "2 of 2 elements differ"),
        (torch.tensor([2**53]), torch.tensor([2**53 + 1]), "1 of 1 elements differ"),
        (torch.zeros(2, 2), torch.tensor([[0.0, 1.0], [0.0, -3.0]]), "First at [0, 1]: 0.0, expected 1.0. Largest difference: 3 at [1, 1]"),
        (torch.zeros(2), torch.zeros(2, dtype=torch.float64), "dtype torch.float32, expected torch.float64"),
        (torch.zeros(2), torch.zeros(2, 1), "shape (2,), expected (2, 1)"),
        (torch.zeros(2), torch.zeros(2, device="meta"), "device cpu, expected meta"),
    ],
)  # fmt: skip
def test_a_bitwise_difference_is_described(actual, expected, message):
    """The message has the count, the first and the largest difference, or what cannot be compared."""
    with pytest.raises(AssertionError, match=re.escape(message)):
        assert_bitwise_equal(actual, expected)


def test_the_bound_is_inclusive():
    """A difference equal to the bound passes; a tensor has a bound for each element."""
    actual, expected = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.25], dtype=torch.float64)
    assert_within(actual, expected, 0.25)
    assert_within(actual, expected, torch.tensor([0.0, 0.25]))
    with pytest.raises(AssertionError, match=r"not within 0.2499: 1 of 2 elements differ"):
        assert_within(actual, expected, 0.2499)
    message = r"not within the bound of each element: 1 of 2 .* \[1\]"
    with pytest.raises(AssertionError, match=message):
        assert_within(actual, expected, torch.tensor([0.5, 0.125]))


def test_within_zero_means_equal_values():
    """Zeros of either sign and equal infinities are equal; a NaN is never within any bound."""
    assert_within(torch.tensor([0.0, INF]), torch.tensor([-0.0, INF]), 0.0)
    with pytest.raises(AssertionError, match="not within 0"):
        assert_within(torch.tensor([INF]), torch.tensor([-INF]), 0.0)
    values = torch.tensor([NAN, 1.0])
    with pytest.raises(AssertionError, match=r"1 of 2 elements differ. First at \[0\]: nan"):
        assert_within(values, values, INF)


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        (-1.0, "bound is -1.0, expected a number of at least 0"),
        (NAN, "bound is nan, expected a number of at least 0"),
        (torch.ones(2, 3), "bound has shape (2, 3), expected one that broadcasts to (3,)"),
        (torch.ones(2), "bound has shape (2,), expected one that broadcasts to (3,)"),
        (torch.ones(1, 1), "bound has shape (1, 1), expected one that broadcasts to (3,)"),
    ],
)
def test_bounds_that_are_refused(bound, message):
    """Negative ones, NaN, and shapes to which the tensors would have to expand."""
    with pytest.raises(ValueError, match=re.escape(message)):
        assert_within(torch.zeros(3), torch.zeros(3), bound)


def test_a_lazily_negated_sign_counts():
    """The imaginary part of a conjugate is a view that torch negates when it is read."""
    numbers = torch.tensor([1 + 2j, 3 - 4j])
    parts = numbers.conj().imag
    assert parts.is_neg()
    assert_bitwise_equal(parts, torch.tensor([-2.0, 4.0]))
    assert_bitwise_equal(parts[:1], torch.tensor([-2.0]))  # contiguous() leaves the view as it is
    with pytest.raises(AssertionError, match=r"First at \[0\]: -2.0, expected 2.0"):
        assert_bitwise_equal(parts, numbers.imag)


def test_integers_are_not_compared_through_float64():
    """2**53 and 2**53 + 1 are the same float64; a single integer tensor is refused as well."""
    large = torch.tensor([2**53])
    for pair in ((large, large + 1), (large, large.double()), (large.double(), large)):
        with pytest.raises(TypeError, match="use assert_bitwise_equal for integers"):
            assert_within(*pair, 0.0)


@pytest.mark.parametrize("check", [assert_bitwise_equal, lambda a, b: assert_within(a, b, 1.0)])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0.0], "is a list, expected a torch.Tensor; pass the .weight of a layer, or wrap an array"),
        (torch.zeros(1, dtype=torch.complex64), "has layout torch.strided and dtype torch.complex64, expected a dense real tensor; use .to_dense(), torch.view_as_real or .dequantize()."),
        (torch.zeros(1).to_sparse(), "has layout torch.sparse_coo and dtype torch.float32, expected a dense real tensor; use .to_dense()"),
    ],
)  # fmt: skip
def test_other_types_are_refused(check, value, message):
    """Lists, sparse and complex tensors are refused as either argument."""
    with pytest.raises(TypeError, match=re.escape(f"actual {message}")):
        check(value, torch.zeros(1))
    with pytest.raises(TypeError, match=re.escape(f"expected {message}")):
        check(torch.zeros(1), value)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")  # deprecated
def test_quantized_tensors_are_refused():
    """Viewing their bits would crash the process."""
    quantized = torch.quantize_per_tensor(torch.zeros(1), 1.0, 0, torch.quint8)
    with pytest.raises(TypeError, match=r"dtype torch.quint8, expected .* \.dequantize\(\)"):
        assert_bitwise_equal(quantized, quantized)


@given(st.integers(1, 60), st.sampled_from(DTYPES), st.integers(0, 2**31))
def test_sums_in_every_order_are_within_the_bound_of_rounding(terms, dtype, seed):
    """The oracle is the exact sum in rational arithmetic."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(terms, generator=generator).to(dtype)
    exact = sum(map(Fraction, values.tolist()))
    bound = Fraction(rounding_bound(terms, dtype)) * sum(abs(Fraction(x)) for x in values.tolist())
    for order in (values, values.flip(0), values[torch.randperm(terms, generator=generator)]):
        assert abs(Fraction(reduce(torch.add, order).item()) - exact) <= bound


def test_the_bound_of_rounding_has_the_value_of_the_theorem():
    """129 terms in bfloat16: 128 times 1/256 is a half, and a half divided by a half is 1."""
    assert rounding_bound(129, torch.bfloat16) == 1.0
    with pytest.raises(ValueError, match="terms is 0, expected at least 1"):
        rounding_bound(0, torch.float32)
    message = "terms is 257, .* fewer than 257 for torch.bfloat16; sum in a wider dtype"
    with pytest.raises(ValueError, match=message):
        rounding_bound(257, torch.bfloat16)


def test_views_share_storage():
    """Copies, empty tensors and tensors on meta do not; NumPy's views have a storage each."""
    weight = torch.zeros(4, 5)
    on_meta = weight.to("meta")
    assert shares_storage(weight, weight[1:, ::2].T)
    for second in (weight.clone(), weight[:0], on_meta):
        assert not shares_storage(weight, second)
    assert not shares_storage(weight[:0], weight)
    assert not shares_storage(on_meta, on_meta)
    array = np.zeros(8, np.float32)
    full, tail, head = (torch.from_numpy(view) for view in (array, array[3:], array[:3]))
    assert shares_storage(full, tail)
    assert shares_storage(tail, full)
    assert shares_storage(head, full)
    assert shares_storage(tail[:1], full[:1])  # the storages overlap, though not the elements
    assert not shares_storage(head, tail)


TABLE, SQUARE = torch.zeros(2, 3), torch.zeros(2, 2)


@pytest.mark.parametrize(
    ("before", "after", "error", "message"),
    [
        (TABLE, torch.zeros(3, 2), ValueError, "expected the same table at two times; take before"),
        (TABLE, TABLE.double(), ValueError, "and torch.float64; expected the same table at two"),
        (TABLE[0], TABLE[0] + 1, ValueError, "expected the same table at two times; take before"),
        (torch.nn.Embedding(2, 3), TABLE, TypeError, "before is a Embedding, expected a torch.Ten"),
        (TABLE, torch.nn.Embedding(2, 3), TypeError, "after is a Embedding, expected a torch.Tens"),
        (TABLE, torch.nn.Parameter(TABLE), ValueError, "expected a copy; take before = weight.clo"),
        (SQUARE.T, SQUARE, ValueError, "before and after share storage"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(before, after, error, message):
    """Shapes and dtypes are equal; a table that shares its storage would hide every change."""
    with pytest.raises(error, match=re.escape(message)):
        rows_moved(before, after)
