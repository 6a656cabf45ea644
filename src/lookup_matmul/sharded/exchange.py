"""A lookup that sends each id to the process that has its row, and the row back."""

from typing import Any

import torch
from torch import distributed
from torch.autograd.function import once_differentiable

from lookup_matmul.sharded.cuts import check_part


def exchanged_lookup(
    ids: torch.Tensor, shard: torch.Tensor, vocab_size: int, *, distinct: bool = False
) -> torch.Tensor:
    """Look up ids of one's own: send each id to the process that holds its row, get the row back.

    Three all-to-alls: how many ids go where, the ids, the rows. Backward, one more sends the
    gradients of the rows to where the rows are; it is that of the sum of all processes' losses.

    Parameters
    ----------
    ids : torch.Tensor
        Shape (n,), int64; n may differ from process to process.
    shard : torch.Tensor
        Shape (rows held here, embedding dimension), floating dtype: this process's part of the
        table, the rows ``cut(vocab_size, processes)[rank]``.
    vocab_size : int
        Rows of the whole table.
    distinct : bool
        Whether each process asks for an id once, however often it needs its row.

    Returns
    -------
    torch.Tensor
        Shape (n, embedding dimension), bitwise equal to the lookup in the whole table.

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
    # Sorted by id, they are sorted by owner too.
    wanted, places = torch.unique(ids, return_inverse=True) if distinct else _in_order(ids)
    ends = torch.tensor([part.stop for part in parts])
    asked = torch.searchsorted(wanted, ends).diff(prepend=torch.zeros(1, dtype=torch.int64))
    received = torch.empty_like(asked)
    distributed.all_to_all_single(received, asked)
    to_send, to_answer = asked.tolist(), received.tolist()
    found = shard[_exchange(wanted, to_send, to_answer) - parts[rank].start]
    rows: torch.Tensor = _Exchange.apply(found, to_answer, to_send)  # type: ignore[no-untyped-call]
    return rows[places]


def _in_order(ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    ordered, order = ids.sort()
    return ordered, order.argsort()


def _exchange(tensor: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
    """Send so many rows to each process, and receive so many from each."""
    result = tensor.new_empty(sum(received), *tensor.shape[1:])
    distributed.all_to_all_single(result, tensor.contiguous(), received, sent)
    return result


class _Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, sent: list[int], received: list[int]) -> torch.Tensor:
        ctx.sent, ctx.received = sent, received
        return _exchange(rows, sent, received)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, arriving: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return _exchange(arriving, ctx.received, ctx.sent), None, None
