"""Every form computes its definition, and its bytes and operations are those of its tensors."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from lookup_matmul import lookup, one_hot, rounding_bound
from lookup_matmul.costs import Case, count, kernels
from lookup_matmul.costs.count import DTYPES, ONE_HOT, PRODUCT
from lookup_matmul.costs.forms import check_result, make_call, sample_inputs

SIZES = {"vocab_size": 50, "dim": 8, "ids": 64}
CASES = [
    *(Case(form, "forward", **SIZES) for form in ("lookup", ONE_HOT, PRODUCT)),
    *(Case(form, "backward", **SIZES) for form in ("lookup", ONE_HOT, PRODUCT)),
    *(Case(form, "forward", **SIZES, bags=4) for form in (count.BAG, count.CSR)),
]
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[:2]}, {case.bags}")


def by_hand(case, inputs):
    """Return the definition, by loops over the ids in float64."""
    ids = inputs[0].tolist()
    table, row_gradients, weights = (tensor.double().numpy() for tensor in inputs[1:])
    if case.direction == "forward" and not case.bags:
        return np.stack([table[row] for row in ids])
    result = np.zeros_like(table) if case.direction == "backward" else np.zeros((case.bags, 8))
    for k, row in enumerate(ids):
        if case.direction == "backward":
            result[row] += row_gradients[k]
        else:
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
def test_a_wrong_result_is_refused_in_every_dtype(case, dtype):
    """One wrong row and zeros are more than rounding."""
    case = case._replace(dtype=dtype)
    inputs = sample_inputs(case, "cpu")
    expected = torch.from_numpy(by_hand(case, inputs)).to(DTYPES[dtype])
    check_result(case, inputs, expected)
    row = int(inputs[0][0]) if case.direction == "backward" else 0
    rolled = expected.clone()
    rolled[row] = expected[row].roll(1)
    for wrong in (rolled, torch.zeros_like(expected)):
        with pytest.raises(AssertionError, match="not within"):
            check_result(case, inputs, wrong)


def test_a_lookup_and_its_product_may_not_round():
    """One unit in the last place is too much, but not for TF32."""
    inputs = sample_inputs(CASES[0], "cpu")
    result = make_call(CASES[0], inputs)()
    result[3, 2] = torch.nextafter(result[3, 2], torch.tensor(9.0))
    with pytest.raises(AssertionError, match="1 of 512 elements differ"):
        check_result(CASES[0], inputs, result)
    largest_error = check_result(CASES[0]._replace(dtype="tf32"), inputs, result)
    expected = inputs[1][inputs[0][3], 2].item()
    assert largest_error == pytest.approx(abs(result[3, 2].item() / expected - 1), rel=1e-6)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_gradient_in_half_precision_is_rounded_once(dtype):
    """2,000 terms may be rounded to the dtype after their sum, and not term by term."""
    case = Case("lookup", "backward", vocab_size=1, dim=8, ids=2000, dtype=dtype)
    inputs = [tensor.abs() for tensor in sample_inputs(case, "cpu")]
    gradient = inputs[2].double().sum(0, keepdim=True)
    assert check_result(case, inputs, gradient.to(DTYPES[dtype])) > 0
    term_by_term = torch.zeros(8, dtype=DTYPES[dtype])
    for row in inputs[2]:
        term_by_term += row
    with pytest.raises(AssertionError, match="not within"):
        check_result(case, inputs, term_by_term.unsqueeze(0))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_bag_may_round_its_products_and_their_sum(dtype):
    """16 products are rounded once each, then added up: as a sum of 17 terms."""
    case = Case(count.BAG, "forward", **SIZES, dtype=dtype, bags=4)
    inputs = [tensor.abs() for tensor in sample_inputs(case, "cpu")]  # a sum is its own size
    expected = torch.from_numpy(by_hand(case, inputs))
    bound = rounding_bound(17, DTYPES[dtype])
    check_result(case, inputs, expected * (1 + 0.999 * bound))
    with pytest.raises(AssertionError, match="not within"):
        check_result(case, inputs, expected * (1 + 1.001 * bound))


@pytest.mark.parametrize("form", [count.COMPILED, count.COMPILED_LOOKUP])
def test_a_compiled_form_is_compiled_from_its_definition(monkeypatch, form):
    """Compiling takes seconds, so the function that would be compiled runs on the same inputs."""
    monkeypatch.setattr(torch, "compile", lambda function, **_: function)
    inputs = sample_inputs(CASES[0], "cpu")
    compiled = make_call(CASES[0]._replace(form=form), inputs)
    assert torch.equal(compiled(), inputs[1][inputs[0]])


@pytest.mark.parametrize("dtype", ["float32", "tf32", "bfloat16"])
def test_bytes_and_operations_are_those_of_the_tensors(dtype):
    """Ids and distinct rows for a lookup, both factors for a product, and the result."""
    ids = torch.tensor([0, 3, 3, 6, 1, 0, 3, 6, 6])
    case = Case("lookup", "forward", vocab_size=7, dim=5, ids=9, dtype=dtype)
    table = torch.ones(7, 5, dtype=DTYPES[dtype])
    encoding = one_hot(ids, 7, dtype=table.dtype)
    with FlopCounterMode(display=False) as counter:
        result = encoding @ table
    rows = ids.nbytes + table[ids.unique()].nbytes + lookup(ids, table).nbytes
    assert kernels(case, distinct=4) == (("rows", rows, 0),)
    moved = encoding.nbytes + table.nbytes + result.nbytes
    product = ("product", moved, counter.get_total_flops())
    assert kernels(case._replace(form=PRODUCT), distinct=4) == (product,)
    writing = ("zeros", encoding.nbytes, 0), ("ones", ids.nbytes, 0)
    assert kernels(case._replace(form=ONE_HOT), distinct=4) == (*writing, product)


@pytest.mark.parametrize("case", [CASES[3], CASES[7]])
def test_other_forms_and_directions_are_not_counted(case):
    """With the name that arrived and those that are counted."""
    with pytest.raises(ValueError, match=rf"form is '{case.form}' {case.direction}, expected"):
        kernels(case, distinct=4)
