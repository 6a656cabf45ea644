"""What the collectives of a process are given, and how many bytes it has to send for that."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from torch import distributed
from torch.utils._python_dispatch import TorchDispatchMode

# torch's names, those of torch.distributed and those of DTensor, and what they are called here.
NAMES = {
    "allreduce_": "all-reduce",
    "all_reduce": "all-reduce",
    "reduce_scatter_": "reduce-scatter",
    "_reduce_scatter_base_": "reduce-scatter",
    "reduce_scatter_tensor": "reduce-scatter",
    "allgather_": "all-gather",
    "_allgather_base_": "all-gather",
    "all_gather_into_tensor": "all-gather",
    "alltoall_base_": "all-to-all",
    "all_to_all_single": "all-to-all",
}
INPUTS = ("input", "input_tensor", "input_tensors", "tensors")  # what their schemas call them
WITHOUT_DATA = ("barrier", "monitored_barrier_", "wait_tensor", "_wrap_tensor_autograd")


class Collective(NamedTuple):
    """One call of a collective, as one process made it.

    ``name`` is ``all-reduce``, ``reduce-scatter``, ``all-gather`` or ``all-to-all``, and
    ``given_bytes`` the size of the tensor that it was given. ``sent_bytes`` is what this process
    has to send to others, in the algorithms that send least: of g bytes given by each of P
    processes, all-reduce 2 g (P − 1) / P, reduce-scatter g (P − 1) / P, all-gather g (P − 1); of an
    all-to-all what is for others.
    """

    name: str
    given_bytes: int
    sent_bytes: float


@contextmanager
def collectives() -> Iterator[list[Collective]]:
    """Note the collectives that this process calls meanwhile, those of ``DTensor`` as well.

    The list is in the order of the calls, and complete once the ``with`` has ended. A collective
    that is not counted here is a NotImplementedError.

    Examples
    --------
    >>> import torch
    >>> from lookup_matmul.sharded import run_on_processes
    >>> def summed(weight):
    ...     with collectives() as calls:
    ...         torch.distributed.all_reduce(weight)
    ...     return calls
    >>> run_on_processes(summed, 2, torch.ones(3))[0]
    [Collective(name='all-reduce', given_bytes=12, sent_bytes=12.0)]
    """
    calls: list[Collective] = []
    with _Watch(calls):
        yield calls


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    def __init__(self, calls: list[Collective]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls = calls

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        if func.namespace in ("c10d", "_c10d_functional", "_c10d_functional_autograd"):
            name = func.overloadpacket.__name__
            if name in NAMES:
                given = dict(zip([a.name for a in func._schema.arguments], args, strict=False))
                self.calls.append(_noted(NAMES[name], given | (kwargs or {})))
            elif name not in WITHOUT_DATA:
                raise NotImplementedError(
                    f"{func} is not counted, expected one of {', '.join(sorted(NAMES))}."
                )
        return func(*args, **(kwargs or {}))


def _noted(name: str, arguments: dict[str, Any]) -> Collective:
    given = sum(_nbytes(arguments[key]) for key in INPUTS if key in arguments)
    size = distributed.get_world_size()
    if name == "all-to-all":
        splits = arguments["input_split_sizes"] or [1] * size
        kept = given * splits[distributed.get_rank()] // max(1, sum(splits))
        return Collective(name, given, given - kept)
    factors = {
        "all-reduce": 2 * (size - 1) / size,
        "reduce-scatter": (size - 1) / size,
        "all-gather": size - 1,
    }
    return Collective(name, given, given * factors[name])


def _nbytes(data: Any) -> int:
    return sum(map(_nbytes, data)) if isinstance(data, list | tuple) else data.nbytes
