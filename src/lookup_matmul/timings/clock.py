"""Time several ways to compute one result, in turns; on CUDA without the time to launch them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from statistics import median, quantiles
from time import perf_counter
from timeit import Timer
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import torch

Call: TypeAlias = Callable[..., object]  # of no argument; so written the reference can show it
Watch: TypeAlias = Callable[..., float]
MOST_TOGETHER = 100  # calls in one graph
MOST_QUEUED = 20  # calls that no graph holds: some 15 kernels each, in a queue for a thousand
FLUSHED_BYTES = 2**28
HOST = "host"  # instead of a graph: only the processor's clock can time the call
_known: WeakKeyDictionary[Call, dict[int, Any]] = WeakKeyDictionary()


class Spread(NamedTuple):
    """What the repetitions of one measurement came to, in seconds for one call.

    Attributes
    ----------
    median_s : float
        Half of the rounds were faster.
    low_s, high_s : float
        First and third quartile: half of the rounds lie between.
    rounds : int
        How many were measured.
    calls : int
        Calls in each round, whose mean the round counts with.
    """

    median_s: float
    low_s: float
    high_s: float
    rounds: int
    calls: int


def time_side_by_side(
    contenders: Mapping[str, Call],
    *,
    rounds: int = 9,
    block_s: float = 0.02,
    most_calls: int = 10**6,
    prepare: Call | None = None,
    prepared_calls: int = 1,
    watch: Watch | None = None,
) -> dict[str, Spread]:
    """Time contenders in turns, so that a change of the machine's speed meets all of them.

    Parameters
    ----------
    contenders : collections.abc.Mapping
        Name and call of each; a call takes no argument.
    rounds : int
        How often each has its turn, at least 3.
    block_s, most_calls : float and int
        How many seconds a turn should last, and how many calls it takes for that at most.
        A hundredth of them, at least one, goes before and fills the caches.
    prepare, prepared_calls : collections.abc.Callable and int, optional
        Called before each timed call, to empty the caches, say; and the number of such calls.
    watch : collections.abc.Callable, optional
        Gives the seconds of one call, from the call, a number of calls and ``prepare``;
        by default Python's clock, read when an accelerator has finished.

    Returns
    -------
    dict
        The :class:`Spread` of each contender, in the order given.

    Raises
    ------
    ValueError
        If ``rounds`` is under 3, of which no quartile could be told.

    Examples
    --------
    >>> a = torch.ones(100)
    >>> times = time_side_by_side({"sum": a.sum, "product": a.prod}, block_s=0)
    >>> list(times), all(spread.median_s > 0 for spread in times.values())
    (['sum', 'product'], True)
    """
    if rounds < 3:
        raise ValueError(f"rounds is {rounds}, expected at least 3, to tell quartiles.")
    watch, calls = watch or stopwatch, dict.fromkeys(contenders, prepared_calls)
    if prepare is None:
        for name, call in contenders.items():
            once = min(watch(call, 1, None) for _ in range(2))  # the first may set something up
            calls[name] = max(1, min(most_calls, round(block_s / max(once, 1e-9))))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            for _ in range(0 if prepare else max(1, calls[name] // 100)):
                call()
            times[name].append(watch(call, calls[name], prepare))
    quartiles = {name: quantiles(found, n=4, method="inclusive") for name, found in times.items()}
    return {
        name: Spread(middle, low, high, rounds, calls[name])
        for name, (low, middle, high) in quartiles.items()
    }


def stopwatch(call: Call, calls: int, prepare: Call | None = None) -> float:
    """Time as many calls, waiting for the device at both ends; seconds for one of them."""
    # Not torch.utils.benchmark: its import looks for a compiler of CUDA, and says if it finds one.
    timer = Timer(call, prepare or "pass", _now)
    return (sum(timer.repeat(calls, 1)) if prepare else timer.timeit(calls)) / calls


def _now() -> float:
    """Read the clock once the device has done what was asked of it."""
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return perf_counter()


def cuda_stopwatch(call: Call, calls: int, prepare: Call | None = None) -> float:
    """Time calls between events on the GPU, which waits until all are queued; seconds for one.

    They are replayed as graphs of up to a hundred calls; one that no graph can hold is queued, up
    to 20 times, and one that has to wait for the GPU is left to :func:`stopwatch`.
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


def flush(device: str) -> Call:
    """Make a call that reads more than most caches hold, and leaves nothing to be written back."""
    # Memory that was never written is a single page of zeros, which a cache would hold.
    return torch.ones(FLUSHED_BYTES // 4, device=device).sum


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
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(times):
        call()
    end.record()
    return start, end


def _captured(call: Call, together: int) -> Any:
    """Give a graph of as many calls; None if none holds them, HOST if the processor must wait."""
    found = _known.setdefault(call, {})
    if not found:  # a capture that fails can harm torch's allocator, so ask before
        found[0] = _waits(call)
    if together not in found:
        found[together] = HOST if found[0] else _capture(call, together)
    return found[together]


def _waits(call: Call) -> bool:
    """Tell whether a call comes back only when the GPU has done what was queued before.

    torch's mode that turns waiting into errors does not know of what sparse tensors do.
    """
    call()  # the first may set something up
    torch.cuda.synchronize()
    asleep = _mark(lambda: _keep_busy(0.02), 1)[1]
    call()
    waited = bool(asleep.query())
    torch.cuda.synchronize()
    return waited


def _capture(call: Call, together: int) -> Any:
    graph, (stream, pool) = torch.cuda.CUDAGraph(), _aside()
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
    return torch.cuda.Stream(), torch.cuda.graph_pool_handle()
