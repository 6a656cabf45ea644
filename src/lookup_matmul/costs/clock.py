"""Time several ways to compute one result in turns, on a GPU without the time to launch them."""

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from statistics import median, quantiles
from time import perf_counter
from timeit import Timer
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import torch

from lookup_matmul.costs.machine import check_device

Call: TypeAlias = Callable[..., object]  # of no argument; so written the reference can show it
FLUSHED_BYTES = 2**28
MOST_TOGETHER = 100  # calls in one graph
MOST_QUEUED = 20  # calls that no graph holds: some 15 kernels each, in a queue for a thousand
COLD_PAIRS = 50  # of a flush and a call on a GPU, whose events tell half a microsecond
HOST = "host"  # instead of a graph: only the processor's clock can time the call
# A stream to capture on, and the memory that all graphs share; none keeps a result.
_aside = cache(lambda: (torch.cuda.Stream(), torch.cuda.graph_pool_handle()))  # type: ignore[no-untyped-call]
_known: WeakKeyDictionary[Call, dict[int, Any]] = WeakKeyDictionary()


class Spread(NamedTuple):
    """What so many ``rounds`` of ``calls`` came to, in seconds for one call.

    Three quartiles over the rounds: half of them lie between ``low_s`` and ``high_s``.
    """

    median_s: float
    low_s: float
    high_s: float
    rounds: int
    calls: int


def time_side_by_side(
    contenders: Mapping[Any, Call],
    *,
    rounds: int = 9,
    block_s: float = 0.02,
    prepare: Call | None = None,
    device: str = "cpu",
    watch: Callable[..., float] | None = None,
) -> dict[Any, Spread]:
    """Time contenders in turns, so that a change of the machine's speed meets all of them.

    Each of the rounds, at least 2, gives each call, of no argument, a turn of about ``block_s``
    seconds, or less for a call of a few microseconds, after a hundredth of its calls that fills the
    caches. What is to ``prepare``, to empty the caches, say, is called before each timed call, and
    a turn is then a single one. On ``"cuda"`` the GPU's clock is read, for at most 100 calls in a
    turn or 50 prepared ones; another watch gives seconds, from a call, a number of calls and
    ``prepare``. A device that is none of these or not there is a ValueError.

    Examples
    --------
    >>> a = torch.ones(100)
    >>> times = time_side_by_side({"sum": a.sum, "product": a.prod}, block_s=0)
    >>> list(times), all(spread.median_s > 0 for spread in times.values())
    (['sum', 'product'], True)
    """
    check_device(device)
    on_gpu = device == "cuda"
    watch, most = watch or (cuda_stopwatch if on_gpu else stopwatch), 100 if on_gpu else 10**6
    calls = dict.fromkeys(contenders, COLD_PAIRS if on_gpu else 1)
    for name, call in contenders.items() if prepare is None else ():
        once = min(watch(call, 1, None) for _ in range(2))  # the first may set something up
        calls[name] = max(1, min(most, round(block_s / max(once, 1e-9))))
    times: dict[Any, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            for _ in range(0 if prepare else max(1, calls[name] // 100)):
                call()
            times[name].append(watch(call, calls[name], prepare))
    spreads = {}
    for name, found in times.items():
        low, middle, high = quantiles(found, n=4, method="inclusive")
        spreads[name] = Spread(middle, low, high, rounds, calls[name])
    return spreads


def stopwatch(call: Call, calls: int, prepare: Call | None = None) -> float:
    """Return the seconds of one of so many calls, waiting for the device at both ends."""
    # Not torch.utils.benchmark: its import looks for a compiler of CUDA, and says if it finds one.
    timer = Timer(call, prepare or "pass", _now)
    return (sum(timer.repeat(calls, 1)) if prepare else timer.timeit(calls)) / calls


def _now() -> float:
    """Read the clock once the device has done what was asked of it."""
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return perf_counter()


def flush(device: str) -> Call:
    """Return a call that reads more than caches hold, and leaves nothing to be written back."""
    # Memory that was never written is a single page of zeros, which a cache would hold.
    return torch.ones(FLUSHED_BYTES // 4, device=device).sum


def cuda_stopwatch(call: Call, calls: int, prepare: Call | None = None) -> float:
    """Return the seconds of one of so many calls, between events on a GPU that waits for all.

    They are replayed as graphs of up to a hundred; what no graph holds is queued up to 20 times,
    and what waits for the GPU is left to the processor's clock.
    Not ``triton.testing.do_bench``, which takes no turns and whose flush leaves dirty lines.
    """
    together = 1 if prepare else min(calls, MOST_TOGETHER)
    if (graph := _captured(call, together)) == HOST:
        return stopwatch(call, calls, prepare)
    queued = (graph.replay, -(-calls // together)) if graph else (call, min(calls, MOST_QUEUED))
    once, times = queued
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
    """Return how long the processor asks for a call; None where the call's own time holds that."""
    # What the GPU has to do is waited for before the clock is read, and not afterwards.
    asked = Timer(call, torch.cuda.synchronize, perf_counter)
    return None if _captured(call, 1) == HOST else median(asked.repeat(9, 1))


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
    event: Any = torch.cuda.Event
    start, end = (event(enable_timing=True) for _ in range(2))
    if prepare:
        prepare()
    start.record()
    for _ in range(times):
        call()
    end.record()
    return start, end


def _captured(call: Call, together: int) -> Any:
    """Return a graph of as many calls; None if none holds them, HOST if the processor must wait."""
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
