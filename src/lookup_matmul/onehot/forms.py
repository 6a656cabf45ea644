"""The same rows by a lookup and by a matrix product with the one-hot encoding."""

import torch

from lookup_matmul.inputs import check_ids, check_inputs, check_matmul_dtype


def lookup(ids: torch.Tensor, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Copy the rows of ``weight`` with the numbers ``ids``, as :class:`torch.nn.Embedding` does.

    ``ids`` have any shape and dtype int32 or int64; ``weight`` has shape (vocabulary size,
    embedding dimension) and a floating dtype. Return shape ``ids.shape + (embedding dimension,)``.
    Raise the errors of :func:`check_inputs`. With ``check=False``, a bad id is torch's
    ``IndexError`` on a CPU, and a device-side assertion on CUDA.

    >>> lookup(torch.tensor([3, 1]), torch.arange(8.0).reshape(4, 2))
    tensor([[6., 7.],
            [2., 3.]])
    """
    if check:
        check_inputs(ids, weight)
    return torch.nn.functional.embedding(ids, weight)


def one_hot(
    ids: torch.Tensor, vocab_size: int, *, dtype: torch.dtype | None = None, check: bool = True
) -> torch.Tensor:
    """Encode every id as a row of zeros with a single one.

    ``ids`` have any shape and dtype int32 or int64. Return shape ``ids.shape + (vocab_size,)`` of
    ``dtype``, by default :func:`torch.get_default_dtype`. Raise the errors of :func:`check_ids`;
    ``check=False`` leaves bad ids to torch.

    >>> one_hot(torch.tensor([3, 1]), 4, dtype=torch.int64)
    tensor([[0, 0, 0, 1],
            [0, 1, 0, 0]])
    """
    if check:
        check_ids(ids, vocab_size)
    # new_zeros keeps what a transform such as torch.func.vmap adds to the ids.
    encoding = ids.new_zeros(*ids.shape, vocab_size, dtype=dtype or torch.get_default_dtype())
    # scatter_ takes its index as int64 only.
    return encoding.scatter_(-1, ids.long().unsqueeze(-1), 1)


def one_hot_matmul(ids: torch.Tensor, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Multiply the one-hot encoding of ``ids`` by ``weight``, as :class:`torch.nn.Linear` would.

    Arguments, result and errors are those of :func:`lookup`, but ``weight`` is float16, bfloat16,
    float32 or float64. Bitwise equal to :func:`lookup` if all weights are finite and none is a
    negative zero, and if the product runs in their dtype and keeps subnormal numbers.

    >>> one_hot_matmul(torch.tensor([3, 1]), torch.arange(8.0).reshape(4, 2))
    tensor([[6., 7.],
            [2., 3.]])
    """
    if check:
        check_inputs(ids, weight)
        check_matmul_dtype(weight)
    return one_hot(ids, weight.shape[0], dtype=weight.dtype, check=False) @ weight
