"""Samples follow their law and are the same again; what no case can hold is refused."""

import pytest
import torch

from lookup_matmul.costs import kernels, measure_cases, predicted_s, sample_ids
from lookup_matmul.costs.cases import DTYPES, Case, sample_inputs

CASE = Case("lookup", "forward", 7, 3, 20, "uniform", "float32", "hot")


@pytest.mark.parametrize("draw", ["uniform", "zipf", "equal"])
def test_ids_are_those_of_a_table_and_the_same_again(draw):
    """int64, below the vocabulary size, from a seed of their own."""
    torch.manual_seed(1)
    ids = sample_ids(draw, 1000, 50)
    torch.manual_seed(2)
    assert ids.tolist() == sample_ids(draw, 1000, 50).tolist()
    assert ids.dtype == torch.int64
    assert ids.is_contiguous()
    assert 0 <= int(ids.min()) <= int(ids.max()) < 50
    assert (ids.unique().numel() == 1) == (draw == "equal")


def test_frequencies_follow_zipfs_law():
    """The most frequent id has 1 over a harmonic number of all, the next one half of that."""
    vocab_size, count = 50, 20_000
    counts = torch.bincount(sample_ids("zipf", count, vocab_size), minlength=vocab_size)
    share = counts.sort(descending=True).values.double() / count
    expected = 1 / torch.arange(1, vocab_size + 1).double()
    expected /= expected.sum()
    deviation = (expected * (1 - expected) / count).sqrt()
    assert (abs(share - expected)[:5] < 5 * deviation[:5]).all()
    assert counts.argsort(descending=True)[:5].tolist() != list(range(5))  # no neighbors


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"form": "look up"}, "form is 'look up', expected one of lookup, one-hot built"),
        ({"cache": "warm"}, "cache is 'warm', expected one of hot, cold"),
        ({"draw": "normal"}, "draw is 'normal', expected one of uniform, zipf, equal"),
        ({"bags": 3}, "form is 'lookup', expected one of embedding bag"),
    ],
)
def test_what_no_case_can_hold_is_refused(wrong, message):
    """Before it is counted, and so before it is predicted."""
    for ask in (lambda case: kernels(case, 2), lambda case: predicted_s(case, 2, {})):
        with pytest.raises(ValueError, match=message):
            ask(CASE._replace(**wrong))
    with pytest.raises(ValueError, match=message):
        measure_cases([CASE._replace(**wrong)], ceilings={}, device="cpu")
    with pytest.raises(KeyError, match="normal"):
        sample_ids("normal", 3, 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("direction", "bags"), [("forward", 0), ("forward", 4), ("backward", 0)])
def test_inputs_have_the_shapes_that_a_form_needs(device, direction, bags, dtype):
    """And no more: what a direction does not use is empty."""
    case = CASE._replace(direction=direction, dtype=dtype, bags=bags)
    inputs = sample_inputs(case, sample_ids("uniform", 20, 7), device)
    assert inputs.weight.shape == (7, 3)
    assert inputs.values.shape == (20 if bags else 0,)
    assert inputs.arriving.shape == (20 if direction != "forward" else 0, 3)
    assert {tensor.dtype for tensor in inputs[1:4]} == {DTYPES[dtype]}
    assert inputs.ids.device.type == inputs.weight.device.type == device
