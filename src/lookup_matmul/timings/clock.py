"""Time several ways to compute one result, side by side in one run."""

from collections.abc import Callable, Mapping
from statistics import quantiles
from time import perf_counter
from timeit import Timer
from typing import NamedTuple, TypeAlias

import torch

Call: TypeAlias = Callable[..., object]  # of no argument; so written the reference can show it
Watch: TypeAlias = Callable[..., float]
CYCLES_PER_S = 4e9  # more than a GPU makes; a slower one waits longer
LONGEST_WAIT_S = 0.02


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


def stopwatch(call: Call, calls: int, prepare: Call | None = None) -> float:
    """Time calls in a row, waiting for the device at both ends; seconds for one of them.

    Parameters
    ----------
    call : collections.abc.Callable
        What is timed; takes no argument.
    calls : int
        How often.
    prepare : collections.abc.Callable, optional
        Called before the first of them and not timed: to empty a cache, say.

    Returns
    -------
    float
        Seconds, the mean of ``calls``.

    Notes
    -----
    At least two calls warm up, a hundredth of those that are timed; then ``prepare`` is called
    once more. :class:`timeit.Timer` runs the loop and pauses Python's garbage collector.
    PyTorch's own timer does the same with one thread, and needs to be told of more.

    Examples
    --------
    >>> stopwatch(lambda: torch.ones(10), calls=3) > 0
    True
    """
    names = {"call": call, "prepare": prepare or (lambda: None)}
    # Not torch.utils.benchmark: its import looks for a compiler of CUDA, and says if it finds one.
    timer = Timer("call()", "prepare()", _now, globals=names)
    timer.timeit(max(calls // 100, 2))
    return timer.timeit(calls) / calls


def _now() -> float:
    """Read the clock once the device has done what was asked of it."""
    if torch.accelerator.is_available():
        torch.accelerator.synchronize()
    return perf_counter()


def cuda_stopwatch(call: Call, calls: int, prepare: Call | None = None) -> float:
    """Time calls in a row between two events on the GPU, without the time to launch them.

    Parameters
    ----------
    call, calls, prepare
        As for :func:`stopwatch`; what ``prepare`` queues runs before the first event.

    Returns
    -------
    float
        Seconds, the mean of ``calls``.

    Notes
    -----
    The GPU is kept waiting until all calls are queued, or the clock would show how fast the
    processor asks for small ones; :func:`launch_s` measures that.
    A queue holds about a thousand kernels, so ``calls`` should stay under some hundred.

    Examples
    --------
    >>> if torch.cuda.is_available():
    ...     assert cuda_stopwatch(lambda: torch.ones(10, device="cuda"), calls=3) > 0
    """
    asking_s = launch_s(call)
    torch.cuda.synchronize()
    if prepare is not None:
        prepare()
    waited_s = min(asking_s * calls, LONGEST_WAIT_S)
    torch.cuda._sleep(int(CYCLES_PER_S * waited_s))  # type: ignore[no-untyped-call]
    start, end = (torch.Event("cuda", enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(calls):
        call()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end)) / 1e3 / calls


def launch_s(call: Call) -> float:
    """Time how long the processor is busy with a call; a GPU may still be at it afterwards.

    Parameters
    ----------
    call : collections.abc.Callable
        What is timed; takes no argument.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> launch_s(lambda: torch.ones(10)) > 0
    True
    """
    begin = perf_counter()
    call()
    return perf_counter() - begin


def time_side_by_side(
    contenders: Mapping[str, Call],
    *,
    rounds: int = 9,
    block_s: float = 0.02,
    most_calls: int = 10**6,
    prepare: Call | None = None,
    watch: Watch = stopwatch,
) -> dict[str, Spread]:
    """Time contenders in turns, so that a change of the machine's speed meets all of them.

    Parameters
    ----------
    contenders : collections.abc.Mapping
        Name and call of each; a call takes no argument.
    rounds : int
        How often each has its turn, at least 3.
    block_s : float
        How long a turn should last at least, in seconds; it takes as many calls as that needs.
        Longer blocks measure with a warm cache, since a turn evicts the data of the one before.
    most_calls : int
        How many calls a turn takes at most.
    prepare : collections.abc.Callable, optional
        Called before every turn, which is then a single call: to measure with a cold cache.
    watch : collections.abc.Callable
        Times a number of calls; another one than :func:`stopwatch` for tests.

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
    calls = dict.fromkeys(contenders, 1)
    if prepare is None:
        for name, call in contenders.items():
            once = min(watch(call, 1, None) for _ in range(3))  # the first may set something up
            calls[name] = max(1, min(most_calls, round(block_s / once)))
    measured: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            measured[name].append(watch(call, calls[name], prepare))
    return {name: _spread(times, calls[name]) for name, times in measured.items()}


def _spread(times: list[float], calls: int) -> Spread:
    low, median, high = quantiles(times, n=4, method="inclusive")
    return Spread(median, low, high, len(times), calls)
