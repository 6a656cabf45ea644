"""Where a table is cut: which rows, or columns, belong to which process."""


def cut(size: int, parts: int) -> list[slice]:
    """Cut ``size`` rows into parts of equal size, the last ones smaller if they must be.

    These are the cuts of :func:`torch.chunk`, and of a ``DTensor`` with ``Shard``,
    but with an empty part for each process that nothing is left for.
    Returns one slice for each part, in order, with a start and a stop.

    Examples
    --------
    >>> cut(7, 4)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None), slice(6, 7, None)]
    >>> [part.stop - part.start for part in cut(5, 4)]
    [2, 2, 1, 0]
    """
    each = -(-size // parts)
    return [slice(min(k * each, size), min((k + 1) * each, size)) for k in range(parts)]
