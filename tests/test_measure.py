"""Measuring checks first, times side by side, skips what does not fit, and can be killed."""

import json
import signal
import subprocess
import sys
import time
from unittest import mock

import numpy as np
import pytest
import torch

from lookup_matmul.timings import (
    Case,
    behaviour,
    contender,
    contenders,
    cuda_stopwatch,
    draw_ids,
    draw_inputs,
    expected_columns,
    largest_error,
    machine,
    measure,
    measure_ceilings,
    measure_group,
    oracle,
    outcome,
    provenance,
    read_recording,
    read_recordings,
    record,
    recorder,
    repeats_bitwise,
    sweep,
    write_recording,
)

# Names of parameters that a test does not need are those of the functions replaced.
# ruff: noqa: ARG001, ARG005
CEILINGS = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e10, "bfloat16": 1e10}}
COMMIT = 40 * "0"
CASE = Case("lookup", "forward", 50, 16, 64, "uniform", "float32", "hot")
GROUPS = [
    [case for case in sweep(quick=True, cuda=False) if case[1:] == key]
    for key in dict.fromkeys(case[1:] for case in sweep(quick=True, cuda=False))
]


def steady(call, calls, prepare):
    """Take 2 µs for every call."""
    if prepare:
        prepare()
    call()
    return 2e-6


@pytest.fixture(autouse=True)
def _small_cache(monkeypatch):
    """Empty a small cache: these tests do not look at times."""
    monkeypatch.setattr(measure, "FLUSHED_BYTES", 1000)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "-".join(map(str, group[0][1:])))
def test_every_form_is_checked_and_described(group, dtype):
    """All members that a recording asks for, and lookups without an error."""
    group = [
        case._replace(dtype=dtype, vocab_size=50, dim=8, ids=64, bags=min(case.bags, 8))
        for case in group
    ]
    results = measure_group(group, ceilings=CEILINGS, device="cpu", rounds=3, watch=steady)
    assert {result["form"] for result in results} == {case.form for case in group}
    for result in results:
        if result["form"] == "sparse product" and dtype != "float32" and "skipped" in result:
            assert "not implemented for" in result["skipped"]
            continue
        assert result["median_s"] == 2e-6
        assert result["distinct"] <= 50
        assert result["repeats_bitwise"] is True
        exact = result["direction"] == "forward" and not result["bags"]
        assert (result["max_error"] == 0.0) == exact
        assert (result["peak_bytes"] > 0) != ("gradient" in result["form"])  # made of its parts


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "-".join(map(str, group[0][1:])))
def test_the_oracle_is_the_plain_definition(group):
    """Against a loop over the ids in float64."""
    case = group[0]._replace(vocab_size=7, dim=3, ids=20, bags=min(group[0].bags, 4))
    inputs = draw_inputs(case, draw_ids(case.draw, 20, 7), "cpu")
    ids, weight, values, arriving = (tensor.double().numpy() for tensor in inputs[:4])
    expected = {"forward": weight[ids.astype(int)], "backward": np.zeros((7, 3))}[case.direction]
    if case.bags:
        expected = np.zeros((4, 3))
        for k, (column, value) in enumerate(zip(ids.astype(int), values, strict=True)):
            expected[k // 5] += value * weight[column]
    elif case.direction == "backward":
        for column, row in zip(ids.astype(int), arriving, strict=True):
            expected[column] += row
    found, size = expected_columns(case, inputs, slice(1, 3))
    np.testing.assert_allclose(found.numpy(), expected[:, 1:], rtol=1e-12, atol=1e-14)
    assert bool((size >= found.abs() - 1e-12).all())


@pytest.mark.parametrize("before", [False, True])
def test_the_deterministic_form_asks_for_it_and_asks_no_longer(before):
    """Both switches are set during the call only, and are as before even if it fails."""
    seen = []

    def gradient():
        switches = torch.are_deterministic_algorithms_enabled(), filling()
        seen.append(switches)
        raise RuntimeError

    filling = torch._C._get_deterministic_fill_uninitialized_memory
    torch.use_deterministic_algorithms(before)
    try:
        with pytest.raises(RuntimeError):
            contenders._deterministic(gradient)()
        assert seen == [(True, False)]
        assert torch.are_deterministic_algorithms_enabled() is before
        assert filling()
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("dtype", ["tf32", "float32"])
def test_reduced_precision_is_allowed_where_it_is_named(dtype):
    """While results are computed, and not afterwards."""
    seen = set()

    def watch(call, calls, prepare):
        seen.add(torch.backends.cuda.matmul.allow_tf32)
        return 2e-6

    rates = CEILINGS | {"operations_per_s": {"float32": 1e10, "tf32": 1e10}}
    measure_group([CASE._replace(dtype=dtype)], ceilings=rates, device="cpu", rounds=3, watch=watch)
    assert seen == {dtype == "tf32"}
    assert not torch.backends.cuda.matmul.allow_tf32


def test_the_gpus_clock_stands_between_the_calls_and_nothing_else():
    """Warm up, wait, prepare, hold the queue, then an event at either end, and wait for both."""
    log = []

    class Event:
        def __init__(self, device, enable_timing):
            assert (device, enable_timing) == ("cuda", True)

        def record(self):
            log.append("event")

        def elapsed_time(self, _end):
            log.append("read")
            return 6.0  # milliseconds

    def sleep(cycles):
        assert 0 < cycles <= 0.02 * 4e9
        log.append("sleep")

    with (
        mock.patch("torch.Event", Event),
        mock.patch("torch.cuda.synchronize", side_effect=lambda: log.append("wait")),
        mock.patch("torch.cuda._sleep", side_effect=sleep),
    ):
        seconds = cuda_stopwatch(lambda: log.append("call"), 3, lambda: log.append("prepare"))
    timed = ["event", *["call"] * 3, "event"]
    assert log == ["call", "wait", "prepare", "sleep", *timed, "wait", "read"]
    assert seconds == pytest.approx(2e-3)


def test_recordings_of_gpus_come_first(counted):
    """Then those of CPUs; and a folder that is missing holds none."""
    path, _, fake = counted
    record(path, CASES, device="cpu", command="test", commit=COMMIT, measure=fake)
    whole = read_recording(path)
    gpu = whole["provenance"] | {"kind": "cuda", "driver": "1.2", "cuda": "13.0"}
    write_recording(path.parent / "zz.json", whole | {"provenance": gpu})
    assert list(read_recordings(path.parent)) == ["zz", "mine"]
    assert read_recordings(path.parent / "missing") == {}


def test_a_wrong_form_is_not_timed(monkeypatch):
    """A lookup that returns the row below."""

    def wrong(case, inputs):
        below = (inputs.ids + 1) % len(inputs.weight)
        return contender(case, inputs._replace(ids=below) if case.form == "lookup" else inputs)

    monkeypatch.setattr(measure, "contender", wrong)
    group = [CASE, CASE._replace(form="index_select")]
    below, right = measure_group(group, ceilings=CEILINGS, device="cpu", rounds=3, watch=steady)
    assert below["skipped"].startswith(
        "AssertionError: the contender 'lookup' is not to be timed: not within"
    )
    assert "median_s" not in below
    assert right["median_s"] == 2e-6


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "-".join(map(str, group[0][1:])))
@pytest.mark.parametrize("dtype", ["float32", "tf32", "bfloat16"])
def test_another_row_is_an_error_in_every_form(group, dtype):
    """Rounding explains neither a row picked wrongly nor one that is missing."""
    for case in group:
        case = case._replace(dtype=dtype, vocab_size=50, dim=8, ids=64, bags=min(case.bags, 8))
        inputs = draw_inputs(case, draw_ids("uniform", 64, 50), "cpu")
        other = inputs._replace(ids=inputs.ids.clone())
        other.ids[20] = (other.ids[20] + 1) % 50
        try:
            right = contender(case, inputs)()
        except NotImplementedError:
            assert (case.form, dtype) == ("sparse product", "bfloat16")
            continue
        assert largest_error(case, inputs, right) <= 0.2
        with pytest.raises(AssertionError, match="is not to be timed"):
            largest_error(case, inputs, contender(case, other)())


def test_a_large_result_is_checked_in_parts(monkeypatch):
    """Down to a column at a time, and an error in the last column is seen."""
    inputs = draw_inputs(CASE, draw_ids("uniform", 64, 50), "cpu")
    result = contender(CASE, inputs)()
    monkeypatch.setattr(oracle, "AT_ONCE", 1)
    assert largest_error(CASE, inputs, result) == 0.0
    result[3, 15] += 1
    with pytest.raises(AssertionError, match="1 of 64 elements differ"):
        largest_error(CASE, inputs, result)


def test_repeating_bits_are_told_from_equal_numbers():
    """A zero that changes its sign is no repetition; nor is another order of a sparse gradient."""
    zeros = iter([0.0, 0.0, -0.0, 0.0, 0.0])
    assert not repeats_bitwise(lambda: torch.tensor([next(zeros)]))
    indices = iter([[[0, 1]], [[1, 0]]] * 3)
    assert not repeats_bitwise(
        lambda: torch.sparse_coo_tensor(
            torch.tensor(next(indices)), torch.ones(2), (2,), check_invariants=True
        )
    )


def test_odd_input_is_tried_on_every_form():
    """In a process each; a form whose process ends is described by that."""
    tried = behaviour("cpu")
    compiled = tried["nan_in_another_row"].pop("compiled one-hot")  # needs a compiler
    assert compiled == "3 of 3 rows are NaN" or "Error" in compiled or "Failed" in compiled
    assert tried["nan_in_another_row"] == {
        "lookup": "0 of 3 rows are NaN",
        "index_select": "0 of 3 rows are NaN",
        "one-hot built and multiplied": "3 of 3 rows are NaN",
        "multiplication alone": "3 of 3 rows are NaN",
        "sparse product": "0 of 3 rows are NaN",
    }
    out = tried["id_out_of_range"]
    assert out["lookup"].startswith("IndexError")
    assert out["index_select"].startswith(("IndexError", "RuntimeError"))
    assert out["one-hot built and multiplied"].startswith("RuntimeError")
    assert out["sparse product"].startswith("RuntimeError")


def test_a_process_that_ends_is_described(monkeypatch):
    """As a GPU's assertion would end it."""
    monkeypatch.setattr(sys, "executable", "false")
    tried = behaviour("cpu")
    assert set(tried["id_out_of_range"].values()) == {"the process ended with code 1"}


def test_a_compiled_product_gives_zeros_for_what_it_does_not_find():
    """Where there is a compiler; otherwise the form is left out with torch's words."""
    said = outcome("id_out_of_range", "compiled one-hot", "cpu")
    assert said == "a row of zeros" or "Error" in said or "Failed" in said


def test_a_case_that_does_not_fit_is_predicted_and_skipped(monkeypatch):
    """Before a byte of it is allocated, and the others of its group are measured."""
    monkeypatch.setattr(measure, "free_bytes", lambda device: 10**5)
    group = [CASE, CASE._replace(form="one-hot built and multiplied")]
    group = [case._replace(vocab_size=500) for case in group]
    small, large = sorted(
        measure_group(group, ceilings=CEILINGS, device="cpu", rounds=3, watch=steady),
        key=lambda result: "skipped" in result,
    )
    assert small["form"] == "lookup"
    assert large["skipped"] == "needs 0.0 GB of the 0.0 GB that are free"
    assert large["predicted_s"] > 0


def test_the_encodings_of_all_forms_of_a_group_have_to_fit(monkeypatch):
    """They exist at the same time: three of 128 kB, beside 192 kB of tables and results."""
    group = [CASE, CASE._replace(form="one-hot built and multiplied")]
    group = [case._replace(vocab_size=500) for case in group]
    fast = {"copy_bytes_per_s": 1e12, "operations_per_s": {"float32": 1e12}}
    for free, fits in ((700_000, False), (740_000, True)):
        monkeypatch.setattr(measure, "free_bytes", lambda device, free=free: free)
        results = measure_group(group, ceilings=fast, device="cpu", rounds=3, watch=steady)
        assert ["skipped" in result for result in results] == [False, not fits]


def test_a_case_that_takes_too_long_is_skipped():
    """By the prediction, since trying it would take that long."""
    slow = {"copy_bytes_per_s": 1.0, "operations_per_s": {"float32": 1.0}}
    (result,) = measure_group([CASE], ceilings=slow, device="cpu", rounds=3, watch=steady)
    assert result["skipped"].startswith("predicted to take")
    assert "median_s" not in result


def test_a_form_that_torch_lacks_is_skipped_in_its_words(monkeypatch):
    """Also if no other form is left."""

    def lacking(case, inputs):
        def call():
            raise NotImplementedError("\"addmm\" not implemented for 'Half'")

        return call

    monkeypatch.setattr(measure, "contender", lacking)
    (result,) = measure_group([CASE], ceilings=CEILINGS, device="cpu", rounds=3, watch=steady)
    assert result["skipped"] == "NotImplementedError: \"addmm\" not implemented for 'Half'"


def test_a_time_beyond_the_limit_gets_its_reason():
    """Small tables stay in a cache, and the recording says so."""
    slow = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e10}}
    (result,) = measure_group([CASE], ceilings=slow, device="cpu", rounds=3, watch=steady)
    assert result["reason"].endswith("a copy reaches 1: what is used again stays in a cache")
    (result,) = measure_group(
        [CASE._replace(cache="cold")], ceilings=slow, device="cpu", rounds=3, watch=steady
    )
    assert result["reason"].endswith("what is written may stay in a cache")
    few = {"copy_bytes_per_s": 1e12, "operations_per_s": {"float32": 1e10}}
    product = CASE._replace(form="multiplication alone")
    (result,) = measure_group([product], ceilings=few, device="cpu", rounds=3, watch=steady)
    assert result["reason"].endswith("shape and zeros can be kinder")
    (result,) = measure_group(
        [CASE], ceilings=CEILINGS | {"copy_bytes_per_s": 1e12}, device="cpu", rounds=3, watch=steady
    )
    assert result["reason"] is None


def test_an_impossible_time_is_left_out():
    """A clock that gives a thousandth of what any cache could is not believed."""
    (result,) = measure_group(
        [CASE], ceilings=CEILINGS, device="cpu", rounds=3, watch=lambda *_: 2e-9
    )
    assert result["skipped"].startswith("the clock gave an impossible time, 3.42e+03 GB/s")
    assert "median_s" not in result


def test_what_storing_rounds_is_told_from_what_a_form_rounds():
    """Half the distance of two numbers of bfloat16 near 2 to 4, and no error of a lookup."""
    case = CASE._replace(dtype="bfloat16", vocab_size=1000)
    (result,) = measure_group([case], ceilings=CEILINGS, device="cpu", rounds=3, watch=steady)
    assert 2**-9 < result["stored_error"] <= 2**-7
    assert result["max_error"] == 0
    (result,) = measure_group([CASE], ceilings=CEILINGS, device="cpu", rounds=3, watch=steady)
    assert result["stored_error"] == 0


def test_cold_means_that_other_data_went_through():
    """Before every measured call."""
    prepared = []

    def watch(call, calls, prepare):
        prepared.append(prepare)
        return 2e-6

    for cache in ("hot", "cold"):
        measure_group(
            [CASE._replace(cache=cache)], ceilings=CEILINGS, device="cpu", rounds=3, watch=watch
        )
    assert [prepare is not None for prepare in prepared] == [False] * 6 + [True] * 3


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """Give a path, and a log of what was measured; nothing takes time."""
    log = []

    def fake(cases, ceilings):
        log.extend(cases)
        return measure_group(cases, ceilings=ceilings, device="cpu", rounds=3, watch=steady)

    monkeypatch.setattr(recorder, "measure_ceilings", lambda device, quick: CEILINGS)
    not_tried = behaviour("cpu", quick=True)
    monkeypatch.setattr(recorder, "behaviour", lambda device, quick: not_tried)
    return tmp_path / "mine.json", log, fake


CASES = [CASE._replace(ids=n) for n in (1, 2, 3, 4)]


def test_a_recording_goes_on_where_it_stopped(counted):
    """Interrupted after any case, nothing is measured twice and nothing is lost."""
    path, log, fake = counted
    for stop in range(len(CASES)):

        def interrupted(cases, ceilings, stop=stop):
            if cases[0] == CASES[stop]:
                raise KeyboardInterrupt
            return fake(cases, ceilings)

        with pytest.raises(KeyboardInterrupt):
            record(path, CASES, device="cpu", command="test", commit=COMMIT, measure=interrupted)
        kept = read_recording(path)
        assert [result["ids"] for result in kept["cases"]] == [1, 2, 3, 4][:stop]
        assert not kept["complete"]
    recording = record(path, CASES, device="cpu", command="test", commit=COMMIT, measure=fake)
    assert log == CASES
    assert recording["complete"]
    assert [result["ids"] for result in read_recording(path)["cases"]] == [1, 2, 3, 4]


KILLED = """
import sys
from pathlib import Path
from lookup_matmul.timings import Case, record, recorder
recorder.SAVE_EVERY_S = -1
case = Case("lookup", "forward", 50, 16, 64, "uniform", "float32", "hot")
cases = [case._replace(ids=n) for n in range(1, 61)]
record(Path(sys.argv[1]), cases, device="cpu", command="test", quick=True, commit=40 * "0")
"""


@pytest.mark.parametrize("least", [0, 1, 20])
def test_a_kill_leaves_a_sound_file(tmp_path, least):
    """However it ends, what is on disk can be read, and the next run completes it."""
    path = tmp_path / "mine.json"
    running = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.002)
        if path.exists() and len(read_recording(path)["cases"]) >= least:
            break
    running.send_signal(signal.SIGKILL)
    running.wait()
    left = read_recording(path)
    assert least <= len(left["cases"]) < 60
    assert not left["complete"]
    cases = [CASE._replace(ids=n) for n in range(1, 61)]
    whole = record(path, cases, device="cpu", command="test", quick=True, commit=COMMIT)
    assert whole["complete"]
    assert whole["cases"][: len(left["cases"])] == left["cases"]
    assert [result["ids"] for result in whole["cases"]] == list(range(1, 61))


@pytest.mark.parametrize("name", recorder.SAME_AS_BEFORE)
def test_another_machine_does_not_go_on(counted, monkeypatch, name):
    """Numbers of two machines, or of two versions, never stand in one file."""
    path, _, fake = counted
    record(path, CASES[:1], device="cpu", command="test", commit=COMMIT, measure=fake)
    origin = provenance("cpu", "test", commit=COMMIT) | {name: "another"}
    monkeypatch.setattr(recorder, "provenance", lambda *args, **options: origin)
    with pytest.raises(
        ValueError,
        match=f"data.provenance.{name} is .*, and now it is 'another'; move the file away",
    ):
        record(path, CASES, device="cpu", command="test", commit=COMMIT, measure=fake)


def test_a_damaged_file_is_not_overwritten(counted):
    """It may hold what somebody needs."""
    path, log, fake = counted
    path.write_text("{", "utf-8")
    with pytest.raises(ValueError, match="the file is not JSON"):
        record(path, CASES, device="cpu", command="test", commit=COMMIT, measure=fake)
    assert path.read_text("utf-8") == "{"
    assert not log


def test_the_command_records_and_says_what_to_do(tmp_path):
    """As nox runs it, quickly."""
    command = [sys.executable, "-m", "lookup_matmul.timings", "--quick", "--out", str(tmp_path)]
    command += ["--commit", COMMIT]
    (tmp_path / "x-2-threads.json").write_text("kept", "utf-8")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    (path,) = tmp_path.glob("*-threads-quick.json")
    recording = read_recording(path)
    assert recording["provenance"]["command"].startswith("python -m lookup_matmul.timings --quick")
    assert "leave --quick out" in done.stdout
    assert "100% |" in done.stderr
    assert "left" in done.stderr
    json.dumps(recording, allow_nan=False)


def test_outside_a_clone_the_commit_has_to_be_given(tmp_path, monkeypatch):
    """Before anything is measured."""
    monkeypatch.setattr(machine, "_said", lambda *command: "unknown")
    path = tmp_path / "mine.json"
    with pytest.raises(ValueError, match=r"data\.provenance\.commit must match pattern"):
        record(path, CASES, device="cpu", command="test", quick=True)
    assert not path.exists()
    whole = record(path, CASES[:1], device="cpu", command="test", quick=True, commit=COMMIT)
    assert whole["provenance"]["commit"] == COMMIT


@pytest.mark.parametrize(("status", "ending"), [("", ""), (" M forms.py", "-changed")])
def test_a_changed_package_is_not_passed_off_as_its_commit(monkeypatch, status, ending):
    """What git says of the package's folder decides."""
    said = {"rev-parse": COMMIT, "status": status}
    monkeypatch.setattr(machine, "_said", lambda *command: said.get(command[3], "1.2"))
    assert provenance("cpu", "test")["commit"] == COMMIT + ending


def test_a_trial_is_not_completed_to_a_recording(counted):
    """Its limits were measured with smaller sizes, its cases in fewer rounds."""
    path, _, fake = counted
    made = {"device": "cpu", "command": "test", "commit": COMMIT, "measure": fake}
    record(path, CASES[:1], quick=True, **made)
    with pytest.raises(ValueError, match=r"data\.provenance\.quick is True, and now it is False"):
        record(path, CASES, **made)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")
def test_a_gpu_is_measured_by_its_own_clock():
    """A sleep of the GPU of a known number of cycles takes its time, and more calls take more."""
    short, long = (cuda_stopwatch(lambda n=n: torch.cuda._sleep(n), 3) for n in (10**6, 10**7))
    assert 5 < long / short < 20


@pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "-".join(map(str, group[0][1:])))
def test_every_form_on_a_gpu(group):
    """The same checks, there."""
    ceilings = measure_ceilings("cuda", quick=True)
    results = measure_group(group, ceilings=ceilings, device="cuda", rounds=3)
    assert not [result["skipped"] for result in results if "skipped" in result]
    assert all(result["launch_s"] > 0 for result in results)
    assert provenance("cuda", "test")["driver"] != "unknown"
