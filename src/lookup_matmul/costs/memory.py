"""How many bytes a computation asks for, in all and at one time."""

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch._C import _autograd, _profiler
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lookup_matmul.costs.clock import Call, check_call
from lookup_matmul.costs.machine import known_device

ERRORS_ONLY = 2  # of torch's levels: 0 is information, 1 a warning, 2 an error
_lock, _quiet = threading.Lock(), [0, 0]  # how many ask for silence, and the level before


def allocated_bytes(call: Call) -> int:
    """Add up the bytes of every tensor that a call creates, also of those it drops again.

    Parameters
    ----------
    call : collections.abc.Callable
        Takes no argument; it is called once.

    Returns
    -------
    int
        Bytes of all new storages, on any device, and of those that ``out=`` or ``resize_`` made
        larger, which are written anew; views and results written in place add nothing,
        nor does the memory of NumPy's arrays.
        Scratch memory inside a kernel is not seen; :func:`peak_bytes` sees it.

    Raises
    ------
    TypeError
        If ``call`` cannot be called, as the result of a call cannot.

    Examples
    --------
    >>> a = torch.zeros(10, 4)
    >>> allocated_bytes(lambda: a.T)
    0
    >>> allocated_bytes(lambda: (a + 1).double())
    480
    """
    check_call("call", call)
    storages = _Storages()
    with storages:
        call()
    return storages.allocated


def peak_bytes(call: Call, device: str | torch.device = "cpu") -> int:
    """Measure the most memory that a call occupies at one time, on top of what was taken before.

    Parameters
    ----------
    call : collections.abc.Callable
        Takes no argument; it is called once.
    device : str or torch.device
        Where to measure.

    Returns
    -------
    int
        Bytes, scratch memory inside kernels included.
        On a CPU it is every allocation and release of torch's allocator in this thread;
        on CUDA it is :func:`torch.cuda.max_memory_allocated`, which counts in blocks of 512.

    Raises
    ------
    TypeError
        If ``call`` cannot be called, as the result of a call cannot.
    ValueError
        If ``device`` is neither a CPU nor a CUDA device that is there.
    RuntimeError
        If on a CPU one of torch's profilers, or another such measurement, is at work in this
        thread.

    Notes
    -----
    A CPU's number is an upper bound where the call releases memory that was taken before:
    torch does not know how large such a block is and does not subtract it.
    Torch tells only of the thread that calls; what the call leaves to other threads of Python is
    not counted. Threads may measure beside one another on a CPU; on CUDA the peak is the device's.

    Examples
    --------
    >>> a = torch.zeros(10, 4)
    >>> peak_bytes(lambda: a @ a.T)
    400
    """
    check_call("call", call)
    device = known_device(device)
    if device.type == "cuda":
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        call()
        return torch.cuda.max_memory_allocated(device) - before
    return max(accumulate(sizes_of(recorded_events(call)), initial=0))


def free_bytes(device: str) -> int:
    """Return how much can still be allocated on ``"cpu"``, by psutil, or ``"cuda"``."""
    if device == "cuda":  # what torch keeps for itself but does not use is free as well
        kept = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return torch.cuda.mem_get_info()[0] + kept
    import psutil

    return psutil.virtual_memory().available


def recorded_events(call: Call) -> list[Any]:
    """Return what torch recorded of a call in this thread: operations, allocations, releases.

    The older of torch's two profilers does it. :mod:`torch.profiler` measures the same bytes, but
    it writes lines of its own to standard error and ends the process beside other threads.
    """
    settings: Any = _profiler.ProfilerConfig(
        _profiler.ProfilerState.CPU,
        report_input_shapes=False,
        profile_memory=True,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=_profiler._ExperimentalConfig(),
    )
    with _without_word_of_older_blocks():
        try:
            _autograd._enable_profiler_legacy(settings)
        except RuntimeError as error:
            raise RuntimeError(
                "a profiler of torch is at work in this thread, expected none, since torch takes "
                "only one at a time; measure before or after it."
            ) from error
        try:
            call()
        finally:
            threads = _autograd._disable_profiler_legacy()
    return [event for thread in threads for event in thread]


def sizes_of(events: list[Any]) -> list[int]:
    """Return the bytes of each allocation, and of each release as a negative number."""
    return [event.cpu_memory_usage() for event in events if event.kind() == "memory_alloc"]


class _Storages(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Collects all storages; holding them keeps an address from being used twice."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.known: dict[int, tuple[torch.UntypedStorage, int]] = {}
        self.allocated = 0

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        # What torch makes of Python's numbers arrives here first as the argument of lift_fresh.
        self.look((args, kwargs), made=func is torch.ops.aten.lift_fresh.default)
        result = func(*args, **(kwargs or {}))
        self.look(result, made=True)  # with what an out= or a resize_ has made larger
        return result

    def look(self, tree: object, *, made: bool) -> None:
        """Count storages that have grown; one not seen before has, if it was made here."""
        for leaf in tree_leaves(tree):
            for dense in _dense_in(leaf) if isinstance(leaf, torch.Tensor) else ():
                storage = dense.untyped_storage()
                size = storage.nbytes()
                made_by_torch = made and storage.resizable()  # unlike the memory of an array
                _, before = self.known.get(storage._cdata, (None, 0 if made_by_torch else size))
                if size > before:
                    self.allocated += size
                self.known[storage._cdata] = (storage, size)


def _dense_in(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Return the dense tensors that a tensor of any layout consists of."""
    if tensor.layout == torch.strided:
        return [tensor]
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]


@contextmanager
def _without_word_of_older_blocks() -> Iterator[None]:
    """Let torch's C++ code write errors only: it would tell of blocks of unknown size."""
    level = _log_level()
    with _lock:
        _quiet[0] += 1
        if _quiet[0] == 1:
            _quiet[1], level.value = level.value, max(level.value, ERRORS_ONLY)
    try:
        yield
    finally:
        with _lock:
            _quiet[0] -= 1
            if _quiet[0] == 0:
                level.value = _quiet[1]


@cache
def _log_level() -> ctypes.c_int:
    """Return the variable of torch's C++ code, which Python can only set before torch is loaded."""
    name = {"darwin": "libc10.dylib", "win32": "c10.dll"}.get(sys.platform, "libc10.so")
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name))
        return ctypes.c_int.in_dll(library, "FLAGS_caffe2_log_level")
    except (OSError, ValueError):
        return ctypes.c_int(ERRORS_ONLY)  # a torch built otherwise: it says what it says
