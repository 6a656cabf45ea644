"""What is timed is right by a definition of its own, and zeros never are."""

import numpy as np
import pytest
import torch
from made_up_recording import every_form
from oldest import LOWEST

from lookup_matmul.costs import cases, sample_ids
from lookup_matmul.costs.cases import (
    DTYPES,
    Case,
    check_result,
    error_bounds,
    expected_columns,
    sample_inputs,
)
from lookup_matmul.costs.contenders import contender
from lookup_matmul.equality.assertions import repeats_bitwise
from lookup_matmul.equality.rounding import rounding_bound

LOOKUP = Case("lookup", "forward", 50, 8, 64, "uniform", "float32", "hot")
CASES = [case for case in every_form(LOOKUP, 4) if case.form != "compiled one-hot"]
LACKING = RuntimeError if LOWEST else NotImplementedError  # what torch says of a lacking kernel
every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.direction}-{case.form}"
)


def inputs_of(case):
    """Sample what a case computes with, on the CPU."""
    return sample_inputs(case, sample_ids(case.draw, case.ids, case.vocab_size), "cpu")


def by_hand(case, inputs):
    """Compute a case in float64 with NumPy, one id after the other."""
    ids, weight, values, arriving = (tensor.double().numpy() for tensor in inputs[:4])
    ids = ids.astype(int)
    if case.form == "one-hot built":
        return np.eye(case.vocab_size)[ids]
    if case.bags:
        sums, each = np.zeros((case.bags, case.dim)), case.ids // case.bags
        for k, column in enumerate(ids):
            sums[k // each] += (1.0 if "without" in case.form else values[k]) * weight[column]
        return sums
    if case.direction == "forward":
        return weight[ids]
    gradient = np.zeros_like(weight)
    for k, column in enumerate(ids):
        gradient[column] += arriving[k]
    return gradient


@every_case
def test_the_oracle_is_the_plain_definition(case):
    """Against loops over the ids in float64, for some of the columns."""
    inputs = inputs_of(case)
    found, size = expected_columns(case, inputs, slice(1, 3))
    np.testing.assert_allclose(found.numpy(), by_hand(case, inputs)[:, 1:3], rtol=1e-9, atol=1e-12)
    assert bool((size >= found.abs() - 1e-12).all())


@every_case
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_form_is_right_and_another_row_is_not(case, dtype):
    """Rounding explains neither a row picked wrongly nor one that is missing, nor zeros."""
    case = case._replace(dtype=dtype)
    inputs = inputs_of(case)
    other = inputs._replace(ids=inputs.ids.clone())
    weightiest = int(inputs.values.argmax()) if case.bags else 20
    other.ids[weightiest] = (other.ids[weightiest] + 1) % 50
    try:
        right = contender(case, inputs)()
    except LACKING:
        assert (case.form, DTYPES[dtype].itemsize) == ("sparse product", 2)
        return
    errors = check_result(case, inputs, right)
    exact = case.direction == "forward" and not case.bags
    assert (errors["max_error"] == errors["relative_error"] == 0.0) == exact
    assert errors["error_bound"] == error_bounds(case, int(inputs.ids.bincount().max()))[0] < 0.2
    for wrong in (contender(case, other)(), torch.zeros_like(right.to_dense())):
        with pytest.raises(AssertionError, match=r"not within|in norm"):
            check_result(case, inputs, wrong)


def test_zeros_do_not_pass_where_a_sum_may_stop_growing():
    """Where the bound of each element allows everything, the error in norm does not."""
    case = Case("lookup", "backward", 16, 8, 2**16, "uniform", "bfloat16", "hot")
    inputs = inputs_of(case)
    right = contender(case, inputs)()
    errors = check_result(case, inputs, right)
    assert errors["error_bound"] == 1.0
    assert errors["relative_error"] < 0.3
    with pytest.raises(AssertionError, match=r"off by 1 in norm, expected at most 0\.5"):
        check_result(case, inputs, torch.zeros_like(right))
    with pytest.raises(AssertionError):
        check_result(case, inputs, right * torch.nan)


def test_a_large_result_is_checked_in_parts(monkeypatch):
    """Down to a column at a time, and an error in the last column is seen."""
    inputs = inputs_of(LOOKUP)
    result = contender(LOOKUP, inputs)()
    monkeypatch.setattr(cases, "AT_ONCE", 1)
    assert check_result(LOOKUP, inputs, result)["max_error"] == 0.0
    result[3, 7] += 1
    with pytest.raises(AssertionError, match="1 of 64 elements differ"):
        check_result(LOOKUP, inputs, result)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_bag_is_allowed_the_rounding_of_its_products_and_their_sum(dtype):
    """16 products are rounded once each, then added up: as a sum of 17 terms."""
    case = LOOKUP._replace(form="embedding bag", bags=4, dtype=dtype)
    assert case.ids // case.bags == 16
    assert error_bounds(case, 64)[0] == rounding_bound(17, DTYPES[dtype])
    assert error_bounds(case._replace(bags=64), 64)[0] == rounding_bound(2, DTYPES[dtype])


def test_repeating_bits_are_told_from_equal_numbers():
    """A zero that changes its sign is no repetition; nor is another order of a sparse gradient."""
    assert repeats_bitwise(lambda: torch.ones(3))
    zeros = iter([0.0, 0.0, -0.0, 0.0, 0.0])
    assert not repeats_bitwise(lambda: torch.tensor([next(zeros)]))
    indices = iter([[[0, 1]], [[1, 0]]] * 3)
    assert not repeats_bitwise(
        lambda: torch.sparse_coo_tensor(
            torch.tensor(next(indices)), torch.ones(2), (2,), check_invariants=True
        )
    )
    table = torch.zeros(3)
    assert not repeats_bitwise(lambda: table.add_(1))  # though it is one tensor
