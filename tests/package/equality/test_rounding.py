"""The bound of rounding errors holds for sums in any order."""

from fractions import Fraction
from functools import reduce

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lookup_matmul import rounding_bound

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@given(st.integers(1, 60), st.sampled_from(DTYPES), st.integers(0, 2**31))
def test_every_order_stays_within_the_bound(terms, dtype, seed):
    """The oracle is the exact sum in rational arithmetic."""
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(terms, generator=generator).to(dtype)
    exact = sum(map(Fraction, values.tolist()))
    bound = Fraction(rounding_bound(terms, dtype)) * sum(abs(Fraction(x)) for x in values.tolist())
    for order in (values, values.flip(0), values[torch.randperm(terms, generator=generator)]):
        assert abs(Fraction(reduce(torch.add, order).item()) - exact) <= bound


def test_the_bound_has_the_value_of_the_theorem():
    """129 terms in bfloat16: 128 times 1/256 is a half, and a half divided by a half is 1."""
    assert rounding_bound(129, torch.bfloat16) == 1.0


@pytest.mark.parametrize(
    ("terms", "dtype", "message"),
    [
        (0, torch.float32, "terms is 0, expected at least 1"),
        (2**8 + 1, torch.bfloat16, "fewer than 257 for torch.bfloat16; sum in a wider dtype"),
    ],
)  # fmt: skip
def test_numbers_of_terms_without_a_bound_are_refused(terms, dtype, message):
    """Too few terms, or too many."""
    with pytest.raises(ValueError, match=message):
        rounding_bound(terms, dtype)
