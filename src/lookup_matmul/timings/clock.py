"""Time several ways to compute one result, in turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import quantiles
from time import perf_counter
from timeit import Timer
from typing import NamedTuple, TypeAlias

import torch

Call: TypeAlias = Callable[..., object]  # of no argument; so written the reference can show it
Watch: TypeAlias = Callable[..., float]
FLUSHED_BYTES = 2**28


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
    spreads = {}
    for name, found in times.items():
        low, middle, high = quantiles(found, n=4, method="inclusive")
        spreads[name] = Spread(middle, low, high, rounds, calls[name])
    return spreads


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


def flush(device: str) -> Call:
    """Make a call that reads more than most caches hold, and leaves nothing to be written back."""
    # Memory that was never written is a single page of zeros, which a cache would hold.
    return torch.ones(FLUSHED_BYTES // 4, device=device).sum
