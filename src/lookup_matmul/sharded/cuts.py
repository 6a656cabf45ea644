"""Assign the rows or columns of a table to processes."""


def cut(size: int, parts: int) -> list[slice]:
    """Return one slice of ``size`` rows for each of ``parts`` processes.

    All parts have the same size, except that the last ones may be smaller or empty, as for
    :func:`torch.chunk` and for a ``DTensor`` with ``Shard``.

    Raises
    ------
    ValueError
        If ``size`` is negative or ``parts`` is not positive.

    Examples
    --------
    >>> cut(7, 4)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None), slice(6, 7, None)]
    >>> [part.stop - part.start for part in cut(5, 4)]
    [2, 2, 1, 0]
    """
    if size < 0 or parts < 1:
        raise ValueError(f"size is {size} and parts is {parts}, expected size >= 0 and parts >= 1.")
    step = -(-size // parts)
    return [slice(min(k * step, size), min((k + 1) * step, size)) for k in range(parts)]
