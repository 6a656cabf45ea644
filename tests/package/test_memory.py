"""The bytes counted are those that shapes and dtypes ask for."""

import threading
import tracemalloc

import numpy as np
import pytest
import torch

from lookup_matmul import allocated_bytes, lookup, one_hot, one_hot_matmul, peak_bytes
from lookup_matmul.memory import allocation_sizes

IDS, WEIGHT = torch.randint(50, (64,)), torch.randn(50, 16)
OUT, EYE = torch.empty_like(WEIGHT), torch.eye(8)
LEAF = WEIGHT.clone().requires_grad_()
COO, CSR, CSC = EYE.to_sparse(), EYE.to_sparse_csr(), EYE.to_sparse_csc()
JAGGED = torch.nested.nested_tensor([EYE[:3], EYE[3:]], layout=torch.jagged)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_each_form_against_its_shapes(dtype):
    """A lookup asks for its result, a product for its encoding too; a check for two numbers."""
    weight = WEIGHT.to(dtype)
    size = torch.finfo(dtype).bits // 8
    result, encoding = 64 * 16 * size, 64 * 50 * size
    for measure in (allocated_bytes, *[peak_bytes] * (dtype == torch.float32)):
        assert measure(lambda: lookup(IDS, weight, check=False)) == result
        assert measure(lambda: one_hot(IDS, 50, dtype=dtype, check=False)) == encoding
        assert measure(lambda: one_hot_matmul(IDS, weight, check=False)) == encoding + result
    assert allocated_bytes(lambda: lookup(IDS, weight)) == result + 2 * 8


def temporaries():
    """Make a hundred tensors, and drop each before the next."""
    for _ in range(100):
        torch.empty(1_000, dtype=torch.uint8)


NUMBERS = [1.0] * 100
CALLS = {
    "dropped": (temporaries, 100_000),  # though the allocator may hand out one address again
    "views": (lambda: WEIGHT.T[3:].reshape(13, 50, 1), 0),
    "in place": (lambda: WEIGHT.clone().neg_(), 50 * 16 * 4),
    "tensor": (lambda: torch.tensor(NUMBERS), 400),
    "as_tensor": (lambda: torch.as_tensor(NUMBERS), 400),
    "Tensor": (lambda: torch.Tensor(NUMBERS), 400),
    "new_tensor": (lambda: IDS.new_tensor(NUMBERS), 800),
    "tensor of an array": (lambda: torch.tensor(np.ones(100)), 800),
    "array": (lambda: (torch.from_numpy(np.ones(9)), torch.as_tensor(np.ones(9))), 0),
    "used again": (lambda: torch.tensor(NUMBERS).neg_()[3:].neg(), 400 + 388),
    "resize_": (lambda: torch.empty(2).resize_(50).resize_(100), 8 + 200 + 400),
    "resize_ within": (lambda: torch.empty(100).resize_(2).resize_(100), 400),
    "out": (lambda: torch.neg(WEIGHT, out=torch.empty(0)), 50 * 16 * 4),
    "out that is there": (lambda: torch.neg(WEIGHT, out=OUT), 0),
    "COO": (lambda: COO.clone(), (2 * 8) * 8 + 8 * 4),  # indices and values
    "CSR": (lambda: CSR.clone(), (9 + 8) * 8 + 8 * 4),
    "CSC": (lambda: CSC.clone(), (9 + 8) * 8 + 8 * 4),
    "backward": (lambda: torch.autograd.grad(LEAF.neg(), LEAF, OUT), 2 * 50 * 16 * 4),
    "jagged": (lambda: JAGGED.clone(), 8 * 8 * 4),  # the offsets are shared
}


@pytest.mark.parametrize("name", CALLS)
def test_every_way_to_make_a_tensor_is_counted(name):
    """Also by the profiler, which shares no code; the memory of an array is NumPy's."""
    call, size = CALLS[name]
    assert allocated_bytes(call) == size
    if "array" not in name:
        assert sum(n for n in allocation_sizes(call) if n > 0) == size


def test_an_active_profiler_is_named():
    """Also if it is another measurement; in words, and measuring works once it has ended."""
    with pytest.raises(RuntimeError, match=r"[Pp]rofiler is already enabled"):
        peak_bytes(lambda: peak_bytes(lambda: None))
    with (
        torch.autograd.profiler_legacy.profile(),
        pytest.raises(RuntimeError, match=r"[Pp]rofiler is already enabled"),
    ):
        peak_bytes(lambda: None)
    with pytest.raises(ZeroDivisionError):
        peak_bytes(lambda: 1 / 0)
    assert peak_bytes(lambda: torch.empty(7, dtype=torch.uint8)) == 7


@pytest.mark.parametrize("device", ["tpu", "cuda:0", None])
def test_an_unknown_device_is_refused(device, monkeypatch):
    """With the two that are measured; a GPU that is missing is refused as well."""
    message = f"device is {device!r}, expected 'cpu' or 'cuda'; measure on one of them"
    with pytest.raises(ValueError, match=message):
        peak_bytes(lambda: None, device)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device is cuda, but torch finds no GPU; measure on cpu"):
        peak_bytes(lambda: None, "cuda")


def work_in_a_thread():
    """Create a tensor in another thread."""
    thread = threading.Thread(target=torch.zeros, args=(1000,))
    thread.start()
    thread.join()


@pytest.mark.parametrize("measure", [peak_bytes, allocated_bytes])
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (work_in_a_thread, "0 bytes do not count what other threads allocate"),
        (lambda: np.zeros(10**6) + 1, r"0 bytes do not count 8,00\d,\d+ bytes of Python and NumPy"),
    ],
)
def test_work_that_is_not_seen_is_a_warning(measure, call, message):
    """In a thread, and in NumPy; the hooks are removed."""
    with pytest.warns(UserWarning, match=message):
        assert measure(call) == 0
    assert measure(lambda: torch.zeros(10)) == 40
    assert threading.getprofile() is None
    assert not tracemalloc.is_tracing()
