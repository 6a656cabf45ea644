"""The bytes counted are those that shapes and dtypes ask for."""

import pytest
import torch

from lookup_matmul import allocated_bytes, lookup, one_hot, one_hot_matmul

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
