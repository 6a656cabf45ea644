"""Assertions of equality, and the place and size of the difference in their messages."""

import re

import pytest
import torch

from lookup_matmul import assert_bitwise_equal, assert_within

NAN, INF = float("nan"), float("inf")
QUIET_NANS = torch.tensor([0x7FC00000, 0x7FC00001], dtype=torch.int32).view(torch.float32)


@pytest.mark.parametrize(
    "values",
    [torch.tensor([1.0, -0.0, NAN, INF]), torch.tensor([True]), torch.tensor(3), torch.empty(0, 2)],
)
def test_a_tensor_is_bitwise_equal_to_its_copy(values):
    """Also a Parameter, and a tensor that is not contiguous."""
    assert_bitwise_equal(values, values.clone())
    if values.is_floating_point():
        assert_bitwise_equal(torch.nn.Parameter(values), values)
    if values.dim() == 2:
        assert_bitwise_equal(values.T, values.clone().mT)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_one_bit_makes_a_difference_in_every_dtype(dtype):
    """The next representable number is not equal."""
    actual = torch.ones(3, dtype=dtype)
    expected = actual.clone()
    expected[1] += torch.finfo(dtype).eps
    message = r"1 of 3 elements differ. First at \[1\]: 1.0, expected"
    with pytest.raises(AssertionError, match=message):
        assert_bitwise_equal(actual, expected)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (torch.tensor([0.0]), torch.tensor([-0.0]), "First at [0]: 0.0, expected -0.0"),
        (QUIET_NANS[:1], QUIET_NANS[1:], "First at [0]: nan (bits 0x7fc00000), expected nan (bits 0x7fc00001)."),
        (torch.tensor([1], dtype=torch.uint8), torch.tensor([255], dtype=torch.uint8), "Largest difference: 254 at [0]."),
        (torch.tensor([True]), torch.tensor([False]), "First at [0]: True, expected False. Largest difference: 1 at [0]."),
        (torch.tensor([NAN, 1.0]), torch.tensor([1.0, NAN]), "2 of 2 elements differ"),
        (torch.zeros(2, 2), torch.tensor([[0.0, 1.0], [0.0, -3.0]]), "First at [0, 1]: 0.0, expected 1.0. Largest difference: 3 at [1, 1]"),
        (torch.zeros(2), torch.zeros(2, dtype=torch.float64), "dtype torch.float32, expected torch.float64"),
        (torch.zeros(2), torch.zeros(2, 1), "shape (2,), expected (2, 1)"),
        (torch.zeros(2), torch.zeros(2, device="meta"), "device cpu, expected meta"),
    ],
)  # fmt: skip
def test_bitwise_difference_is_described(actual, expected, message):
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
    """Zeros of either sign and equal infinities are equal values."""
    assert_within(torch.tensor([0.0, INF]), torch.tensor([-0.0, INF]), 0.0)
    with pytest.raises(AssertionError, match="not within 0"):
        assert_within(torch.tensor([INF]), torch.tensor([-INF]), 0.0)


def test_a_nan_is_never_within():
    """Not even with an infinite bound and a NaN as the expected value."""
    values = torch.tensor([NAN, 1.0])
    with pytest.raises(AssertionError, match=r"1 of 2 elements differ. First at \[0\]: nan"):
        assert_within(values, values, INF)


@pytest.mark.parametrize("bound", [-1.0, NAN])
def test_negative_and_nan_bounds_are_refused(bound):
    """A bound is at least zero."""
    with pytest.raises(ValueError, match="expected a number of at least 0"):
        assert_within(torch.zeros(1), torch.zeros(1), bound)


@pytest.mark.parametrize("shape", [(2, 3), (2,), (1, 1)])
def test_a_bound_that_does_not_broadcast_is_refused(shape):
    """The tensors are not expanded to the shape of the bound either."""
    message = f"bound has shape {shape}, expected one that broadcasts to (3,)"
    with pytest.raises(ValueError, match=re.escape(message)):
        assert_within(torch.zeros(3), torch.zeros(3), torch.ones(shape))


def test_a_lazily_negated_sign_counts():
    """The imaginary part of a conjugate is a view that torch negates when it is read."""
    numbers = torch.tensor([1 + 2j, 3 - 4j])
    parts = numbers.conj().imag
    assert parts.is_neg()
    assert_bitwise_equal(parts, torch.tensor([-2.0, 4.0]))
    assert_bitwise_equal(
        parts[:1], torch.tensor([-2.0])
    )  # contiguous, so contiguous() keeps the view
    with pytest.raises(AssertionError, match=r"First at \[0\]: -2.0, expected 2.0"):
        assert_bitwise_equal(parts, numbers.imag)


def test_integers_are_not_compared_through_float64():
    """2**53 and 2**53 + 1 are the same float64; a single integer tensor is refused as well."""
    large = torch.tensor([2**53])
    for pair in ((large, large + 1), (large, large.double()), (large.double(), large)):
        with pytest.raises(TypeError, match="use assert_bitwise_equal for integers"):
            assert_within(*pair, 0.0)
    with pytest.raises(AssertionError, match="1 of 1 elements differ"):
        assert_bitwise_equal(large, large + 1)


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
