"""Partition of the rows or columns of a table among processes."""

from itertools import pairwise


def cut(size: int, parts: int) -> list[slice]:
    """Cut ``size`` rows into one slice per part, as :func:`torch.chunk` does.

    A ``DTensor`` with ``Shard`` is cut in the same way. All parts are of equal size, except that
    the last ones may be smaller or empty.

    Raises ValueError if ``size`` is negative or ``parts`` is less than one.

    Examples
    --------
    >>> cut(7, 4)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None), slice(6, 7, None)]
    >>> [part.stop - part.start for part in cut(5, 4)]
    [2, 2, 1, 0]
    """
    if size < 0 or parts < 1:
        raise ValueError(
            f"size is {size} and parts is {parts}, expected size >= 0 and parts >= 1; "
            "pass the number of rows and the number of processes."
        )
    chunk_size = -(-size // parts)
    starts = [min(k * chunk_size, size) for k in range(parts + 1)]
    return [slice(start, stop) for start, stop in pairwise(starts)]
