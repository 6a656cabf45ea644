"""The third form, a weighted sum of a table's rows, and the dense product, its baseline."""

from __future__ import annotations  # the reference shows an alias by its name

import torch

from lookup_matmul.inputs import check_matmul_dtype, check_vocab_size, check_weight
from lookup_matmul.sparse.bags import Bags, Rows
from lookup_matmul.sparse.read import read_rows


def sum_of_rows(rows: Rows, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Add up the rows of ``weight`` that each sparse row names, each times its value.

    Equal to :func:`dense_matmul` within the rounding of a sum, in the weight's own precision:
    a row with ``n`` entries is off the exact sum by at most ``rounding_bound(n + 1, dtype)``
    times the sum of its terms' absolute values, since each of the ``n`` products is rounded
    and so is each of the ``n - 1`` additions.
    Values that are converted to the weight's dtype are rounded once more: ``n + 2``.
    Both hold as long as nothing over- or underflows.
    Columns without an entry are never read, so NaN or infinity there stays there.

    The rows come in any notation. Empty ones give zeros, duplicates add up, the order of the
    columns is free, a stored zero is an entry like any other, and values of another dtype are
    converted to the weight's. ``weight`` has shape (vocabulary size, embedding dimension) and a
    floating dtype. Tensors in ``rows`` have to be on its device; the arrays of SciPy are copied to
    it.

    Returns shape (number of rows, embedding dimension), dtype and device of ``weight``.
    Gradients flow to ``weight`` and to values that are tensors and require them, once:
    torch has no second derivative of an embedding bag, and none in forward mode;
    :func:`dense_matmul` has both.

    An argument of another kind, format or dtype is a TypeError. Another number of columns than rows
    of the table, arrays that do not fit together or have another byte order, and any tensor on the
    device ``meta`` are a ValueError. A column that is negative or not below the vocabulary size is
    an IndexError. Two other devices are left to torch. With ``check=False`` the caller vouches for
    the input, and a broken matrix may crash the process.

    Notes
    -----
    It is :func:`torch.nn.functional.embedding_bag` with ``mode="sum"`` on the arrays as they are.
    The arrays of SciPy are copied if a gradient of ``weight`` may be asked for:
    ``backward`` reads them again, and SciPy edits a matrix in place even in ``rows != 0``.

    On a CPU, in float16 and bfloat16 the gradient of a row that many entries name stands still
    once one more term is at most half a step of the sum: 5,000 ones come to 2,048 and to 256.
    Train such a table in float32.

    The checks read the ids once and the offsets twice, and bring five numbers to the CPU.
    Under :func:`torch.compile` they break the graph; a torch CSR tensor breaks it too,
    and its values may not require a gradient there.
    The transforms of :mod:`torch.func` cannot open such a tensor: read it with
    :func:`to_bags` before.

    Examples
    --------
    >>> weight = torch.arange(8.0).reshape(4, 2)
    >>> rows = torch.tensor([[0.0, 2.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0]])
    >>> sum_of_rows((torch.tensor([1, 3]), torch.tensor([0, 2, 2]), torch.tensor([2, 3])), weight)
    tensor([[22., 27.],
            [ 0.,  0.]])
    >>> rows @ weight
    tensor([[22., 27.],
            [ 0.,  0.]])
    """
    if check:
        check_weight(weight)
        check_matmul_dtype(weight)
    # Backward reads the arrays again, and torch cannot see what SciPy writes in the meantime.
    copy = weight.requires_grad and torch.is_grad_enabled()
    bags = read_rows(rows, weight.shape[0], weight.device, check=check, copy=copy)
    ids, offsets, weights = bags
    if weights is not None and weights.dtype != weight.dtype:
        weights = weights.to(weight.dtype)
    return torch.nn.functional.embedding_bag(
        ids, weight, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def dense_rows(
    rows: Rows, vocab_size: int, *, dtype: torch.dtype | None = None, check: bool = True
) -> torch.Tensor:
    """Write sparse rows out, zeros included.

    The rows are as for :func:`sum_of_rows`, whose errors this has; duplicates add up. Returns shape
    (number of rows, vocab_size) on their device; gradients flow to values that are tensors and
    require them. The ``dtype`` is by default :func:`torch.get_default_dtype`; an integer one,
    signed or uint8, takes integer values only, and those that it cannot hold wrap around.

    A dtype that would cut fractions off, and a ``vocab_size`` that is no ``int``, are a TypeError,
    a negative one is a ValueError. ``check=False`` leaves a broken matrix to torch.

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
    dtype = dtype or torch.get_default_dtype()
    values = torch.bool if bags.weights is None else bags.weights.dtype
    if check and not torch.can_cast(values, dtype):
        raise TypeError(
            f"dtype is {dtype} and the values are {values}, expected a floating dtype, which keeps "
            f"fractions; take dtype={values}."
        )
    return _written_out(bags, vocab_size, dtype)


def dense_matmul(rows: Rows, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Multiply the rows, written out with all their zeros, by ``weight``.

    The baseline of :func:`sum_of_rows`: what :class:`torch.nn.Linear` does with a dense batch.
    Arguments, result and errors are those of :func:`sum_of_rows`, but derivatives of any order flow
    to ``weight`` and to the values, and under :class:`torch.autocast` the result has the dtype that
    it chooses for products. ``check=False`` leaves a broken matrix to torch.

    Examples
    --------
    >>> bags = (torch.tensor([1, 3]), torch.tensor([0, 2, 2]), torch.tensor([2, 3]))
    >>> dense_matmul(bags, torch.arange(8.0).reshape(4, 2))
    tensor([[22., 27.],
            [ 0.,  0.]])
    """
    if check:
        check_weight(weight)
        check_matmul_dtype(weight)
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
