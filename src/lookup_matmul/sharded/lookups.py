"""Lookups in a table of which each process holds a part; called by every process of a group.

Each is a local lookup with torch's collectives around it. All but :func:`column_lookup` take a
table cut by rows as :func:`~lookup_matmul.sharded.cut` cuts it. After an error in one process
the others wait for it.
"""

from typing import Any

import torch
from torch import distributed
from torch.autograd.function import once_differentiable

from lookup_matmul.inputs import check_id_tensor, check_ids, check_weight
from lookup_matmul.sharded.cuts import check_part


def masked_lookup(ids: torch.Tensor, shard: torch.Tensor, first: int) -> torch.Tensor:
    """Look up the ids whose rows are here, and return rows of zeros for all others.

    ``ids`` have any shape, int32 or int64, counted in the whole table; ``shard`` has shape (rows
    held here, embedding dimension), the first of which is row ``first`` of the table. Returns the
    shape of ``ids``, then the embedding dimension. Gradients flow to ``shard`` only, so that none
    of the size of the whole table is ever made. Nothing is sent: added up over the processes that
    hold the other rows, it is the lookup in the whole table; an id that no process holds gives
    zeros and no error. Ids or a shard of another dtype are a TypeError, a shard that is not
    two-dimensional is a ValueError.

    Examples
    --------
    >>> shard = torch.tensor([[2.0, 2.5], [3.0, 3.5]])  # rows 2 and 3
    >>> masked_lookup(torch.tensor([3, 0]), shard, 2)
    tensor([[3.0000, 3.5000],
            [0.0000, 0.0000]])
    """
    check_weight(shard, "shard")
    check_id_tensor(ids)
    local = ids.long() - first  # of 32 bits the difference could wrap around
    here = (local >= 0) & (local < len(shard))
    found = shard.new_zeros(*ids.shape, shard.shape[1])
    return found.masked_scatter(here.unsqueeze(-1), shard[local[here]])


def add_up(partial: torch.Tensor) -> torch.Tensor:
    """Add a tensor up over all processes, by one all-reduce, and return the sum in each.

    It has the same shape and dtype in each process, and is left as it is.
    Backward, each process hands on the gradient that arrives in it, and nothing is sent:
    right if all of them compute the same loss from the sum, as when they share one batch.

    Examples
    --------
    >>> from lookup_matmul.sharded import run_on_processes
    >>> run_on_processes(add_up, 2, torch.tensor([1.0, 2.0]))
    [tensor([2., 4.]), tensor([2., 4.])]
    """
    total: torch.Tensor = _Sum.apply(partial)  # type: ignore[no-untyped-call]
    return total


def scattered_lookup(ids: torch.Tensor, shard: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """Look up ids of one's own: all-gather the ids, mask, reduce-scatter the rows.

    ``ids`` have shape (n,), int64, with the same n in each process, and ``shard`` is as for
    :func:`exchanged_lookup`, whose errors it has. Returns shape (n, embedding dimension), without
    a gradient. Where the group's backend has no reduce-scatter, as gloo has none in torch 2.6,
    torch raises RuntimeError.

    Examples
    --------
    >>> from lookup_matmul.sharded import cut, run_on_processes
    >>> def rows(table, ids):
    ...     rank = torch.distributed.get_rank()
    ...     return scattered_lookup(ids[rank], table[cut(3, 2)[rank]], 3)
    >>> run_on_processes(rows, 2, torch.eye(3), torch.tensor([[2], [0]]))
    [tensor([[0., 0., 1.]]), tensor([[1., 0., 0.]])]
    """
    parts, rank = check_part(ids, shard, vocab_size), distributed.get_rank()
    first = parts[rank].start
    partial = [masked_lookup(their, shard.detach(), first) for their in _gather(ids)]
    rows = torch.empty_like(partial[rank])
    distributed.reduce_scatter(rows, partial)
    return rows


def column_lookup(ids: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """Look up in a table cut by columns: each looks its columns up, and an all-gather joins them.

    ``ids`` have any shape, int32 or int64, the same in each process; ``columns`` has shape
    (vocabulary size, columns held here), as many in each process. Returns the shape of ``ids``,
    then the embedding dimension, in every process, without a gradient. Another dtype is a
    TypeError, columns that are not two-dimensional are a ValueError, and an id that is negative or
    not below the vocabulary size is an IndexError.

    Examples
    --------
    >>> from lookup_matmul.sharded import cut, run_on_processes
    >>> def rows(table, ids):
    ...     return column_lookup(ids, table[:, cut(2, 2)[torch.distributed.get_rank()]])
    >>> run_on_processes(rows, 2, torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([1]))
    [tensor([[3., 4.]]), tensor([[3., 4.]])]
    """
    check_weight(columns, "columns")
    check_ids(ids, len(columns))
    return torch.cat(_gather(columns.detach()[ids]), dim=-1)


def exchanged_lookup(
    ids: torch.Tensor, shard: torch.Tensor, vocab_size: int, *, distinct: bool = False
) -> torch.Tensor:
    """Look up ids of one's own: send each id to the process that holds its row, get the row back.

    ``ids`` have shape (n,), int64; n may differ from process to process. ``shard`` has shape (rows
    held here, embedding dimension), the rows ``cut(vocab_size, processes)[rank]`` of the table.
    With ``distinct`` each process asks for an id once, however often it needs its row. Returns
    shape (n, embedding dimension), bitwise equal to the lookup in the whole table.

    Three all-to-alls: how many ids go where, the ids, the rows. Backward, one more sends the
    gradients of the rows to where the rows are; it is that of the sum of all processes' losses.

    Ids that are no integers and a shard without a floating dtype are a TypeError; other integers
    than int64, another shape of ids and a shard with more or fewer rows are a ValueError; an id
    that is negative or at least ``vocab_size`` is an IndexError.

    Examples
    --------
    >>> from lookup_matmul.sharded import cut, run_on_processes
    >>> def rows(table, ids):
    ...     rank = torch.distributed.get_rank()
    ...     return exchanged_lookup(ids[rank], table[cut(3, 2)[rank]], 3, distinct=True)
    >>> run_on_processes(rows, 2, torch.eye(3), torch.tensor([[2, 2], [0, 2]]))[0]
    tensor([[0., 0., 1.],
            [0., 0., 1.]])
    """
    parts, rank = check_part(ids, shard, vocab_size), distributed.get_rank()
    if distinct:
        wanted, places = torch.unique(ids, return_inverse=True)
    else:
        wanted, order = ids.sort()
        places = order.argsort()
    ends = torch.tensor([part.stop for part in parts])  # sorted by id, they are sorted by owner too
    asked = torch.searchsorted(wanted, ends).diff(prepend=torch.zeros(1, dtype=torch.int64))
    received = torch.empty_like(asked)
    distributed.all_to_all_single(received, asked)
    to_send, to_answer = asked.tolist(), received.tolist()
    found = shard[_exchange(wanted, to_send, to_answer) - parts[rank].start]
    rows: torch.Tensor = _Exchange.apply(found, to_answer, to_send)  # type: ignore[no-untyped-call]
    return rows[places]


def _gather(local: torch.Tensor) -> list[torch.Tensor]:
    """Return the tensors of all processes, which have one shape, in the order of the ranks."""
    local = local.contiguous()
    each = [torch.empty_like(local) for _ in range(distributed.get_world_size())]
    distributed.all_gather(each, local)
    return each


def _exchange(tensor: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
    """Send so many rows to each process, and receive so many from each."""
    result = tensor.new_empty(sum(received), *tensor.shape[1:])
    distributed.all_to_all_single(result, tensor.contiguous(), received, sent)
    return result


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: Any, partial: torch.Tensor) -> torch.Tensor:
        total = partial.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(_ctx: Any, arriving: torch.Tensor) -> torch.Tensor:
        return arriving


class _Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
        ctx.sent, ctx.received = sent, received
        return _exchange(rows, sent, received)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, arriving: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return _exchange(arriving, ctx.received, ctx.sent), None, None
