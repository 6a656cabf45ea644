"""Contenders take turns, and a clock tells the time of a call and of nothing else."""

import gc

import pytest
import torch
from cuda_stand_in import COLD_S, FLUSH, KERNEL_S, LAUNCH_S

from lookup_matmul.costs import Spread, clock, time_side_by_side
from lookup_matmul.costs.clock import cuda_clock_hz, cuda_stopwatch, launch_s, stopwatch

# The stand-in for a GPU works where it is asked for; a watch takes what a watch takes.
# ruff: noqa: ARG001


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
    tried = [("quick", 1)] * 2 + [("slow", 1)] * 2
    assert watch.log == tried + [("quick", 20), ("slow", 4)] * 5
    assert times["quick"] == pytest.approx(Spread(1.2e-3, 1.1e-3, 1.3e-3, 5, 20))
    assert times["slow"] == pytest.approx(Spread(6e-3, 5.5e-3, 6.5e-3, 5, 4))


def test_a_turn_takes_no_more_calls_than_allowed(monkeypatch):
    """A graph holds so many; and a clock that stood still asks for no more either."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for device, most, cold in (("cuda", 100, 50), ("cpu", 10**6, 1)):
        watch = FakeWatch({"quick": 0.0, "slow": 1e-2})
        times = time_side_by_side(CALLS, rounds=3, device=device, watch=watch)
        assert {name: spread.calls for name, spread in times.items()} == {"quick": most, "slow": 2}
        times = time_side_by_side(CALLS, rounds=3, prepare=list, device=device, watch=watch)
        assert {spread.calls for spread in times.values()} == {cold}


def test_a_hot_turn_begins_with_calls_that_fill_the_caches():
    """A hundredth of those that are timed, or one, since the turn before has emptied them."""
    log, cost_s = [], {"a": 1e-5, "b": 1e-3}
    calls = {name: lambda name=name: log.append(name) or name for name in cost_s}

    def watch(call, calls, prepare):
        log.append(calls)
        return cost_s[call()]

    time_side_by_side(calls, rounds=3, block_s=1e-2, watch=watch)
    assert log == [1, "a"] * 2 + [1, "b"] * 2 + [*["a"] * 10, 1000, "a", "b", 10, "b"] * 3


def test_a_cold_turn_is_prepared_and_a_single_call():
    """The cache is emptied before each measured call, also before the first."""
    watch, emptied = FakeWatch({"quick": 1e-3, "slow": 5e-3}), []
    time_side_by_side(CALLS, rounds=4, prepare=lambda: emptied.append(1), watch=watch)
    assert len(emptied) == len(watch.log) == 8
    assert {calls for _, calls in watch.log} == {1}


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
    """Calls of 5 ms, made as often as asked and each prepared once, without collecting garbage."""
    log = []
    assert stopwatch(lambda: wait(0.005), calls, lambda: wait(1)) == pytest.approx(0.005)
    timed = stopwatch(lambda: wait(0.005) or log.append(gc.isenabled()), calls)
    assert (timed, log) == (pytest.approx(0.005), [False] * calls)
    stopwatch(lambda: log.append("call"), calls, lambda: log.append("prepare"))
    assert log[calls:] == ["prepare", "call"] * calls
    assert gc.isenabled()


def test_the_real_watch_waits_for_a_device(wait, monkeypatch):
    """What an accelerator has yet to do when a call returns belongs to the call."""
    asked = []
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    monkeypatch.setattr(
        torch.accelerator, "synchronize", lambda: [wait(cost) for cost in asked] and asked.clear()
    )
    assert stopwatch(lambda: asked.append(0.25), 4, lambda: asked.append(9.0)) == 0.25


A = torch.ones(10)


def not_while_captured():
    """Queue fifteen kernels, but not into a graph, as some optimizers do."""
    if torch.cuda.is_current_stream_capturing():
        raise RuntimeError("Attempting CUDA graph capture of step()")
    for _ in range(15):
        torch.neg(A)


GRAPHED = {
    "one kernel": (1, lambda: torch.neg(A)),
    "three kernels": (3, lambda: torch.neg(A).add(1).mul(2)),
}


@pytest.mark.parametrize("name", GRAPHED)
@pytest.mark.parametrize("calls", [1, 3, 100, 250])
def test_a_graph_has_no_launches_in_its_time(gpu, name, calls):
    """Kernels of 3 µs take 3 µs, though the processor needs 10 to ask for one."""
    kernels, call = GRAPHED[name]
    assert kernels * KERNEL_S < LAUNCH_S
    assert cuda_stopwatch(call, calls) == pytest.approx(kernels * KERNEL_S, rel=1e-6)
    assert launch_s(call) == pytest.approx(kernels * LAUNCH_S, rel=1e-6)


def test_a_call_that_no_graph_holds_is_kept_waiting_until_all_are_queued(gpu):
    """Twenty calls of fifteen kernels: fewer than a queue holds, and none has begun before."""
    assert cuda_stopwatch(not_while_captured, 100) == pytest.approx(15 * KERNEL_S, rel=1e-6)
    assert launch_s(not_while_captured) == pytest.approx(15 * LAUNCH_S, rel=1e-6)
    assert gpu.captured is None


def test_a_queue_that_overruns_is_no_time(gpu, monkeypatch):
    """More kernels than a queue holds make the processor wait: better no time than a wrong one."""
    monkeypatch.setattr(clock, "MOST_QUEUED", 100)
    with pytest.raises(TimeoutError, match=r"100 calls could not be queued within 0\.125 s"):
        cuda_stopwatch(not_while_captured, 100)


@pytest.mark.parametrize("name", ["item", "nonzero"])
def test_a_call_that_waits_for_the_gpu_is_timed_by_the_processor(gpu, name):
    """Its own time holds its launches, so none is told beside; and no capture is tried."""
    call = lambda: getattr(torch.neg(A[:1]), name)()  # noqa: E731
    assert cuda_stopwatch(call, 5) >= 2 * LAUNCH_S + KERNEL_S
    assert launch_s(call) is None
    assert not gpu.spoilt


def test_a_call_that_queues_nothing_is_timed_by_the_processor(gpu):
    """A view is no kernel, and an empty graph would take no time at all."""
    call = lambda: A.view(2, 5)  # noqa: E731
    assert clock._captured(call, 1) == clock.HOST
    assert launch_s(call) is None


@pytest.mark.parametrize(
    ("call", "kernels"), [(GRAPHED["one kernel"][1], 1), (not_while_captured, 15)]
)
def test_every_cold_call_comes_after_a_flush_of_its_own(gpu, call, kernels):
    """Fifty pairs, or twenty, each after a pass that leaves nothing to be written back."""
    through = torch.ones(FLUSH)
    seconds = cuda_stopwatch(call, 50, through.sum)
    assert seconds == pytest.approx(kernels * KERNEL_S + COLD_S, rel=1e-6)
    assert cuda_stopwatch(call, 50, through.neg_) > 2 * seconds  # so that it could be seen


def test_a_graph_is_captured_once_and_goes_with_its_call(gpu):
    """Not for each turn; and no graph keeps the tensors of a call that is gone."""
    call = lambda: torch.neg(A)  # noqa: E731
    assert clock._captured(call, 7) is clock._captured(call, 7)
    assert call in clock._known
    before = len(clock._known)
    del call
    assert len(clock._known) == before - 1


def test_a_failed_capture_is_ended(gpu):
    """What the probe did not find out fails while it is captured, and the next graph works."""

    def spoils():
        torch.neg(A)
        if torch.cuda.is_current_stream_capturing():
            gpu.wait()

    assert clock._captured(spoils, 1) is None
    assert gpu.captured is None
    assert cuda_stopwatch(spoils, 5) == pytest.approx(KERNEL_S, rel=1e-6)
    assert cuda_stopwatch(GRAPHED["one kernel"][1], 5) == pytest.approx(KERNEL_S, rel=1e-6)


def test_the_clock_of_the_gpu_is_told_after_it_was_kept_busy(gpu):
    """Cycles over the time between two events, at least 50 ms after the first of them."""
    before = gpu.host_s
    assert cuda_clock_hz() == pytest.approx(1.25e9)
    assert gpu.host_s - before >= 0.05


@pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")
def test_a_gpu_is_measured_by_its_own_clock():
    """A sleep of the GPU of a known number of cycles takes its time, and more calls take more."""
    short, long = (cuda_stopwatch(lambda n=n: torch.cuda._sleep(n), 3) for n in (10**6, 10**7))
    assert 5 < long / short < 20
    assert 1e8 < cuda_clock_hz() < 1e10
