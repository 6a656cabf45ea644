"""How many bytes a computation asks for, in all and at one time."""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import torch
from torch._C import _autograd, _profiler
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lookup_matmul.costs.clock import Call
from lookup_matmul.costs.machine import check_device


def allocated_bytes(call: Call) -> int:
    """Add up the bytes of every tensor that a call creates, also of those it drops again.

    The call takes no argument and is made once. Counted are all new storages that operators of
    torch make, on any device, and those that ``out=`` or ``resize_`` made larger, which are written
    anew; views and results written in place add nothing, nor does the memory of NumPy's arrays.
    What :func:`torch.load` and ``copy.deepcopy`` make is not counted right. Scratch memory inside a
    kernel is not seen; :func:`peak_bytes` sees what of it torch's allocator gives. Tensors are
    strided or sparse; of other layouts, such as jagged ones, torch's own error is raised.

    Examples
    --------
    >>> a = torch.zeros(10, 4)
    >>> allocated_bytes(lambda: a.T)
    0
    >>> allocated_bytes(lambda: (a + 1).double())
    480
    """
    storages = _Storages()
    with storages:
        call()
    return storages.allocated


def peak_bytes(call: Call, device: str = "cpu") -> int:
    """Measure the most memory that a call occupies at one time, on top of what was taken before.

    The call takes no argument and is made once. Scratch memory that kernels take from torch's
    allocator is included, that of libraries with their own, such as MKL, is not. On ``"cpu"`` it is
    every allocation and release of torch's allocator in this thread, and an upper bound where the
    call releases memory that was taken before: torch does not know how large such a block is. On
    ``"cuda"`` it is :func:`torch.cuda.max_memory_allocated`, which counts in blocks of 512. Another
    device, or one that is not there, is a ValueError; one of torch's profilers, or another such
    measurement, at work in this thread is a RuntimeError.

    Examples
    --------
    >>> a = torch.zeros(10, 4)
    >>> peak_bytes(lambda: a @ a.T)
    400
    """
    check_device(device)
    if device == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        return torch.cuda.max_memory_allocated() - before
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
    it writes lines of its own to standard error and ends the process beside other threads. Of
    memory that is older than the call the older one writes a line too, unless
    ``TORCH_CPP_LOG_LEVEL`` was ``ERROR`` when torch was imported.
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
    _autograd._enable_profiler_legacy(settings)
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
