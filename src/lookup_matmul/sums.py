"""The third form: a sparse row times a table is a weighted sum of the table's rows."""

from __future__ import annotations  # the reference shows an alias by its name

import torch

from lookup_matmul.bag_checks import check_bags, check_row_count
from lookup_matmul.bags import Bags, Rows, column_count, to_bags
from lookup_matmul.checks import check_weight


def sum_of_rows(rows: Rows, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Add up the rows of ``weight`` that each sparse row names, each times its value.

    Equal to :func:`dense_matmul` within the rounding of a sum:
    a row with ``n`` entries is off by at most ``rounding_bound(n + 1, dtype)``
    times the sum of its terms' absolute values, since each of the ``n`` products is rounded
    and so is each of the ``n - 1`` additions.
    Columns without an entry are never read, so NaN or infinity there stays there.

    Parameters
    ----------
    rows : Rows
        The sparse rows, in any notation.
        Empty rows give zeros, duplicates add up, the order of the columns is free,
        and a stored zero is an entry like any other.
        Values of another dtype are converted to the weight's.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension at least 1), floating dtype.
        Tensors in ``rows`` have to be on its device; the arrays of SciPy are copied to it.
    check : bool
        Whether to check the input first.
        With ``False`` the caller vouches for it, and a broken matrix may crash the process.

    Returns
    -------
    torch.Tensor
        Shape (number of rows, embedding dimension), dtype and device of ``weight``.
        Gradients flow to ``weight`` and to values that are tensors and require them.

    Raises
    ------
    TypeError
        If an argument is of another kind or format, or of a dtype that is not allowed.
    ValueError
        If the number of columns is not the number of rows of the table,
        the arrays do not fit together, or the devices differ.
    IndexError
        If a column is negative or not below the vocabulary size.

    Notes
    -----
    It is :func:`torch.nn.functional.embedding_bag` with ``mode="sum"`` on the arrays as they are.
    The checks read the ids once and the offsets twice, and bring five numbers to the CPU.

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
        _check_dim(weight)
    ids, offsets, weights = _entries(rows, weight.shape[0], weight.device, check)
    if weights is not None and weights.dtype != weight.dtype:
        weights = weights.to(weight.dtype)
    return torch.nn.functional.embedding_bag(
        ids, weight, offsets, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


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
        As for :func:`sum_of_rows`.

    Examples
    --------
    >>> bags = Bags(torch.tensor([3, 1, 3]), torch.tensor([0, 2, 3]), torch.tensor([1, 2, 5]))
    >>> dense_rows(bags, 4, dtype=torch.int64)
    tensor([[0, 2, 0, 1],
            [0, 0, 0, 5]])
    """
    ids, offsets, weights = _entries(rows, vocab_size, None, check)
    dense = torch.zeros(len(offsets) - 1, vocab_size, dtype=dtype, device=ids.device)
    values = torch.ones_like(ids) if weights is None else weights
    counted = torch.arange(len(dense), device=ids.device).repeat_interleave(offsets.diff())
    return dense.index_put_((counted, ids.long()), values.to(dense.dtype), accumulate=True)


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
        Shape (number of rows, embedding dimension), dtype and device of ``weight``.
        Gradients flow to ``weight`` and to values that are tensors and require them.

    Raises
    ------
    TypeError, ValueError, IndexError
        As for :func:`sum_of_rows`.

    Examples
    --------
    >>> bags = Bags(torch.tensor([1, 3]), torch.tensor([0, 2, 2]), torch.tensor([2, 3]))
    >>> dense_matmul(bags, torch.arange(8.0).reshape(4, 2))
    tensor([[22., 27.],
            [ 0.,  0.]])
    """
    if check:
        check_weight(weight)
    bags = _entries(rows, weight.shape[0], weight.device, check)
    return dense_rows(bags, weight.shape[0], dtype=weight.dtype, check=False) @ weight


def _check_dim(weight: torch.Tensor) -> None:
    if weight.shape[1] == 0:
        raise ValueError(
            f"weight has shape {tuple(weight.shape)}, expected at least one column, "
            "since embedding_bag takes no table without in every dtype; use dense_matmul."
        )


def _entries(rows: Rows, vocab_size: int, device: torch.device | None, check: bool) -> Bags:
    """Give the arrays as they are, checked; those of SciPy on ``device``, if one is named."""
    bags = to_bags(rows, check=False)
    if check:
        columns = column_count(rows)
        if columns is not None and columns != vocab_size:
            raise ValueError(
                f"rows has {columns} columns and the table {vocab_size} rows, expected as many; "
                "column k of the one multiplies row k of the other."
            )
        check_row_count(bags, rows)
        check_bags(bags, vocab_size)
    if device is None or bags.ids.device == device:
        return bags
    if isinstance(rows, (torch.Tensor, tuple, list)):
        raise ValueError(
            f"rows is on {bags.ids.device} and weight on {device}, expected one device; "
            "move one of them with .to(...)."
        )
    return Bags(*(member.to(device) for member in bags if member is not None))
