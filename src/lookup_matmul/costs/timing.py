"""Time several calls in turns, by the timer of :mod:`torch.utils.benchmark`."""

from collections.abc import Callable, Mapping
from statistics import quantiles
from typing import Any, NamedTuple, TypeAlias

import torch

Call: TypeAlias = Callable[..., object]  # without arguments


class Spread(NamedTuple):
    """Quartiles of the time per call over several rounds, in seconds, with the median between."""

    low_s: float
    median_s: float
    high_s: float
    rounds: int


def time_side_by_side(
    contenders: Mapping[Any, Call], *, rounds: int = 9, block_s: float = 0.02
) -> dict[Any, Spread]:
    """Time calls in turns, so that a change of the machine's speed affects all of them.

    In each of at least two rounds, :class:`torch.utils.benchmark.Timer` warms up each call and
    times it for about ``block_s`` seconds, or once if it takes longer. It waits for a GPU. Return
    the spread over the rounds under the name of each call.

    >>> times = time_side_by_side({"sum": torch.ones(100).sum}, rounds=3, block_s=1e-3)
    >>> list(times), times["sum"].median_s > 0
    (['sum'], True)
    """
    from torch.utils.benchmark import Timer  # imports setuptools, which takes 0.2 s

    timers: dict[Any, Timer] = {}
    numbers: dict[Any, int] = {}
    times: dict[Any, list[float]] = {}
    for name, call in contenders.items():
        timer = Timer("call()", globals={"call": call}, num_threads=torch.get_num_threads())
        once_s = timer.blocked_autorange(min_run_time=block_s / 10).median
        timers[name] = timer
        numbers[name] = round(block_s / once_s)
        times[name] = []
    for _ in range(rounds):
        for name, timer in timers.items():
            if numbers[name] > 2:
                block = timer.timeit(numbers[name])
            else:  # timeit would make two calls to warm up
                block = timer.blocked_autorange(min_run_time=block_s / 10)
            times[name].append(block.median)
    quartiles = {name: quantiles(times[name], n=4, method="inclusive") for name in times}
    return {name: Spread(q[0], q[1], q[2], rounds) for name, q in quartiles.items()}


def capture_cuda_graph(call: Call, calls: int) -> Call:
    """Return the replay of a CUDA graph of several calls; raise RuntimeError if it holds none."""
    call()  # the first call may allocate workspaces and compile
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    return graph.replay
