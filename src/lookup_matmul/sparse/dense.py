"""Sparse rows written out with all their zeros, and the dense product: the baseline."""

from __future__ import annotations  # the reference shows an alias by its name

import torch

from lookup_matmul.inputs import check_multiplied, check_vocab_size, check_weight
from lookup_matmul.sparse.bags import Bags, Rows
from lookup_matmul.sparse.read import read_rows


def dense_rows(
    rows: Rows, vocab_size: int, *, dtype: torch.dtype | None = None, check: bool = True
) -> torch.Tensor:
    """Write sparse rows out, zeros included.

    Parameters
    ----------
    rows : Rows
        As for :func:`sum_of_rows`; duplicates add up.
    vocab_size : int
        Number of columns, the number of rows of the table that they will meet.
    dtype : torch.dtype, optional
        Dtype of the result; by default :func:`torch.get_default_dtype`.
        An integer one cuts fractions off, and sums that it cannot hold wrap around.
    check : bool
        Whether to check the input first; ``False`` leaves a broken matrix to torch.

    Returns
    -------
    torch.Tensor
        Shape (number of rows, vocab_size), on the device of ``rows``.
        Gradients flow to values that are tensors and require them.

    Raises
    ------
    TypeError, ValueError, IndexError
        As for :func:`sum_of_rows`; also if ``vocab_size`` is no ``int`` or negative.

    Examples
    --------
    >>> bags = (torch.tensor([3, 1, 3]), torch.tensor([0, 2, 3]), torch.tensor([1, 2, 5]))
    >>> dense_rows(bags, 4, dtype=torch.int64)
    tensor([[0, 2, 0, 1],
            [0, 0, 0, 5]])
    """
    if check:
        check_vocab_size(vocab_size)
    bags = read_rows(rows, vocab_size, None, check=check)
    return _written_out(bags, vocab_size, dtype or torch.get_default_dtype())


def dense_matmul(rows: Rows, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Multiply the rows, written out with all their zeros, by ``weight``.

    The baseline of :func:`sum_of_rows`: what :class:`torch.nn.Linear` does with a dense batch.

    Parameters
    ----------
    rows : Rows
        As for :func:`sum_of_rows`.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), floating dtype.
    check : bool
        Whether to check the input first; ``False`` leaves a broken matrix to torch.

    Returns
    -------
    torch.Tensor
        Shape (number of rows, embedding dimension), dtype and device of ``weight``;
        under :class:`torch.autocast` the dtype that it chooses for products.
        Gradients flow to ``weight`` and to values that are tensors and require them.

    Raises
    ------
    TypeError, ValueError, IndexError
        As for :func:`sum_of_rows`.

    Examples
    --------
    >>> bags = (torch.tensor([1, 3]), torch.tensor([0, 2, 2]), torch.tensor([2, 3]))
    >>> dense_matmul(bags, torch.arange(8.0).reshape(4, 2))
    tensor([[22., 27.],
            [ 0.,  0.]])
    """
    if check:
        check_weight(weight)
        check_multiplied(weight)
    bags = read_rows(rows, weight.shape[0], weight.device, check=check)
    return _written_out(bags, weight.shape[0], weight.dtype) @ weight


def _written_out(bags: Bags, columns: int, dtype: torch.dtype) -> torch.Tensor:
    ids, offsets, weights = bags
    values = torch.ones_like(ids) if weights is None else weights
    owners = torch.arange(len(offsets) - 1, device=ids.device)
    owners = owners.repeat_interleave(offsets.diff(), output_size=ids.numel())
    # Made from the values, the zeros have what a transform such as torch.func.vmap adds to them.
    dense = values.new_zeros(len(offsets) - 1, columns, dtype=dtype)
    return dense.index_put_((owners, ids.long()), values.to(dtype), accumulate=True)
