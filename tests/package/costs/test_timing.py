"""Calls are timed in turns, and their quartiles are those of the rounds."""

import statistics
from functools import partial
from types import SimpleNamespace
from unittest.mock import patch

import pytest
import torch
from torch.utils import benchmark

from lookup_matmul.costs import time_side_by_side
from lookup_matmul.costs.timing import capture_cuda_graph

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="measures on a GPU")


@pytest.mark.parametrize("block_s", [0.02, 0.2])
def test_the_time_is_that_of_one_call(block_s):
    """By a clock that each call advances by ten milliseconds, in blocks of 2 and of 20 calls."""
    calls = []
    timer = partial(benchmark.Timer, timer=lambda: 0.01 * len(calls))
    with patch.object(benchmark, "Timer", timer):
        spreads = time_side_by_side({"": lambda: calls.append(1)}, rounds=3, block_s=block_s)
    assert spreads[""] == pytest.approx((0.01, 0.01, 0.01, 3))


@pytest.mark.parametrize("medians", [[1.0, 5.0, 3.0, 2.0, 4.0], [2.0, 1.0], [3.0, 3.0, 9.0, 1.0]])
def test_quartiles_are_those_of_the_rounds(medians):
    """Against torch's quantiles with linear interpolation."""
    rounds = [SimpleNamespace(median=seconds) for seconds in medians]
    with patch("torch.utils.benchmark.Timer") as timer:
        timer.return_value.blocked_autorange.return_value.median = 1e-4
        timer.return_value.timeit.side_effect = rounds
        (spread,) = time_side_by_side({"": None}, rounds=len(medians)).values()
    assert {call.args for call in timer.return_value.timeit.call_args_list} == {(200,)}  # 20 ms
    points = torch.tensor([0.25, 0.5, 0.75], dtype=torch.float64)
    expected = torch.tensor(medians, dtype=torch.float64).quantile(points).tolist()
    assert [spread.low_s, spread.median_s, spread.high_s] == pytest.approx(expected)
    assert spread.median_s == statistics.median(medians)


def test_the_number_of_threads_is_that_of_the_caller():
    """The timer's own default would be one thread, and it is set back."""
    torch.set_num_threads(2)
    threads = []
    time_side_by_side({"": lambda: threads.append(torch.get_num_threads())}, rounds=2, block_s=1e-4)
    assert set(threads) == {2}
    assert torch.get_num_threads() == 2


@needs_gpu
def test_on_a_gpu_the_work_is_waited_for():
    """Ten times the cycles take several times as long, also in a graph of three calls."""
    short, long = (lambda n=n: torch.cuda._sleep(n) for n in (10**6, 10**7))
    times = time_side_by_side({"short": short, "long": long}, rounds=3)
    assert 5 < times["long"].median_s / times["short"].median_s < 15
    graph = capture_cuda_graph(long, 3)
    times = time_side_by_side({"graph": graph, "call": long}, rounds=3)
    assert 2 < times["graph"].median_s / times["call"].median_s < 4


@needs_gpu
def test_a_call_that_waits_for_the_gpu_is_in_no_graph():
    """The error is a RuntimeError, and the GPU works on."""
    a = torch.ones(3, device="cuda")
    with pytest.raises(RuntimeError):
        capture_cuda_graph(lambda: a.sum().item(), 1)
    assert a.sum().item() == 3
