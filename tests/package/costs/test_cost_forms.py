"""Every form computes its definition, and its bytes and operations are those of its tensors."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from lookup_matmul import lookup, one_hot, one_hot_matmul, rounding_bound
from lookup_matmul.costs import kernels
from lookup_matmul.costs.count import ALONE, BAG, BUILT, COMPILED, CSR, DTYPES, Case
from lookup_matmul.costs.forms import check_result, make_call, sample_inputs

SIZES = {"vocab_size": 50, "dim": 8, "ids": 64}
CASES = [
    *(Case(form, "forward", **SIZES) for form in ("lookup", BUILT, ALONE)),
    *(Case(form, "backward", **SIZES) for form in ("lookup", ALONE)),
    *(Case(form, "forward", **SIZES, bags=4) for form in (BAG, CSR)),
]
LOOKUP = Case("lookup", "forward", vocab_size=7, dim=5, ids=9)
IDS = torch.tensor([0, 3, 3, 6, 1, 0, 3, 6, 6])  # 4 of them distinct
every_dtype = pytest.mark.parametrize("dtype", ["float32", "tf32", "bfloat16"])
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[:2]}, {case.bags}")


def by_hand(case, inputs):
    """Return the definition, by loops over the ids in float64."""
    ids = inputs[0].tolist()
    table, row_gradients, weights = (tensor.double().numpy() for tensor in inputs[1:])
    if case.direction == "backward":
        result = np.zeros_like(table)
        for k, row in enumerate(ids):
            result[row] += row_gradients[k]
        return result
    if not case.bags:
        return np.stack([table[row] for row in ids])
    result = np.zeros((case.bags, case.dim))
    for k, row in enumerate(ids):
        result[k // (len(ids) // case.bags)] += weights[k] * table[row]
    return result


@every_case
def test_every_form_is_its_definition(case, device):
    """Against loops in float64; the check accepts what rounding explains."""
    inputs = sample_inputs(case, device)
    result = make_call(case, inputs)()
    expected = by_hand(case, [tensor.cpu() for tensor in inputs])
    np.testing.assert_allclose(result.cpu().numpy(), expected, rtol=1e-4, atol=1e-5)
    check_result(case, inputs, result)


@every_case
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_wrong_result_is_seen_in_every_dtype(case, dtype):
    """One wrong row, a missing one and zeros are more than rounding."""
    case = case._replace(dtype=dtype)
    inputs = sample_inputs(case, "cpu")
    expected = torch.from_numpy(by_hand(case, inputs)).to(DTYPES[dtype])
    check_result(case, inputs, expected)
    row = int(inputs[0][0]) if case.direction == "backward" else 0
    for wrong in (expected.clone(), expected.clone()):
        wrong[row] = expected[row].roll(1)
        with pytest.raises(AssertionError, match="not within"):
            check_result(case, inputs, wrong)
        with pytest.raises(AssertionError, match="not within"):
            check_result(case, inputs, torch.zeros_like(expected))


def test_a_lookup_and_its_product_may_not_round():
    """One unit in the last place is too much, but not for TF32."""
    case = CASES[0]
    inputs = sample_inputs(case, "cpu")
    result = make_call(case, inputs)()
    result[3, 2] = torch.nextafter(result[3, 2], torch.tensor(9.0))
    with pytest.raises(AssertionError, match="1 of 512 elements differ"):
        check_result(case, inputs, result)
    check_result(case._replace(dtype="tf32"), inputs, result)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_bag_may_round_its_products_and_their_sum(dtype):
    """16 products are rounded once each, then added up: as a sum of 17 terms."""
    case = Case(BAG, "forward", **SIZES, dtype=dtype, bags=4)
    inputs = [tensor.abs() for tensor in sample_inputs(case, "cpu")]  # a sum is its own size
    expected = torch.from_numpy(by_hand(case, inputs))
    bound = rounding_bound(17, DTYPES[dtype])
    check_result(case, inputs, expected * (1 + 0.999 * bound))
    with pytest.raises(AssertionError, match="not within"):
        check_result(case, inputs, expected * (1 + 1.001 * bound))


def test_inputs_are_the_same_each_time():
    """So all forms of a case compute with one table."""
    for first, second in zip(*(sample_inputs(CASES[0], "cpu") for _ in range(2)), strict=True):
        assert torch.equal(first, second)


def test_the_compiled_product_is_compiled_from_a_product(monkeypatch):
    """Compiling takes seconds, so the function that would be compiled runs."""
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    case = CASES[0]._replace(form=COMPILED)
    inputs = sample_inputs(case, "cpu")
    assert torch.equal(make_call(case, inputs)(), inputs[1][inputs[0]])


@every_dtype
def test_a_lookup_reads_ids_and_distinct_rows_and_writes_rows(dtype):
    """Against the bytes of these tensors."""
    table = torch.ones(7, 5, dtype=DTYPES[dtype])
    (kernel,) = kernels(LOOKUP._replace(dtype=dtype), distinct=4)
    tensors = (IDS, table[IDS.unique()], lookup(IDS, table))
    assert kernel == ("rows", sum(tensor.nbytes for tensor in tensors), 0)


@every_dtype
def test_a_product_reads_both_factors_and_writes_its_result(dtype):
    """Against the bytes of these tensors, and the operations that torch counts."""
    table = torch.ones(7, 5, dtype=DTYPES[dtype])
    encoding = one_hot(IDS, 7, dtype=table.dtype)
    with FlopCounterMode(display=False) as counter:
        result = encoding @ table
    case = LOOKUP._replace(form="multiplication alone", dtype=dtype)
    (product,) = kernels(case, distinct=4)
    moved = encoding.nbytes + table.nbytes + result.nbytes
    assert product == ("product", moved, counter.get_total_flops())


def test_a_product_that_builds_its_one_hot_rows_writes_them_first():
    """Zeros everywhere, then a one for each id; the product is the same."""
    *writing, product = kernels(LOOKUP._replace(form="one-hot built and multiplied"), distinct=4)
    encoding = one_hot(IDS, 7, dtype=torch.float32)
    assert writing == [("zeros", encoding.nbytes, 0), ("ones", IDS.nbytes, 0)]
    assert [product] == [*kernels(LOOKUP._replace(form="multiplication alone"), distinct=4)]
    with FlopCounterMode(display=False) as counter:
        one_hot_matmul(IDS, torch.ones(7, 5))
    assert product.operations == counter.get_total_flops()


@pytest.mark.parametrize(
    "case", [LOOKUP._replace(form="sparse product"), LOOKUP._replace(direction="backward")]
)
def test_other_forms_and_directions_are_refused(case):
    """With the name that arrived and those that are counted."""
    with pytest.raises(ValueError, match=rf"form is '{case.form}' {case.direction}, expected"):
        kernels(case, distinct=4)
