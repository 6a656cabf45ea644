"""Lookups in a table of which each process holds a part; called by every process of a group.

Each is a local lookup with torch's collectives around it. All but :func:`column_lookup` take a
table cut by rows as :func:`~lookup_matmul.sharded.cut` cuts it.
"""

from typing import Any

import torch
from torch import distributed

from lookup_matmul.inputs import check_id_tensor, check_ids, check_weight
from lookup_matmul.sharded.cuts import check_part


def masked_lookup(ids: torch.Tensor, shard: torch.Tensor, first: int) -> torch.Tensor:
    """Look up the ids whose rows are here, and return rows of zeros for all others.

    Nothing is sent. Added up over the processes that hold the other rows, it is the lookup in
    the whole table; an id that no process holds gives zeros and no error.

    Parameters
    ----------
    ids : torch.Tensor
        Any shape; dtype int32 or int64; counted in the whole table.
    shard : torch.Tensor
        Shape (rows held here, embedding dimension), floating dtype; there may be no rows.
    first : int
        Which row of the whole table is the first one here.

    Returns
    -------
    torch.Tensor
        The shape of ``ids``, then the embedding dimension. Gradients flow to ``shard`` only,
        so that no gradient of the size of the whole table is ever made.

    Raises
    ------
    TypeError
        If ``ids`` is no tensor of int32 or int64, or ``shard`` none of a floating dtype.
    ValueError
        If ``shard`` is not two-dimensional.

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
    """Add a tensor up over all processes, by one all-reduce.

    Parameters
    ----------
    partial : torch.Tensor
        The same shape and dtype in each process; it is left as it is.

    Returns
    -------
    torch.Tensor
        The sum, in every process.
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

    Parameters
    ----------
    ids : torch.Tensor
        Shape (n,), int64, with the same n in each process.
    shard : torch.Tensor
        Shape (rows held here, embedding dimension), floating dtype: this process's part of the
        table, the rows ``cut(vocab_size, processes)[rank]``.
    vocab_size : int
        Rows of the whole table.

    Returns
    -------
    torch.Tensor
        Shape (n, embedding dimension), the rows of this process's ids. No gradient.

    Raises
    ------
    TypeError
        If ``ids`` is no tensor of integers, or ``shard`` none of a floating dtype.
    ValueError
        If ``ids`` is not one-dimensional or of another dtype than int64, or ``shard`` has not as
        many rows as this process's part.
    IndexError
        If an id is negative or at least ``vocab_size``.
        After each of these the others wait for this process.
    RuntimeError
        Of torch, if the group's backend has no reduce-scatter, as gloo has none in torch 2.6.

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

    Parameters
    ----------
    ids : torch.Tensor
        Any shape; int32 or int64; the same in each process.
    columns : torch.Tensor
        Shape (vocabulary size, columns held here), floating dtype, as many columns in each
        process.

    Returns
    -------
    torch.Tensor
        The shape of ``ids``, then the embedding dimension, in every process. No gradient.

    Raises
    ------
    TypeError
        If ``ids`` is no tensor of int32 or int64, or ``columns`` none of a floating dtype.
    ValueError
        If ``columns`` is not two-dimensional.
    IndexError
        If an id is negative or not below the vocabulary size.
        After each of these the others wait for this process.

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


def _gather(local: torch.Tensor) -> list[torch.Tensor]:
    """Return the tensors of all processes, which have one shape, in the order of the ranks."""
    local = local.contiguous()
    each = [torch.empty_like(local) for _ in range(distributed.get_world_size())]
    distributed.all_gather(each, local)
    return each


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: Any, partial: torch.Tensor) -> torch.Tensor:
        total = partial.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(_ctx: Any, arriving: torch.Tensor) -> torch.Tensor:
        return arriving
