"""Operations and bytes as torch's own profiler counts them, to hold the cost model against."""

from collections.abc import Callable

from lookup_matmul.memory import profile_memory_of


def profiled(call: Callable[[], object]) -> tuple[int, int]:
    """Count with :class:`torch.profiler.profile` what a call does on a CPU.

    Parameters
    ----------
    call : collections.abc.Callable
        Takes no argument; it is called once.

    Returns
    -------
    int
        Of operations for which torch has a formula: matrix products and convolutions,
        and additions and multiplications of elements.
    int
        Bytes allocated, those included that are released before the end.

    Examples
    --------
    >>> import torch
    >>> a, b = torch.ones(2, 3), torch.ones(3, 5)
    >>> profiled(lambda: a @ b)
    (60, 40)
    """
    seen, sizes = profile_memory_of(call, with_flops=True)
    operations = sum(event.flops or 0 for event in seen.events())
    return operations, sum(size for size in sizes if size > 0)
