"""How many bytes a computation asks for."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class _Storages(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it untyped
    """Collects the storages of all results; holding them keeps an address from being used twice."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.known: dict[int, torch.UntypedStorage] = {}
        self.allocated = 0

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: Sequence[type],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        for storage in _storages((args, kwargs)):
            self.known.setdefault(storage._cdata, storage)
        result = func(*args, **(kwargs or {}))
        for storage in _storages(result):
            if storage._cdata not in self.known:
                self.known[storage._cdata] = storage
                self.allocated += storage.nbytes()
        return result


def allocated_bytes(call: Callable[[], object]) -> int:
    """Add up the bytes of every tensor that a call creates, also of those it drops again.

    Parameters
    ----------
    call : collections.abc.Callable
        Takes no argument; it is called once.

    Returns
    -------
    int
        Bytes of all new storages, on any device; views and results written in place add nothing.
        A peak can be lower, if tensors are freed on the way.
        Scratch memory inside a kernel is not seen.

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


def _storages(tree: object) -> list[torch.UntypedStorage]:
    tensors = (leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor))
    return [tensor.untyped_storage() for tensor in tensors if tensor.layout == torch.strided]
