"""Where a table is cut: which rows, or columns, belong to which process."""

import torch
from torch import distributed

from lookup_matmul.inputs import check_ids, check_weight


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


def check_part(ids: torch.Tensor, shard: torch.Tensor, vocab_size: int) -> list[slice]:
    """Return the parts of a table, or raise unless ``shard`` is the one of this process."""
    check_weight(shard, "shard")
    check_ids(ids, vocab_size)
    if ids.dim() != 1 or ids.dtype != torch.int64:
        raise ValueError(
            f"ids has shape {tuple(ids.shape)} and dtype {ids.dtype}, expected (n,) and "
            "torch.int64, since ids of all processes travel together; pass ids.flatten().long() "
            "and reshape the rows that come back."
        )
    rank, size = distributed.get_rank(), distributed.get_world_size()
    parts = cut(vocab_size, size)
    part = parts[rank]
    if len(shard) != part.stop - part.start:
        raise ValueError(
            f"shard has {len(shard)} rows, expected {part.stop - part.start}, those from "
            f"{part.start} to before {part.stop} of the table's {vocab_size}; pass "
            f"weight[cut({vocab_size}, {size})[{rank}]]."
        )
    return parts
