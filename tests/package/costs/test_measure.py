"""Measuring checks first, times in turns, says what it left out and why, and knows a lost GPU."""

import re
from functools import partial

import pytest
import torch
from cuda_stand_in import KERNEL_S, LAUNCH_S
from made_up_recording import ceilings, every_form

# Names of parameters that a test does not need are those of the functions replaced.
# ruff: noqa: ARG001
from lookup_matmul.costs import (
    Case,
    clock,
    measure,
    measure_cases,
    measure_ceilings,
    sample_ids,
)
from lookup_matmul.costs.cases import DTYPES, sample_inputs
from lookup_matmul.costs.contenders import contender
from lookup_matmul.costs.measure import DeviceLost

CASE = Case("lookup", "forward", 50, 16, 64, "uniform", "float32", "hot")
KINDS = [("forward", 0), ("forward", 8), ("backward", 0)]
FORMS = every_form(CASE, 8)
CEILINGS = ceilings(cases=FORMS)
GROUPS = [
    [case for case in FORMS if (case.direction, case.bags) == kind and "compiled" not in case.form]
    for kind in KINDS
]
each_group = pytest.mark.parametrize("group", GROUPS, ids=["forward", "bags", "backward"])
ERRORS = {"max_error", "relative_error", "error_bound"}
TIMES = {"median_s", "low_s", "high_s", "rounds", "calls", "launch_s", "clock_hz"}
MEASURED = {"distinct", "predicted_s", "peak_bytes", "repeats_bitwise", *ERRORS, *TIMES}


def measured(cases, device="cpu"):
    """Measure with ceilings that nobody measured."""
    return measure_cases(cases, ceilings=CEILINGS, device=device, rounds=3)


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Empty a small cache, and take 2 µs for every call: these tests do not look at times."""

    def steady(call, calls, prepare=None):
        if prepare:
            prepare()
        call()
        return 2e-6

    monkeypatch.setattr(clock, "FLUSHED_BYTES", 2**18)
    monkeypatch.setattr(clock, "stopwatch", steady)


@each_group
@pytest.mark.parametrize(("dtype", "cache"), [("float32", "hot"), ("bfloat16", "cold")])
def test_every_form_is_checked_and_described(group, dtype, cache):
    """All members that a recording asks for, and what torch lacks in its words."""
    group = [case._replace(dtype=dtype, cache=cache) for case in group]
    results = measured(group)
    assert [Case(*(result[name] for name in Case._fields)) for result in results] == group
    for result in results:
        if result["form"] == "sparse product" and dtype != "float32" and "skipped" in result:
            assert result["skipped"]["kind"] == "not in torch"
            assert "not implemented for" in result["skipped"]["says"]
            continue
        assert set(result) == {*Case._fields, *MEASURED}
        assert result["median_s"] == 2e-6
        assert result["distinct"] <= 50
        assert result["repeats_bitwise"] is True
        assert result["launch_s"] is result["clock_hz"] is None
        assert result["relative_error"] < 0.05
        assert (result["peak_bytes"] > 0) == ("sparse gradient" not in result["form"])


@pytest.mark.parametrize("dtype", ["tf32", "float32"])
def test_reduced_precision_is_allowed_where_it_is_named(dtype, monkeypatch):
    """While results are computed, and not afterwards."""
    seen = set()
    monkeypatch.setattr(
        clock, "stopwatch", lambda *_: seen.add(torch.backends.cuda.matmul.allow_tf32) or 2e-6
    )
    measured([CASE._replace(dtype=dtype)])
    assert seen == {dtype == "tf32"}
    assert not torch.backends.cuda.matmul.allow_tf32


def test_a_wrong_form_is_not_timed(monkeypatch):
    """A lookup that returns the row below."""

    def wrong(case, inputs):
        below = (inputs.ids + 1) % len(inputs.weight)
        return contender(case, inputs._replace(ids=below) if case.form == "lookup" else inputs)

    monkeypatch.setattr(measure, "contender", wrong)
    below, right = measured([CASE, CASE._replace(form="sparse product")])
    assert below["skipped"]["kind"] == "wrong result"
    assert below["skipped"]["says"].startswith("AssertionError: not within")
    assert "median_s" not in below
    assert right["median_s"] == 2e-6


@each_group
def test_forms_of_a_group_share_their_inputs(group, monkeypatch):
    """One table and one list of ids for all of them, which are as they were drawn afterwards."""
    given = []

    def noting(case, inputs):
        given.append(inputs)
        return contender(case, inputs)

    monkeypatch.setattr(measure, "contender", noting)
    measured(group)
    assert len(given) >= len(group)
    assert all(inputs is given[0] for inputs in given)
    drawn = sample_inputs(group[0], sample_ids("uniform", 64, 50), "cpu")
    assert all(now.equal(before) for now, before in zip(given[0][:4], drawn[:4], strict=True))


def test_a_case_that_does_not_fit_is_predicted_and_skipped(monkeypatch):
    """Before a byte of it is allocated, and the others of its group are measured."""
    monkeypatch.setattr(measure, "free_bytes", lambda device: 3 * 10**5 if device == "cpu" else 0)
    group = [case._replace(vocab_size=500) for case in (CASE, CASE._replace(form="one-hot built"))]
    small, large = measured(group)
    assert "skipped" not in small
    says = "needs 0.0 GB of the 0.0 GB that are free"
    assert large["skipped"] == {"kind": "does not fit", "says": says}
    assert large["predicted_s"] > 0


def test_a_case_that_takes_too_long_is_skipped(monkeypatch):
    """By the prediction, since trying it would take that long; then nothing is even drawn."""
    monkeypatch.setattr(measure, "sample_inputs", None)
    slow = CEILINGS | {"bandwidth": [{"working_set": 1, "bytes_per_s": [1.0] * 3}]}
    ask = partial(measure_cases, [CASE], ceilings=slow, device="cpu", rounds=3)
    for patience, more in (({}, "0.25 s"), ({"patience_s": 0.125}, "0.125 s")):
        ((kind, says),) = (result["skipped"].values() for result in ask(**patience))
        assert kind == "takes too long"
        assert re.fullmatch(rf"predicted to take \d+\.\d s for one call, more than {more}", says)
    monkeypatch.undo()
    assert "median_s" in ask(patience_s=1e9)[0]


def out_of_memory(times):
    """Give a function in the place of contender that lacks memory so many times."""
    left = iter([True] * times)

    def make(case, inputs):
        if case.form == "lookup" and next(left, False):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 TiB.")
        return contender(case, inputs)

    return make


@pytest.mark.parametrize("times", [1, 2])
def test_a_lack_of_memory_is_tried_twice(gpu, monkeypatch, times):
    """After what torch keeps was given back; the second time it is the reason, of this form only."""
    monkeypatch.setattr(measure, "contender", out_of_memory(times))
    lookup, product = measured([CASE, CASE._replace(form="multiplication alone")], "cuda")
    assert "empty_cache" in gpu.log
    assert ("skipped" in lookup) == (times == 2)
    if times == 2:
        said = "OutOfMemoryError: CUDA out of memory. Tried to allocate 2 TiB."
        assert lookup["skipped"] == {"kind": "does not fit", "says": said}
    assert "skipped" not in product


def test_a_lost_gpu_ends_the_run(gpu, monkeypatch):
    """After an assertion on the device every answer is that error: no reason to skip a case."""

    def asserts(case, inputs):
        gpu.lost = case.form == "multiplication alone"
        return contender(case, inputs)

    monkeypatch.setattr(measure, "contender", asserts)
    with pytest.raises(DeviceLost, match=r"answers no more: .*device-side assert .*start again"):
        measured([CASE, CASE._replace(form="multiplication alone"), CASE._replace(ids=3)], "cuda")


@each_group
def test_every_form_on_a_stand_in_for_a_gpu(gpu, group):
    """Its own clock for kernels, the launches beside, the clock rate, memory in blocks."""
    results = measured(group, "cuda")
    assert not [result["skipped"] for result in results if "skipped" in result]
    for result in results:
        assert set(result) == {*Case._fields, *MEASURED}
        assert result["clock_hz"] == pytest.approx(1.25e9)
        assert result["peak_bytes"] == 512
        kernels, waits = result["median_s"] / KERNEL_S, result["launch_s"] is None
        if result["form"] in ("lookup", "multiplication alone", "embedding bag") and not waits:
            assert result["launch_s"] == pytest.approx(round(kernels) * LAUNCH_S)
            assert kernels == pytest.approx(round(kernels))
        # A view queues nothing, and to coalesce is to wait for the number of distinct ids.
        assert waits == (", sparse" in result["form"])
    assert gpu.captured is None


@pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")
@pytest.mark.parametrize("cache", ["hot", "cold"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_form_on_a_gpu(dtype, cache, monkeypatch):
    """The same, there, by the clock that is there."""
    monkeypatch.undo()
    cases = [
        c._replace(dtype=dtype, cache=cache)
        for c in FORMS
        if c.direction == "forward" or (dtype, cache) == ("float32", "hot")
    ]
    limits = measure_ceilings("cuda", quick=True)
    results = measure_cases(cases, ceilings=limits, device="cuda", rounds=3)
    assert {r["skipped"]["kind"] for r in results if "skipped" in r} <= {"not in torch"}
    assert all(r["launch_s"] is None or r["launch_s"] > 0 for r in results if "skipped" not in r)
