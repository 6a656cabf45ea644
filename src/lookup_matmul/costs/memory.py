"""How many bytes a computation asks for, in all and at one time."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lookup_matmul.costs.allocations import recorded_events, sizes_of
from lookup_matmul.costs.measurable import check_call, known_device


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
        for storage in _storages(tree):
            size = storage.nbytes()
            made_by_torch = made and storage.resizable()  # unlike the memory of an array
            _, before = self.known.get(storage._cdata, (None, 0 if made_by_torch else size))
            if size > before:
                self.allocated += size
            self.known[storage._cdata] = (storage, size)


def allocated_bytes(call: Callable[[], object]) -> int:
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


def peak_bytes(call: Callable[[], object], device: str | torch.device = "cpu") -> int:
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
        If on a CPU one of torch's profilers is at work in this thread.

    Notes
    -----
    A CPU's number is an upper bound where the call releases memory that was taken before:
    torch does not know how large such a block is and does not subtract it.
    Torch tells only of the thread that calls; what the call leaves to other threads of Python is
    not counted. Measurements may stand inside one another, and beside one another in threads.
    On CUDA the peak is one of the device, so they may not.

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


def _storages(tree: object) -> Iterator[torch.UntypedStorage]:
    for leaf in tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            for part in _parts(leaf):
                yield part.untyped_storage()


def _parts(tensor: torch.Tensor) -> list[torch.Tensor]:
    """Give the dense tensors that a tensor of any layout consists of."""
    if tensor.layout == torch.strided:
        return [tensor]
    if tensor.layout == torch.sparse_coo:
        return [tensor._indices(), tensor._values()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices(), tensor.values()]
    if tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        return [tensor.ccol_indices(), tensor.row_indices(), tensor.values()]
    raise NotImplementedError(
        f"a tensor has layout {tensor.layout}, expected strided or one of torch's sparse ones; "
        "its bytes cannot be counted."
    )


def free_bytes(device: str) -> int:
    """Tell how much memory can still be allocated on ``"cpu"``, by psutil, or ``"cuda"``."""
    if device == "cuda":  # what torch keeps for itself but does not use is free as well
        kept = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return torch.cuda.mem_get_info()[0] + kept
    import psutil

    return psutil.virtual_memory().available
