"""Contenders take turns, are checked before they are timed, and the clock is never guessed."""

import gc
import os
import subprocess
import sys
import time

import pytest
import torch

from lookup_matmul.timings import (
    Spread,
    check_results,
    clock,
    in_unit,
    launch_s,
    markdown_table,
    ratio_table,
    stopwatch,
    time_side_by_side,
)


class FakeWatch:
    """A watch that knows the cost of every call, and gets slower by one part in ten each round."""

    def __init__(self, cost_s: dict) -> None:
        self.cost_s, self.log = cost_s, []

    def __call__(self, call, calls, prepare):
        """Write down what was asked for, and give the cost."""
        if prepare:
            prepare()
        name = call()
        self.log.append((name, calls))
        seen = sum(1 for entry in self.log if entry == (name, calls))
        return self.cost_s[name] * (1 + 0.1 * (seen - 1))


CALLS = {"quick": lambda: "quick", "slow": lambda: "slow"}


def test_turns_alternate_and_blocks_last_as_long_as_asked():
    """A drift of the machine meets all; the quick one is called more often in a turn."""
    watch = FakeWatch({"quick": 1e-3, "slow": 5e-3})
    times = time_side_by_side(CALLS, rounds=5, block_s=0.02, watch=watch)
    tried = [("quick", 1)] * 3 + [("slow", 1)] * 3
    assert watch.log == tried + [("quick", 20), ("slow", 4)] * 5
    assert times["quick"] == pytest.approx(Spread(1.2e-3, 1.1e-3, 1.3e-3, 5, 20))
    assert times["slow"] == pytest.approx(Spread(6e-3, 5.5e-3, 6.5e-3, 5, 4))


def test_a_call_longer_than_a_block_is_called_once():
    """Never zero times."""
    times = time_side_by_side(CALLS, rounds=3, watch=FakeWatch({"quick": 1.0, "slow": 50.0}))
    assert {spread.calls for spread in times.values()} == {1}


def test_a_slow_first_call_does_not_set_the_length_of_a_turn():
    """The quickest of three does, since the first may set something up."""
    costs = iter([1.0, 1e-3, 2e-3])
    times = time_side_by_side({"a": lambda: "a"}, block_s=0.02, watch=lambda *_: next(costs, 1e-3))
    assert times["a"].calls == 20


def test_a_turn_takes_no_more_calls_than_allowed():
    """A queue of a GPU holds so many."""
    times = time_side_by_side(CALLS, most_calls=7, watch=FakeWatch({"quick": 1e-6, "slow": 1e-2}))
    assert {name: spread.calls for name, spread in times.items()} == {"quick": 7, "slow": 2}


def test_a_cold_turn_is_prepared_and_a_single_call():
    """The cache is emptied before each measured call, also before the first."""
    watch, emptied = FakeWatch({"quick": 1e-3, "slow": 5e-3}), []
    time_side_by_side(CALLS, rounds=4, prepare=lambda: emptied.append(1), watch=watch)
    assert len(emptied) == len(watch.log) == 8
    assert {calls for _, calls in watch.log} == {1}


@pytest.mark.parametrize("rounds", [-1, 0, 2])
def test_too_few_rounds_have_no_quartiles(rounds):
    """Nothing is measured that could not be told."""
    with pytest.raises(ValueError, match=f"rounds is {rounds}, expected at least 3"):
        time_side_by_side(CALLS, rounds=rounds, watch=FakeWatch({}))


@pytest.fixture
def wait(monkeypatch):
    """Give a function that lets the clock go on, which stands still otherwise."""
    now = [100.0]
    monkeypatch.setattr(clock, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    return wait


@pytest.mark.parametrize("calls", [1, 3, 1000])
def test_the_real_watch_measures_a_known_cost(wait, calls):
    """Calls of 5 ms take 5 ms each, however many there are."""
    assert stopwatch(lambda: wait(0.005), calls) == pytest.approx(0.005)
    assert launch_s(lambda: wait(0.005)) == pytest.approx(0.005)


def test_the_real_watch_goes_on():
    """It is the clock of the machine: two readings differ by what lies between them."""
    before = time.perf_counter()
    first, second = clock._now(), clock._now()
    assert before <= first <= second <= time.perf_counter()


def test_the_real_watch_prepares_unmeasured(wait):
    """What empties the cache comes right before the call that counts, and does not count."""
    log = []

    def prepare():
        wait(0.02)
        log.append("prepare")

    assert stopwatch(lambda: log.append("call"), 1, prepare) == 0
    assert log == ["prepare", "call", "call", "prepare", "call"]


def test_the_real_watch_warms_up(wait):
    """The first calls may set something up: two of them, or a hundredth of many, do not count."""
    costs = iter([1.0, 1.0])
    assert stopwatch(lambda: wait(next(costs, 0.001)), 4) == pytest.approx(0.001)
    counted = []
    stopwatch(lambda: counted.append(gc.isenabled()), 1000)
    assert counted == [False] * 1010  # nor is garbage collected meanwhile
    assert gc.isenabled()


def test_the_real_watch_waits_for_a_device(wait, monkeypatch):
    """What an accelerator has yet to do when a call returns belongs to the call."""
    asked = []
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.accelerator, "synchronize", lambda: [wait(cost) for cost in asked] and asked.clear()
    )
    assert stopwatch(lambda: asked.append(0.25), 4, lambda: asked.append(9.0)) == 0.25


QUIET = """
import shutil, sys
import torch
# As a build for CUDA is without a driver: torch's search for a compiler begins only there.
torch.version.cuda = "13.0"
torch._C._cuda_getDeviceCount = lambda: 0
assert shutil.which("nvcc")
{work}
"""
WORKS = {
    "import": "import lookup_matmul, lookup_matmul.figures, lookup_matmul.timings",
    "time": """
from lookup_matmul import timings
a = torch.ones(10)
timings.time_side_by_side({"sum": a.sum, "product": a.prod}, rounds=3, block_s=0)
timings.stopwatch(a.sum, 3), timings.launch_s(a.sum), timings.profiled(a.sum)
""",
    "compile": """
from lookup_matmul import timings
# What would compile finds its imports done; it cannot do them itself in a build that is no CUDA's.
torch.compiler.reset = lambda: None
torch.compile = lambda call, **_: call if "torch.utils.cpp_extension" in sys.modules else None
case = timings.Case("compiled one-hot", "forward", 4, 5, 3, "uniform", "float32", "hot")
none = torch.empty(0)
timings.contender(case, timings.Inputs(torch.tensor([2, 3, 1]), torch.ones(4, 5), none, none))()
""",
    "benchmark": "import torch.utils.benchmark",
}


@pytest.mark.parametrize("work", WORKS)
def test_nothing_is_said_about_a_compiler_of_cuda(tmp_path, work):
    """Where one lies about but no driver does, torch says so on import of its own benchmarks."""
    nvcc = tmp_path / "bin" / "nvcc"
    nvcc.parent.mkdir()
    nvcc.write_text("#!/bin/sh\n")
    nvcc.chmod(0o755)
    path = f"{nvcc.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", QUIET.replace("{work}", WORKS[work])],
        env=os.environ | {"PATH": path, "CUDA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ""
    if work == "benchmark":  # so that the others could fail
        assert "No CUDA runtime is found, using CUDA_HOME=" in done.stderr
    else:
        assert done.stderr == ""


def test_threads_are_those_of_torch():
    """The timer's default of one thread would measure another program."""
    seen = []
    stopwatch(lambda: seen.append(torch.get_num_threads()), 1)
    assert set(seen) == {torch.get_num_threads()}


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (torch.tensor([1.0, 2.5]), "'b' is not to be timed: not within 0.25: 1 of 2 elements"),
        (torch.tensor([1.0, torch.nan]), "'b' is not to be timed: not within 0.25: 1 of 2"),
        (torch.tensor([1.0]), r"'b' is not to be timed: shape \(1,\), expected \(2,\)"),
    ],
)
def test_a_wrong_contender_is_named(result, said):
    """Wrong by value, by NaN or by shape."""
    right = torch.tensor([1.0, 2.0])
    check_results({"a": lambda: right}, right.double(), 0.25)
    with pytest.raises(AssertionError, match=said):
        check_results({"a": lambda: right, "b": lambda: result}, right.double(), 0.25)


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (1.0, "1.00 s"),
        (0.9994, "999 ms"),
        (0.9996, "1000 ms"),
        (0.0123, "12.3 ms"),
        (2.05e-4, "205 µs"),
        (1e-6, "1.00 µs"),
        (3.2e-8, "32.0 ns"),
        (1e-10, "0.100 ns"),
        (1234.0, "1230 s"),
        (0.0, "0 s"),
    ],
)
def test_units(seconds, written):
    """Three digits, at every step from one unit to the next."""
    assert in_unit(seconds) == written


def test_rows_of_a_table_are_as_long_as_its_header():
    """A missing cell would shift the others."""
    with pytest.raises(ValueError, match="shorter"):
        markdown_table(["form", "time"], [["lookup"]])


def test_columns_of_numbers_are_flush_right():
    """Others are read from the left, like the first; a dash stands for a number."""
    table = markdown_table(["a", "n", "word"], [["1", "10 µs", "x"], ["22", "–", "long"]])
    assert table.splitlines() == [
        "| a  |     n | word |",
        "|:---|------:|:-----|",
        "| 1  | 10 µs | x    |",
        "| 22 |     – | long |",
    ]


def test_ratios_are_of_medians():
    """And the baseline is 1, wherever it stands."""
    table = ratio_table({"a": Spread(4.0, 3, 5, 3, 1), "b": Spread(2.0, 1, 9, 3, 1)}, baseline="b")
    assert [line.split("|")[-2].strip() for line in table.splitlines()[2:]] == ["2.00", "1.00"]


def test_quartiles_of_two_units():
    """Each keeps its own, so that nobody reads 900 s."""
    table = ratio_table({"a": Spread(1e-3, 9e-4, 2e-3, 3, 1)}, baseline="a")
    assert "900 µs to 2.00 ms" in table
