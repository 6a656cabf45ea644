"""The bytes counted are those that shapes and dtypes ask for."""

import os

import pytest
import torch

from lookup_matmul import allocated_bytes, lookup, one_hot, one_hot_matmul, peak_bytes

IDS, WEIGHT = torch.randint(50, (64,)), torch.randn(50, 16)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_each_form_against_its_shapes(dtype):
    """A lookup allocates its result, a product its encoding as well."""
    weight = WEIGHT.to(dtype)
    size = torch.finfo(dtype).bits // 8
    result, encoding = 64 * 16 * size, 64 * 50 * size
    assert allocated_bytes(lambda: lookup(IDS, weight, check=False)) == result
    assert allocated_bytes(lambda: one_hot(IDS, 50, dtype=dtype, check=False)) == encoding
    assert allocated_bytes(lambda: one_hot_matmul(IDS, weight, check=False)) == encoding + result


def test_the_check_allocates_two_numbers():
    """The smallest and the largest id."""
    unchecked = allocated_bytes(lambda: lookup(IDS, WEIGHT, check=False))
    assert allocated_bytes(lambda: lookup(IDS, WEIGHT)) == unchecked + 2 * 8


def test_dropped_tensors_count_and_views_do_not():
    """Each of a hundred temporaries is seen, though the allocator may hand out one address again."""

    def temporaries():
        for _ in range(100):
            torch.empty(1_000, dtype=torch.uint8)

    assert allocated_bytes(temporaries) == 100_000
    assert allocated_bytes(lambda: WEIGHT.T[3:].reshape(13, 50, 1)) == 0
    assert allocated_bytes(lambda: WEIGHT.clone().add_(1)) == WEIGHT.numel() * 4


def test_the_backward_pass_is_counted_too():
    """The gradient of the table has the size of the table."""
    weight = WEIGHT.clone().requires_grad_()
    forward = allocated_bytes(lambda: lookup(IDS, weight, check=False))
    both = allocated_bytes(lambda: lookup(IDS, weight, check=False).backward(torch.ones(64, 16)))
    ones = 64 * 16 * 4
    assert both - forward - ones >= weight.numel() * 4


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_sparse_tensors_count_what_they_hold(layout):
    """An encoding in a sparse layout is as large as its indices and values."""
    dense = torch.eye(8)
    sparse = getattr(dense, f"to_sparse_{layout}" if layout != "coo" else "to_sparse")()
    held = {"coo": 2 * 8 * 8, "csr": 9 * 8 + 8 * 8, "csc": 9 * 8 + 8 * 8}[layout] + 8 * 4
    assert allocated_bytes(lambda: sparse.clone()) == held


def test_the_peak_is_what_lives_at_one_time():
    """A hundred temporaries, one after the other, take the room of one."""

    def temporaries():
        for _ in range(100):
            torch.empty(1_000, dtype=torch.uint8)

    assert peak_bytes(temporaries) == 1_000
    assert peak_bytes(lambda: [torch.empty(1_000, dtype=torch.uint8) for _ in range(7)]) == 7_000
    assert peak_bytes(lambda: WEIGHT.T) == 0


def test_the_peak_of_each_form():
    """The product holds its encoding while the result is made; the lookup has no encoding."""
    result, encoding = 64 * 16 * 4, 64 * 50 * 4
    assert peak_bytes(lambda: lookup(IDS, WEIGHT, check=False)) == result
    assert peak_bytes(lambda: one_hot_matmul(IDS, WEIGHT, check=False)) == encoding + result


def test_the_peak_passes_warnings_on(capfd):
    """Only the profiler's own lines are kept off standard error."""
    assert peak_bytes(lambda: os.write(2, b"a line of the call\n")) == 0
    assert capfd.readouterr().err == "a line of the call\n"


def test_the_peak_passes_errors_on():
    """An error inside the call arrives, and standard error works again afterwards."""
    with pytest.raises(ZeroDivisionError):
        peak_bytes(lambda: 1 / 0)
    os.write(2, b"")


def test_the_peak_needs_a_device_that_reports():
    """No number is made up for a device that has none."""
    with pytest.raises(ValueError, match="device is meta, expected cpu or cuda"):
        peak_bytes(lambda: None, "meta")
