"""The clock of a GPU: calls timed between events, without the time to launch them."""

from __future__ import annotations

import warnings
from functools import cache
from statistics import median
from time import perf_counter
from timeit import Timer
from typing import Any
from weakref import WeakKeyDictionary

import torch

from lookup_matmul.timings.clock import Call, stopwatch

MOST_TOGETHER = 100  # calls in one graph
MOST_QUEUED = 20  # calls that no graph holds: some 15 kernels each, in a queue for a thousand
HOST = "host"  # instead of a graph: only the processor's clock can time the call
_known: WeakKeyDictionary[Call, dict[int, Any]] = WeakKeyDictionary()


def cuda_stopwatch(call: Call, calls: int, prepare: Call | None = None) -> float:
    """Time calls between events on the GPU, which waits until all are queued; seconds for one.

    They are replayed as graphs of up to a hundred; what no graph holds is queued up to 20 times,
    and what waits for the GPU is left to the processor's clock.
    Not ``triton.testing.do_bench``, which takes no turns and whose flush leaves dirty lines.
    """
    together = 1 if prepare else min(calls, MOST_TOGETHER)
    if (graph := _captured(call, together)) == HOST:
        return stopwatch(call, calls, prepare)
    once, times = (
        (graph.replay, -(-calls // together)) if graph else (call, min(calls, MOST_QUEUED))
    )
    for wait_s in (1e-3, 5e-3, 25e-3, 0.125):
        torch.cuda.synchronize()
        _keep_busy(wait_s)
        marks = [_mark(once, 1, prepare) for _ in range(times)] if prepare else [_mark(once, times)]
        waited = not marks[0][0].query()  # the GPU did not begin before all was asked for
        torch.cuda.synchronize()
        if waited:
            seconds = sum(start.elapsed_time(end) for start, end in marks) / 1e3
            return float(seconds) / times / (together if graph else 1)
    raise TimeoutError(f"{times} calls could not be queued within {wait_s} s")


def launch_s(call: Call) -> float | None:
    """Time how long the processor asks for a call; None where the call's own time holds that."""
    if _captured(call, 1) == HOST:
        return None
    # What the GPU has to do is waited for before the clock is read, and not afterwards.
    return median(Timer(call, torch.cuda.synchronize, perf_counter).repeat(9, 1))


def cuda_clock_hz() -> float:
    """Keep the GPU busy for some 50 ms, so that its clock rises, then count cycles in a second."""
    _keep_busy(0.05)
    start, end = _mark(lambda: _keep_busy(0.005), 1)
    torch.cuda.synchronize()
    return 1e7 / (float(start.elapsed_time(end)) / 1e3)


def _keep_busy(seconds: float) -> None:
    """Let the GPU count cycles, 2e9 for a second; one with a slower clock takes longer."""
    torch.cuda._sleep(int(2e9 * seconds))  # type: ignore[no-untyped-call]


def _mark(call: Call, times: int, prepare: Call | None = None) -> tuple[Any, Any]:
    """Queue calls between two events."""
    if prepare:
        prepare()
    event: Any = torch.cuda.Event
    start, end = (event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(times):
        call()
    end.record()
    return start, end


def _captured(call: Call, together: int) -> Any:
    """Give a graph of as many calls; None if none holds them, HOST if the processor must wait."""
    found = _known.setdefault(call, {})
    if together not in found:
        found[together] = _capture(call, together)
    return found[together]


def _capture(call: Call, together: int) -> Any:
    call()  # the first may set something up
    torch.cuda.synchronize()
    # Does a call come back only when the GPU has done what was queued before? To capture it could
    # harm torch's allocator, and the mode that makes waiting an error knows no sparse tensors.
    asleep = _mark(lambda: _keep_busy(0.005), 1)[1]
    call()
    if asleep.query():
        return HOST
    graph, (stream, pool) = torch.cuda.CUDAGraph(), _aside()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream), warnings.catch_warnings():
        warnings.filterwarnings("error", "The CUDA Graph is empty")
        call()
        torch.cuda.synchronize()
        try:
            graph.capture_begin(pool=pool, capture_error_mode="relaxed")
            try:
                Timer(call).timeit(together)  # without garbage collection meanwhile
            finally:
                graph.capture_end()
        except (RuntimeError, UserWarning) as error:
            # Empty and without an error before: all that the call does, the processor does.
            return None if isinstance(error, RuntimeError) or error.__context__ else HOST
    graph.replay()
    return graph


@cache
def _aside() -> tuple[Any, Any]:
    """Give a stream to capture on and the memory that all graphs share; none keeps a result."""
    return torch.cuda.Stream(), torch.cuda.graph_pool_handle()  # type: ignore[no-untyped-call]
