"""Operations and bytes as torch's own profiler counts them, to hold the cost model against."""

from collections.abc import Callable

from lookup_matmul.allocations import recorded_events, sizes_of


def profiled(call: Callable[[], object]) -> tuple[int, int]:
    """Count with torch's own profiler what a call does on a CPU.

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
    events = recorded_events(call, with_flops=True)
    return sum(event.flops() for event in events), sum(n for n in sizes_of(events) if n > 0)
