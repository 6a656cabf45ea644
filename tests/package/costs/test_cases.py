"""The order of a sweep is by value, groups stand together, and ids follow their law."""

from itertools import groupby

import pytest
import torch

from lookup_matmul.costs import draw_ids, measure_cases, parts, predicted_s
from lookup_matmul.costs.cases import DTYPES, KNOWN, Case, draw_inputs
from lookup_matmul.costs.contenders import contender, forms_of
from lookup_matmul.costs.recorder import sweep

SWEEPS = {
    "quick": list(sweep("quick")),
    "cpu": list(sweep("cpu")),
    "gpu": list(sweep("cuda")),
}


@pytest.mark.parametrize("name", SWEEPS)
def test_each_case_stands_once_and_beside_those_it_shares_its_inputs_with(name):
    """Or a group would be measured in two halves, hours apart."""
    cases = SWEEPS[name]
    assert len(set(cases)) == len(cases)
    keys = [key for key, _ in groupby(cases, key=lambda case: case[1:])]
    assert len(set(keys)) == len(keys)
    for case in cases:
        assert case.form in forms_of(case.direction, case.bags)
        assert case.ids % max(case.bags, 1) == 0


def test_the_sizes_of_real_models_come_first():
    """In every precision, hot and cold; a run that is cut off has them."""
    first = [case for case in SWEEPS["gpu"] if case.form == "lookup"][:24]
    assert {case[2:4] for case in first} == {(50_257, 768), (128_256, 4096), (10**7, 128)}
    assert {case.dtype for case in first} == set(DTYPES)
    assert {case.cache for case in first} == {"hot", "cold"}


@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_a_first_pass_tells_something_of_everything(name):
    """Every direction, bags, draws, caches and precisions stand in the first third of a sweep."""
    cases = SWEEPS[name]
    first = cases[: len(cases) // 3 + 30]
    for field in ("form", "direction", "draw", "dtype", "cache"):
        told, all_of_it = ({getattr(case, field) for case in part} for part in (first, cases))
        assert told == all_of_it, field
    assert any(case.bags for case in first)


def test_a_gpu_measures_what_the_break_even_needs():
    """Many ids at sizes on both sides of it, the compiled product among the forms, in two dtypes."""
    many = [case for case in SWEEPS["gpu"] if case.ids == 2**16 and case.cache == "hot"]
    compiled = [case for case in many if case.form == "compiled one-hot"]
    assert {case.dtype for case in compiled} == {"float32", "bfloat16"}
    sizes = {case.vocab_size for case in compiled}
    assert min(sizes) < 150
    assert max(sizes) > 600
    for case in compiled:
        assert case._replace(form="lookup") in many


def test_a_backward_pass_and_a_step_are_hot():
    """They come right after what they are the gradient or the step of."""
    for cases in SWEEPS.values():
        assert {case.cache for case in cases if case.direction != "forward"} == {"hot"}


@pytest.mark.parametrize("draw", ["uniform", "zipf", "equal"])
def test_ids_are_those_of_a_table_and_the_same_again(draw):
    """int64, below the vocabulary size, from a seed of their own."""
    torch.manual_seed(1)
    ids = draw_ids(draw, 1000, 50)
    torch.manual_seed(2)
    assert ids.tolist() == draw_ids(draw, 1000, 50).tolist()
    assert ids.dtype == torch.int64
    assert ids.is_contiguous()
    assert 0 <= int(ids.min()) <= int(ids.max()) < 50
    assert (ids.unique().numel() == 1) == (draw == "equal")


def test_frequencies_follow_zipfs_law():
    """The most frequent id has 1 over a harmonic number of all, the next one half of that."""
    vocab_size, count = 50, 20_000
    counts = torch.bincount(draw_ids("zipf", count, vocab_size), minlength=vocab_size)
    share = counts.sort(descending=True).values.double() / count
    expected = 1 / torch.arange(1, vocab_size + 1).double()
    expected /= expected.sum()
    deviation = (expected * (1 - expected) / count).sqrt()
    assert (abs(share - expected)[:5] < 5 * deviation[:5]).all()
    assert counts.argsort(descending=True)[:5].tolist() != list(range(5))  # no neighbours


@pytest.mark.parametrize("draw", KNOWN["draw"])
def test_ids_are_not_drawn_from_no_rows(draw):
    """Nor fewer than none."""
    for count, rows in ((3, 0), (-1, 4)):
        with pytest.raises(ValueError, match=f"count is {count} and vocab_size {rows}, expected"):
            draw_ids(draw, count, rows)


@pytest.mark.parametrize(
    "ask",
    [
        lambda case: parts(case, 2),
        lambda case: predicted_s(case, 2, {}),
        lambda case: measure_cases([case], ceilings={}, device="cpu"),
    ],
)
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"direction": "up"}, "direction is 'up', expected 'forward', 'backward' or 'step'"),
        ({"cache": "warm"}, "cache is 'warm', expected 'hot' or 'cold'"),
        ({"dtype": "float64"}, "dtype is 'float64', expected 'float32', 'tf32', 'bfloat16' or 'float16'"),
        ({"draw": "normal"}, "draw is 'normal', expected 'uniform', 'zipf' or 'equal'"),
        ({"bags": 3, "direction": "step"}, "bags is 3 and direction 'step', expected bags in the forward direction only"),
    ],
)  # fmt: skip
def test_what_no_case_can_hold_is_refused(ask, wrong, message):
    """Before it is counted, predicted or measured."""
    case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")._replace(**wrong)
    with pytest.raises(ValueError, match=message):
        ask(case)


def test_another_draw_is_refused():
    """By name."""
    with pytest.raises(ValueError, match="draw is 'normal', expected 'uniform', 'zipf' or 'equal'"):
        draw_ids("normal", 3, 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("direction", "bags"), [("forward", 0), ("forward", 4), ("backward", 0), ("step", 0)]
)
def test_inputs_have_the_shapes_that_a_form_needs(device, direction, bags, dtype):
    """And no more: what a direction does not use is empty."""
    case = Case("lookup", direction, 7, 3, 20, "uniform", dtype, "hot", bags)
    inputs = draw_inputs(case, draw_ids("uniform", 20, 7), device)
    assert inputs.weight.shape == (7, 3)
    assert inputs.values.shape == (20 if bags else 0,)
    assert inputs.arriving.shape == (20 if direction != "forward" else 0, 3)
    assert {tensor.dtype for tensor in inputs[1:4]} == {DTYPES[dtype]}
    assert inputs.ids.device.type == inputs.weight.device.type == device


@pytest.mark.parametrize("before", [False, True])
def test_the_deterministic_form_asks_for_it_and_asks_no_longer(before, monkeypatch):
    """The switch is set during the call only, and is as before even if that fails."""
    seen = []

    def gradient(*_):
        seen.append(torch.are_deterministic_algorithms_enabled())
        raise RuntimeError

    monkeypatch.setattr(torch.ops.aten, "embedding_backward", gradient)
    case = Case("lookup, deterministic", "backward", 7, 3, 20, "uniform", "float32", "hot")
    call = contender(case, draw_inputs(case, draw_ids("uniform", 20, 7), "cpu"))
    torch.use_deterministic_algorithms(before)
    try:
        with pytest.raises(RuntimeError):
            call()
        assert seen == [True]
        assert torch.are_deterministic_algorithms_enabled() is before
    finally:
        torch.use_deterministic_algorithms(False)


def test_an_optimiser_steps_its_own_table_and_has_its_state_before():
    """The table of the group stays as it is; the first step, which makes the state, is not timed."""
    for form in forms_of("step", 0):
        case = Case(form, "step", 7, 3, 20, "uniform", "float32", "hot")
        inputs = draw_inputs(case, draw_ids("uniform", 20, 7), "cpu")
        before = inputs.weight.clone()
        call = contender(case, inputs)
        after = call().clone()
        assert inputs.weight.equal(before)
        assert not after.equal(before)
        assert not call().equal(after)  # each call is one more step
