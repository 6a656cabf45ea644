"""The bytes counted are those that shapes and dtypes ask for."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

from lookup_matmul import (
    allocated_bytes,
    lookup,
    one_hot,
    one_hot_matmul,
    peak_bytes,
)
from lookup_matmul.costs import allocations
from lookup_matmul.costs.allocations import recorded_events, sizes_of

IDS, WEIGHT = torch.randint(50, (64,)), torch.randn(50, 16)


def profiled(call):
    """Count operations by torch's formulas, and bytes allocated by its recorded events."""
    events = recorded_events(call, with_flops=True)
    return sum(event.flops() for event in events), sum(n for n in sizes_of(events) if n > 0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_each_form_against_its_shapes(dtype):
    """A lookup allocates its result, a product its encoding as well."""
    weight = WEIGHT.to(dtype)
    size = torch.finfo(dtype).bits // 8
    result, encoding = 64 * 16 * size, 64 * 50 * size
    assert allocated_bytes(lambda: lookup(IDS, weight, check=False)) == result
    assert allocated_bytes(lambda: one_hot(IDS, 50, dtype=dtype, check=False)) == encoding
    assert allocated_bytes(lambda: one_hot_matmul(IDS, weight, check=False)) == encoding + result


def test_the_check_allocates_two_numbers():
    """The smallest and the largest id."""
    unchecked = allocated_bytes(lambda: lookup(IDS, WEIGHT, check=False))
    assert allocated_bytes(lambda: lookup(IDS, WEIGHT)) == unchecked + 2 * 8


def test_dropped_tensors_count_and_views_do_not():
    """Each of a hundred temporaries is seen, though the allocator may hand out one address again."""

    def temporaries():
        for _ in range(100):
            torch.empty(1_000, dtype=torch.uint8)

    assert allocated_bytes(temporaries) == 100_000
    assert allocated_bytes(lambda: WEIGHT.T[3:].reshape(13, 50, 1)) == 0
    assert allocated_bytes(lambda: WEIGHT.clone().add_(1)) == WEIGHT.numel() * 4


NUMBERS = [1.0] * 100
MADE = {
    "tensor": (lambda: torch.tensor(NUMBERS), 400),
    "as_tensor": (lambda: torch.as_tensor(NUMBERS), 400),
    "Tensor": (lambda: torch.Tensor(NUMBERS), 400),
    "new_tensor": (lambda: IDS.new_tensor(NUMBERS), 800),
    "scalar": (lambda: torch.tensor(1.0), 4),
    "tensor of an array": (lambda: torch.tensor(np.ones(100)), 800),
    "array": (lambda: (torch.from_numpy(np.ones(9)), torch.as_tensor(np.ones(9))), 0),
    "used again": (lambda: torch.tensor(NUMBERS).neg_()[3:].neg(), 400 + 388),
    "resize_": (lambda: torch.empty(2).resize_(100), 8 + 400),
    "resize_ to less": (lambda: torch.empty(100).resize_(2), 400),
    "resize_ within": (lambda: torch.empty(100).resize_(2).resize_(100), 400),
    "resize_ twice": (lambda: torch.empty(2).resize_(50).resize_(100), 8 + 200 + 400),
    "out": (lambda: torch.neg(WEIGHT, out=torch.empty(0)), 50 * 16 * 4),
    "out that fits": (lambda: torch.neg(WEIGHT, out=torch.empty_like(WEIGHT)), 50 * 16 * 4),
    "out that is there": (lambda: torch.neg(WEIGHT, out=OUT), 0),
}  # fmt: skip
OUT = torch.empty_like(WEIGHT)


@pytest.mark.parametrize("name", MADE)
def test_every_way_to_make_a_tensor_is_seen(name):
    """From Python's numbers, by a result's place, by a change of size; arrays are NumPy's."""
    call, size = MADE[name]
    assert allocated_bytes(call) == size


@pytest.mark.parametrize("name", [name for name in MADE if "array" not in name])
def test_the_profiler_sees_as_much(name):
    """Two ways to count, which share no code, where no kernel needs scratch memory."""
    call, size = MADE[name]
    assert profiled(call)[1] == size


def test_the_backward_pass_is_counted_too():
    """The gradient of the table has the size of the table."""
    weight = WEIGHT.clone().requires_grad_()
    forward = allocated_bytes(lambda: lookup(IDS, weight, check=False))
    both = allocated_bytes(lambda: lookup(IDS, weight, check=False).backward(torch.ones(64, 16)))
    ones = 64 * 16 * 4
    assert both - forward - ones >= weight.numel() * 4


@pytest.mark.parametrize("layout", ["coo", "csr", "csc"])
def test_sparse_tensors_count_what_they_hold(layout):
    """An encoding in a sparse layout is as large as its indices and values."""
    dense = torch.eye(8)
    sparse = getattr(dense, f"to_sparse_{layout}" if layout != "coo" else "to_sparse")()
    held = {"coo": 2 * 8 * 8, "csr": 9 * 8 + 8 * 8, "csc": 9 * 8 + 8 * 8}[layout] + 8 * 4
    assert allocated_bytes(lambda: sparse.clone()) == held


def test_the_peak_is_what_lives_at_one_time():
    """A hundred temporaries, one after the other, take the room of one."""

    def temporaries():
        for _ in range(100):
            torch.empty(1_000, dtype=torch.uint8)

    assert peak_bytes(temporaries) == 1_000
    assert peak_bytes(lambda: [torch.empty(1_000, dtype=torch.uint8) for _ in range(7)]) == 7_000
    assert peak_bytes(lambda: WEIGHT.T) == 0


def test_the_peak_of_each_form():
    """The product holds its encoding while the result is made; the lookup has no encoding."""
    result, encoding = 64 * 16 * 4, 64 * 50 * 4
    assert peak_bytes(lambda: lookup(IDS, WEIGHT, check=False)) == result
    assert peak_bytes(lambda: one_hot_matmul(IDS, WEIGHT, check=False)) == encoding + result


def test_a_measurement_writes_nothing_beside_the_call(capfd):
    """What the call writes arrives, and nothing else does."""
    assert peak_bytes(lambda: os.write(2, b"a line of the call\n")) == 0
    profiled(lambda: WEIGHT @ WEIGHT.T)
    assert capfd.readouterr().err == "a line of the call\n"


KINETO = (
    b"USDT:2026-01-31 12:00:00 1:1 SyncActivityProfilerHandler.cpp:52] profiler_start\n",
    b"ERROR:2026-01-31 12:00:00 1:1 DeviceProperties.cpp:50] gpuGetDeviceCount failed with code 35\n",
)


def test_a_profiler_that_looks_for_a_gpu_is_not_asked(monkeypatch, capfd):
    """Where torch is built for CUDA and no driver is there, the other profiler writes such lines."""
    for name in ("_prepare_profiler", "_enable_profiler", "_disable_profiler"):
        real = getattr(torch.autograd.profiler, name)

        def noisy(*given, real=real, **named):
            os.write(2, b"".join(KINETO))
            return real(*given, **named)

        monkeypatch.setattr(torch.autograd.profiler, name, noisy)
        monkeypatch.setattr(torch._C._autograd, name, noisy)
        monkeypatch.setattr(torch.autograd, name, noisy)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        pass
    assert capfd.readouterr().err.count("gpuGetDeviceCount failed with code 35") >= 2
    assert peak_bytes(lambda: WEIGHT @ WEIGHT.T) == 50 * 50 * 4
    assert profiled(lambda: WEIGHT @ WEIGHT.T)[0] == 2 * 50 * 50 * 16
    assert capfd.readouterr().err == ""


def test_a_release_of_older_memory_is_not_subtracted_nor_told(capfd):
    """Torch does not know its size, and would say so; the peak is then an upper bound."""
    older = [torch.ones(1_000) for _ in range(2_000)]

    def replaced():
        older.clear()
        return torch.ones(1_000)

    assert peak_bytes(replaced) == 4_000
    assert capfd.readouterr().err == ""


def test_what_torch_writes_afterwards_is_written(capfd):
    """Its own profiler tells of such a release again, once in a thousand."""
    level = allocations._log_level().value
    peak_bytes(lambda: peak_bytes(lambda: None))
    assert allocations._log_level().value == level < allocations.ERRORS_ONLY
    older = [torch.ones(1_000) for _ in range(2_000)]
    settings = torch.autograd.profiler_legacy.profile(profile_memory=True)
    with settings:
        older.clear()
    assert "allocated before the profiling started" in capfd.readouterr().err


def test_a_measurement_within_another_one():
    """Each has the peak of its own call, and the outer one sees the inner one's memory too."""
    inner = []

    def outer():
        held = torch.empty(1_000, dtype=torch.uint8)
        inner.append(peak_bytes(lambda: torch.empty(300, dtype=torch.uint8)))
        inner.append(profiled(lambda: WEIGHT @ WEIGHT.T)[0])
        torch.empty(500, dtype=torch.uint8)
        return held

    product = 50 * 50 * 4
    assert peak_bytes(outer) == 1_000 + product
    assert inner == [300, 2 * 50 * 50 * 16]
    assert profiled(lambda: inner.append(peak_bytes(lambda: WEIGHT @ WEIGHT.T)))[0] == inner[1]
    assert inner[2] == product


def test_threads_measure_beside_each_other(capfd):
    """Each sees its own memory, and standard error is everybody's all the time."""

    def measure(size):
        for _ in range(50):
            peaks.add((size, peak_bytes(lambda: torch.empty(size, dtype=torch.uint8))))
        os.write(2, b"done\n")

    peaks, sizes = set(), range(1_000, 1_008)
    threads = [threading.Thread(target=measure, args=(size,)) for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert peaks == {(size, size) for size in sizes}
    assert capfd.readouterr().err == "done\n" * len(sizes)


def test_memory_of_another_thread_is_not_seen():
    """As documented: torch records a thread at a time."""

    def elsewhere():
        thread = threading.Thread(target=lambda: torch.empty(1_000, dtype=torch.uint8))
        thread.start()
        thread.join()

    assert peak_bytes(elsewhere) == 0


def test_a_profiler_at_work_is_named():
    """In words, and the measurement works once it has ended."""
    with (
        torch.autograd.profiler_legacy.profile(),
        pytest.raises(RuntimeError, match=r"a profiler of torch is at work in this thread, expect"),
    ):
        peak_bytes(lambda: None)
    assert peak_bytes(lambda: torch.empty(7, dtype=torch.uint8)) == 7


def test_standard_error_may_be_closed():
    """As in a service; in a process of its own, since pytest needs it open."""
    code = "import os; from lookup_matmul import peak_bytes; os.close(2); print(peak_bytes(int))"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"0\n"


def test_the_peak_passes_errors_on():
    """An error inside the call arrives, and the next measurement works."""
    with pytest.raises(ZeroDivisionError):
        peak_bytes(lambda: [peak_bytes(lambda: None), peak_bytes(lambda: 1 / 0)])
    assert peak_bytes(lambda: torch.empty(7, dtype=torch.uint8)) == 7


def test_the_peak_needs_a_device_that_reports():
    """No number is made up for a device that has none."""
    with pytest.raises(ValueError, match="device is meta, expected cpu or cuda"):
        peak_bytes(lambda: None, "meta")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device is cuda, but torch finds no GPU; measure on"):
            peak_bytes(lambda: None, "cuda")
