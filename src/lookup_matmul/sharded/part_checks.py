"""What each process may bring to a lookup in a table of which it holds a part."""

import torch
from torch import distributed

from lookup_matmul.inputs import (
    check_id_tensor,
    check_ids,
    check_one_device,
    check_rows,
    check_stored,
    check_weight,
)
from lookup_matmul.sharded.cuts import cut


def check_masked(ids: torch.Tensor, shard: torch.Tensor, first: int) -> None:
    """Raise unless ids, which may lie elsewhere, can be looked for among rows held here."""
    check_weight(shard, "shard")
    check_one_device(ids, shard, "shard")
    check_id_tensor(ids)
    check_stored("ids", ids)
    check_rows("first", first, "Pass cut(...)[rank].start.")


def check_columns(ids: torch.Tensor, columns: torch.Tensor) -> None:
    """Raise unless each of a row of ids names a row of these columns."""
    check_weight(columns, "columns")
    check_one_device(ids, columns, "columns")
    check_ids(ids, columns.shape[0])
    _check_row(ids)


def check_part(ids: torch.Tensor, shard: torch.Tensor, vocab_size: int) -> list[slice]:
    """Give the parts of a table, or raise unless ``shard`` is the one of this process."""
    check_weight(shard, "shard")
    check_one_device(ids, shard, "shard")
    check_ids(ids, vocab_size)
    _check_row(ids)
    if ids.dtype != torch.int64:
        raise TypeError(
            f"ids has dtype {ids.dtype}, expected torch.int64, since ids of all processes travel "
            "together; convert with ids.long()."
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


def _check_row(ids: torch.Tensor) -> None:
    if ids.dim() != 1:
        raise ValueError(
            f"ids has shape {tuple(ids.shape)}, expected (n,); pass ids.flatten() and reshape the "
            "rows that come back."
        )
