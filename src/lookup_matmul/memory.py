"""Count the bytes that a call allocates, in total and at its peak."""

import sys
import threading
import tracemalloc
import warnings
from collections.abc import Callable
from itertools import accumulate
from typing import Any, TypeAlias

import torch
from torch._C import _autograd, _profiler
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lookup_matmul.inputs import check_device

Call: TypeAlias = Callable[..., object]  # called without arguments
FEW_BYTES = 2**20  # Python's own objects take as many


def allocated_bytes(call: Call) -> int:
    """Add up the bytes of every tensor that a call without arguments creates, kept or not.

    These are new storages of torch's operators on any device, and those that ``out=`` or
    ``resize_`` enlarge. Views, results written in place, NumPy's memory and scratch memory of
    kernels add nothing; :func:`torch.load` and ``copy.deepcopy`` are not counted correctly. Warn if
    the call starts threads, or if Python and NumPy take a hundred times as much, and over 1 MiB.

    >>> a = torch.zeros(10, 4)
    >>> allocated_bytes(lambda: a.T), allocated_bytes(lambda: (a + 1).double())
    (0, 480)
    """
    storages = _Storages()
    with storages, _Unseen() as unseen:
        call()
    return unseen.check(storages.allocated)


def peak_bytes(call: Call, device: str = "cpu") -> int:
    """Return the peak of the memory that a call without arguments occupies in addition.

    On ``"cpu"`` these are allocations of torch in this thread, an upper bound if the call releases
    older memory; on ``"cuda"`` it is :func:`torch.cuda.max_memory_allocated`. Raise ValueError for
    another or a missing device, and RuntimeError if this thread is being profiled. On ``"cpu"``
    warn as :func:`allocated_bytes` does.

    >>> peak_bytes(lambda: torch.zeros(10, 10))
    400
    """
    check_device(device)
    if device == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        return torch.cuda.max_memory_allocated() - before
    with _Unseen() as unseen:
        sizes = allocation_sizes(call)
    return unseen.check(max(accumulate(sizes, initial=0)))


def allocation_sizes(call: Call) -> list[int]:
    """Return the bytes of each allocation of a call, and of each release as a negative number."""
    # torch.profiler would write to standard error and end a process that has other threads. Without
    # TORCH_CPP_LOG_LEVEL=ERROR, this legacy profiler warns when older memory is released.
    names = ("report_input_shapes", "with_stack", "with_flops", "with_modules")
    options: Any = dict.fromkeys(names, False) | {"profile_memory": True}
    options["experimental_config"] = _profiler._ExperimentalConfig()
    settings = _profiler.ProfilerConfig(_profiler.ProfilerState.CPU, **options)
    _autograd._enable_profiler_legacy(settings)
    try:
        call()
    finally:
        threads = _autograd._disable_profiler_legacy()
    events: Any = [event for thread in threads for event in thread]
    return [event.cpu_memory_usage() for event in events if event.kind() == "memory_alloc"]


class _Unseen:
    """Notices threads that start, and the peak of the memory of Python and NumPy."""

    def __enter__(self) -> "_Unseen":
        self.threads: set[int] = set()
        self.bytes = 0
        self.before = threading.getprofile()
        self.modules = len(sys.modules)
        threading.setprofile(self._notice)
        self.is_tracing = not tracemalloc.is_tracing()  # else the trace is the caller's
        if self.is_tracing:
            tracemalloc.start()
        return self

    def __exit__(self, *_: object) -> None:
        threading.setprofile(self.before)
        if self.is_tracing:
            if len(sys.modules) == self.modules:  # imports take more than most calls
                self.bytes = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()

    def _notice(self, *_: object) -> None:
        self.threads.add(threading.get_ident())
        sys.setprofile(None)  # of this thread, which then runs at its usual speed

    def check(self, size: int) -> int:
        """Return the size; warn if it leaves out what counts most."""
        parts = ["what other threads allocate"] if self.threads else []
        if self.bytes > max(100 * size, FEW_BYTES):
            parts.append(f"{self.bytes:,} bytes of Python and NumPy")
        if parts:
            warnings.warn(f"{size:,} bytes do not count {' and '.join(parts)}", stacklevel=3)
        return size


class _Storages(TorchDispatchMode):  # type: ignore[no-untyped-call]  # untyped in torch
    """Collects all storages; the reference to each keeps its address from being used again."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.sizes: dict[int, tuple[torch.UntypedStorage, int]] = {}
        self.allocated = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # A tensor created from Python numbers first appears as the argument of lift_fresh.
        self._count((args, kwargs), new=func is torch.ops.aten.lift_fresh.default)
        result = func(*args, **(kwargs or {}))
        self._count(result, new=True)
        return result

    def _count(self, tree: object, *, new: bool) -> None:
        """Add storages that have grown, and unseen ones if they are new."""
        for leaf in tree_leaves(tree):
            for dense in _list_dense_parts(leaf) if isinstance(leaf, torch.Tensor) else ():
                storage = dense.untyped_storage()
                size = storage.nbytes()
                by_torch = new and storage.resizable()  # the memory of a NumPy array is not
                _, before = self.sizes.get(storage._cdata, (None, 0 if by_torch else size))
                if size > before:
                    self.allocated += size
                self.sizes[storage._cdata] = (storage, size)


def _list_dense_parts(tensor: Any) -> list[torch.Tensor]:
    if tensor.layout == torch.strided:
        return [tensor]
    if tensor.layout == torch.jagged:
        return [tensor.values(), tensor.offsets()]
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
