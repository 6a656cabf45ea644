"""Weighted sums of the rows of a table, and the dense product as their baseline."""

from __future__ import annotations  # keeps the alias ``Rows`` unexpanded in the reference

import torch

from lookup_matmul.inputs import check_matmul_dtype, check_vocab_size, check_weight
from lookup_matmul.sparse.bags import Bags, Rows, read_rows


def sum_of_rows(rows: Rows, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Return for each sparse row the sum of the rows of ``weight``, each times its value.

    This is :func:`torch.nn.functional.embedding_bag` with ``mode="sum"``, without second
    derivatives and forward mode. A row with ``n`` entries is off by at most
    ``rounding_bound(n + 1, dtype)``, or ``n + 2`` for converted values, times the sum of the
    absolute values of its terms.

    ``rows`` have any format of :func:`to_bags`. ``weight`` has shape (vocabulary size, embedding
    dimension) and a floating dtype, to which values are converted. Tensors in ``rows`` must be on
    its device; SciPy arrays are copied to it, and also if ``weight`` requires a gradient. Return
    shape (number of rows, embedding dimension); gradients flow to ``weight`` and to the values.

    Raise TypeError for an argument of another type, format or dtype, ValueError if the number of
    columns is not that of the rows of ``weight``, arrays do not fit together or a tensor is on
    ``meta``, and IndexError for a column outside. With ``check=False`` a broken matrix may crash
    the process. For :func:`torch.compile`, convert a torch CSR tensor with :func:`to_bags` first.

    >>> bags = (torch.tensor([1, 3]), torch.tensor([0, 2, 2]), torch.tensor([2, 3]))
    >>> sum_of_rows(bags, torch.arange(8.0).reshape(4, 2))
    tensor([[22., 27.],
            [ 0.,  0.]])
    """
    if check:
        check_weight(weight)
        check_matmul_dtype(weight)
    # Backward reads the arrays again, and autograd does not see that SciPy changed them meanwhile.
    copy = weight.requires_grad and torch.is_grad_enabled()
    ids, offsets, weights = read_rows(rows, weight.shape[0], weight.device, check=check, copy=copy)
    if weights is not None:
        weights = weights.to(weight.dtype)
    return torch.nn.functional.embedding_bag(
        ids, weight, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def dense_rows(
    rows: Rows, vocab_size: int, *, dtype: torch.dtype | None = None, check: bool = True
) -> torch.Tensor:
    """Convert sparse rows to a dense matrix of shape (number of rows, vocab_size) on their device.

    The rows and errors are those of :func:`sum_of_rows`. ``dtype`` defaults to
    :func:`torch.get_default_dtype`; raise TypeError if it would truncate fractions. Duplicates add
    up, in float32 for float16 and bfloat16; integers may overflow.

    >>> bags = (torch.tensor([3, 1, 3]), torch.tensor([0, 2, 3]), torch.tensor([1, 2, 5]))
    >>> dense_rows(bags, 4, dtype=torch.int64)
    tensor([[0, 2, 0, 1],
            [0, 0, 0, 5]])
    """
    if check:
        check_vocab_size(vocab_size)
    bags = read_rows(rows, vocab_size, None, check=check)
    dtype = dtype or torch.get_default_dtype()
    value_dtype = torch.bool if bags.weights is None else bags.weights.dtype
    if check and not torch.can_cast(value_dtype, dtype):
        raise TypeError(
            f"dtype is {dtype} and the values are {value_dtype}, expected a floating dtype, which "
            f"keeps fractions; take dtype={value_dtype}."
        )
    return _to_dense(bags, vocab_size, dtype)


def dense_matmul(rows: Rows, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Convert sparse rows to a dense matrix and multiply it by ``weight``.

    The baseline of :func:`sum_of_rows`, with the same arguments, result and errors. All derivatives
    are supported, and :class:`torch.autocast` may choose the dtype of the result.

    >>> dense_matmul((torch.tensor([1, 3]), torch.tensor([0, 2])), torch.eye(4))
    tensor([[0., 1., 0., 1.]])
    """
    if check:
        check_weight(weight)
        check_matmul_dtype(weight)
    bags = read_rows(rows, weight.shape[0], weight.device, check=check)
    return _to_dense(bags, weight.shape[0], weight.dtype) @ weight


def _to_dense(bags: Bags, columns: int, dtype: torch.dtype) -> torch.Tensor:
    ids, offsets, weights = bags
    values = torch.ones_like(ids) if weights is None else weights
    row_indices = torch.repeat_interleave(offsets.diff().long(), output_size=ids.numel())
    # In half precision a sum of duplicates would stop growing: 5,000 ones give 256 in bfloat16.
    sum_dtype = torch.float32 if dtype.is_floating_point and dtype.itemsize < 4 else dtype
    # new_zeros keeps the batch dimension that torch.func.vmap adds to the values.
    dense = values.new_zeros(len(offsets) - 1, columns, dtype=sum_dtype)
    indices = (row_indices, ids.long())
    return dense.index_put_(indices, values.to(dtype).to(sum_dtype), accumulate=True).to(dtype)
