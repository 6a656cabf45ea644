"""Measuring checks first, times side by side, skips what does not fit, and can be killed."""

import json
import signal
import subprocess
import sys
import time
from unittest import mock

import pytest
import torch

from lookup_matmul.timings import (
    Case,
    contender,
    cuda_stopwatch,
    draw_ids,
    expected_result,
    measure,
    measure_group,
    provenance,
    read_recording,
    read_recordings,
    record,
    recorder,
    sweep,
)

# Names of parameters that a test does not need are those of the functions replaced.
# ruff: noqa: ARG001, ARG005
CEILINGS = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e10, "bfloat16": 1e10}}
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
    group = [case._replace(dtype=dtype, vocab_size=50, dim=8, ids=64) for case in group]
    results = measure_group(group, ceilings=CEILINGS, device="cpu", rounds=3, watch=steady)
    assert {result["form"] for result in results} == {case.form for case in group}
    for result in results:
        if result["form"] == "sparse product" and dtype != "float32" and "skipped" in result:
            assert "not implemented for" in result["skipped"]
            continue
        assert result["median_s"] == 2e-6
        assert result["distinct"] <= 50
        assert result["max_error"] == 0.0
        assert (result["peak_bytes"] > 0) != ("gradient" in result["form"])  # made of its parts


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "-".join(map(str, group[0][1:])))
def test_the_oracle_is_the_plain_definition(group):
    """Against a loop over the ids in float64."""
    case = group[0]._replace(vocab_size=7, dim=3, ids=20)
    ids, weight = draw_ids(case.draw, 20, 7), torch.randn(7, 3)
    expected = torch.zeros(7, 3, dtype=torch.float64)
    if case.direction == "forward":
        expected = torch.stack([weight[int(k)].double() for k in ids])
    else:
        for k in ids.tolist():
            expected[k] += 0.125
    assert torch.equal(expected_result(case, ids, weight), expected)


def test_the_deterministic_form_asks_for_it_and_asks_no_longer():
    """The switch is on during the call only."""
    case = CASE._replace(form="lookup, deterministic", direction="backward")
    call = contender(case, draw_ids("uniform", 64, 50), torch.randn(50, 16))
    seen = []

    def gradient(*args, **kwargs):
        seen.append(torch.are_deterministic_algorithms_enabled())
        return (torch.zeros(1),)

    with mock.patch("torch.autograd.grad", gradient):
        call()
    assert seen == [True]
    assert not torch.are_deterministic_algorithms_enabled()


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
    """Warm up, wait, prepare, then an event at either end, and wait before reading them."""
    log = []

    class Event:
        def __init__(self, device, enable_timing):
            assert (device, enable_timing) == ("cuda", True)

        def record(self):
            log.append("event")

        def elapsed_time(self, _end):
            log.append("read")
            return 6.0  # milliseconds

    with (
        mock.patch("torch.Event", Event),
        mock.patch("torch.cuda.synchronize", side_effect=lambda: log.append("wait")),
    ):
        seconds = cuda_stopwatch(lambda: log.append("call"), 3, lambda: log.append("prepare"))
    assert log == ["call", "wait", "prepare", "event", *["call"] * 3, "event", "wait", "read"]
    assert seconds == pytest.approx(2e-3)


def test_recordings_are_told_by_their_kind(counted):
    """A CPU's is not shown among GPUs, and a folder that is missing holds none."""
    path, _, fake = counted
    record(path, CASES, device="cpu", command="test", measure=fake)
    assert list(read_recordings(path.parent, "cpu")) == ["mine"]
    assert read_recordings(path.parent, "cuda") == {}
    assert read_recordings(path.parent / "missing", "cpu") == {}


def test_a_wrong_form_is_not_timed(monkeypatch):
    """A lookup that returns the row below."""

    def wrong(case, ids, weight):
        return lambda: contender(case, (ids + 1) % len(weight), weight)()

    monkeypatch.setattr(measure, "contender", wrong)
    with pytest.raises(AssertionError, match="the contender 'lookup' is not to be timed"):
        measure_group([CASE], ceilings=CEILINGS, device="cpu", rounds=3, watch=steady)


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


def test_a_case_that_takes_too_long_is_skipped():
    """By the prediction, since trying it would take that long."""
    slow = {"copy_bytes_per_s": 1.0, "operations_per_s": {"float32": 1.0}}
    (result,) = measure_group([CASE], ceilings=slow, device="cpu", rounds=3, watch=steady)
    assert result["skipped"].startswith("predicted to take")
    assert "median_s" not in result


def test_a_form_that_torch_lacks_is_skipped_in_its_words(monkeypatch):
    """Also if no other form is left."""

    def lacking(case, ids, weight):
        def call():
            raise NotImplementedError("\"addmm\" not implemented for 'Half'")

        return call

    monkeypatch.setattr(measure, "contender", lacking)
    (result,) = measure_group([CASE], ceilings=CEILINGS, device="cpu", rounds=3, watch=steady)
    assert result["skipped"] == "torch says: \"addmm\" not implemented for 'Half'"


def test_a_time_beyond_the_limit_gets_its_reason():
    """Small tables stay in a cache, and the recording says so."""
    slow = {"copy_bytes_per_s": 1e6, "operations_per_s": {"float32": 1e10}}
    (result,) = measure_group([CASE], ceilings=slow, device="cpu", rounds=3, watch=steady)
    assert result["reason"].endswith("GB/s: what is used again stays in a cache")
    (result,) = measure_group(
        [CASE._replace(cache="cold")], ceilings=slow, device="cpu", rounds=3, watch=steady
    )
    assert result["reason"].endswith("what is written may stay in a cache")
    few = {"copy_bytes_per_s": 1e12, "operations_per_s": {"float32": 1e9}}
    product = CASE._replace(form="multiplication alone")
    (result,) = measure_group([product], ceilings=few, device="cpu", rounds=3, watch=steady)
    assert result["reason"].endswith("this one has another shape")
    (result,) = measure_group(
        [CASE], ceilings=CEILINGS | {"copy_bytes_per_s": 1e12}, device="cpu", rounds=3, watch=steady
    )
    assert result["reason"] is None


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
    assert [prepare is not None for prepare in prepared] == [False] * 4 + [True] * 3


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """Give a path, and a log of what was measured; nothing takes time."""
    log = []

    def fake(cases, ceilings):
        log.extend(cases)
        return measure_group(cases, ceilings=ceilings, device="cpu", rounds=3, watch=steady)

    monkeypatch.setattr(recorder, "measure_ceilings", lambda device, quick: CEILINGS)
    return tmp_path / "mine.json", log, fake


CASES = [CASE._replace(ids=n) for n in (1, 2, 3, 4)]


def test_a_recording_goes_on_where_it_stopped(counted, monkeypatch):
    """Interrupted after any case, nothing is measured twice and nothing is lost."""
    path, log, fake = counted
    monkeypatch.setattr(recorder, "SAVE_EVERY_S", -1)
    for stop in range(len(CASES)):

        def interrupted(cases, ceilings, stop=stop):
            if cases[0] == CASES[stop]:
                raise KeyboardInterrupt
            return fake(cases, ceilings)

        with pytest.raises(KeyboardInterrupt):
            record(path, CASES, device="cpu", command="test", measure=interrupted)
        assert path.exists() == (stop > 0)
        assert not (stop and read_recording(path)["complete"])
    recording = record(path, CASES, device="cpu", command="test", measure=fake)
    assert log == CASES
    assert recording["complete"]
    assert [result["ids"] for result in read_recording(path)["cases"]] == [1, 2, 3, 4]


def test_a_kill_leaves_a_sound_file(tmp_path):
    """However it ends, what is on disk can be read, and the next run completes it."""
    path = tmp_path / "mine.json"
    program = (
        "import sys; from pathlib import Path; from lookup_matmul.timings import measure, recorder, sweep\n"
        "recorder.SAVE_EVERY_S, measure.FLUSHED_BYTES = -1, 1000\n"
        "recorder.record(Path(sys.argv[1]), list(sweep(quick=True, cuda=False)), device='cpu', command='test', quick=True)"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 60
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.wait()
    left = read_recording(path)
    assert len(left["cases"]) > 0
    whole = record(path, sweep(quick=True, cuda=False), device="cpu", command="test", quick=True)
    assert whole["complete"]
    assert whole["cases"][: len(left["cases"])] == left["cases"]
    assert len(whole["cases"]) == len(list(sweep(quick=True, cuda=False)))


@pytest.mark.parametrize("name", recorder.SAME_AS_BEFORE)
def test_another_machine_does_not_go_on(counted, monkeypatch, name):
    """Numbers of two machines, or of two versions, never stand in one file."""
    path, _, fake = counted
    record(path, CASES[:1], device="cpu", command="test", measure=fake)
    origin = provenance("cpu", "test") | {name: "another"}
    monkeypatch.setattr(recorder, "provenance", lambda device, command: origin)
    with pytest.raises(
        ValueError,
        match=f"data.provenance.{name} is .*, and now it is 'another'; move the file away",
    ):
        record(path, CASES, device="cpu", command="test", measure=fake)


def test_a_damaged_file_is_not_overwritten(counted):
    """It may hold what somebody needs."""
    path, log, fake = counted
    path.write_text("{", "utf-8")
    with pytest.raises(ValueError, match="the file is not JSON"):
        record(path, CASES, device="cpu", command="test", measure=fake)
    assert path.read_text("utf-8") == "{"
    assert not log


def test_the_command_records_and_says_what_to_do(tmp_path):
    """As nox runs it, quickly."""
    command = [sys.executable, "-m", "lookup_matmul.timings", "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    (path,) = tmp_path.glob("*-threads.json")
    recording = read_recording(path)
    assert recording["provenance"]["command"].startswith("python -m lookup_matmul.timings --quick")
    assert "leave --quick out" in done.stdout
    assert "case" in done.stderr  # the progress bar
    json.dumps(recording, allow_nan=False)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")
def test_a_gpu_is_measured_by_its_own_clock():
    """A sleep of the GPU of a known number of cycles takes its time, and more calls take more."""
    short, long = (cuda_stopwatch(lambda n=n: torch.cuda._sleep(n), 3) for n in (10**6, 10**7))
    assert 5 < long / short < 20


@pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: "-".join(map(str, group[0][1:])))
def test_every_form_on_a_gpu(group):
    """The same checks, there."""
    results = measure_group(group, ceilings=CEILINGS, device="cuda", rounds=3)
    assert all("median_s" in result for result in results)
    assert provenance("cuda", "test")["driver"] != "unknown"
