"""Sparse rows read from any of their notations, and checked."""

from __future__ import annotations  # the reference shows an alias by its name

from typing import Any

import numpy as np
import torch

from lookup_matmul.sparse.bag_checks import check_rows
from lookup_matmul.sparse.bags import Bags, Rows, is_scipy, members_of

# The dtypes that count as sound input and that NumPy and torch both know;
# a swapped order of bytes makes another dtype.
INDICES = frozenset(map(np.dtype, ("int32", "int64")))
VALUES = frozenset(map(np.dtype, "bhilqBHILQefd"))


def to_bags(rows: Rows, *, check: bool = True) -> Bags:
    """Read sparse rows as the arguments of an embedding bag, without copying.

    Parameters
    ----------
    rows : Rows
        The sparse rows; members of :class:`Bags` are only checked.
        Unsorted columns, duplicates, stored zeros and empty rows are all allowed.
    check : bool
        Whether to check the arrays first; with ``False`` the caller vouches for them.

    Returns
    -------
    Bags
        Sharing memory with ``rows``; gradients reach the values of a torch CSR tensor.
        An array of SciPy that is read-only or not contiguous is copied,
        since torch can hold neither.

    Raises
    ------
    TypeError
        If ``rows`` is of another kind or format, or an array of a dtype that is not allowed.
    ValueError
        If the arrays do not fit together, as :func:`check_bags` says.
    IndexError
        If a column is negative or not below the number of columns.

    Notes
    -----
    SciPy edits a matrix in place where nobody would expect it: ``rows != 0`` adds up duplicates.
    The bags then change too, and torch does not notice, not even between forward and backward.
    Where that can happen, read ``rows.copy()``.

    Examples
    --------
    >>> from scipy import sparse
    >>> rows = sparse.csr_array([[0, 2, 0, 3], [0, 0, 0, 0], [1, 0, 0, 0]])
    >>> to_bags(rows).ids, to_bags(rows).offsets, to_bags(rows).weights
    (tensor([1, 3, 0], dtype=torch.int32), tensor([0, 2, 2, 3], dtype=torch.int32), \
tensor([2, 3, 1]))
    """
    if isinstance(rows, torch.Tensor):
        bags = _from_torch(rows)
    elif isinstance(rows, (tuple, list)) and len(rows) in (2, 3):
        bags = Bags(*members_of(rows))
    elif is_scipy(rows):
        bags = _from_scipy(rows)
    else:
        count = f" of {len(rows)}" if isinstance(rows, (tuple, list)) else ""
        raise TypeError(
            f"rows is a {type(rows).__name__}{count}, expected a SciPy CSR matrix, a torch tensor "
            "of layout sparse_csr, or (ids, offsets, weights) as tensors."
        )
    if check:
        check_rows(bags, rows, column_count(rows))
    return bags


def bags_for(rows: Rows, vocab_size: int, device: torch.device | None, check: bool) -> Bags:
    """Read rows that meet a table; the arrays of SciPy are put on ``device``, if one is named."""
    bags = to_bags(rows, check=False)
    if check:
        columns = column_count(rows)
        if columns is not None and columns != vocab_size:
            raise ValueError(
                f"rows has {columns} columns and the table {vocab_size} rows, expected as many; "
                "column k of the one multiplies row k of the other, so make both from the same "
                "vocabulary."
            )
        check_rows(bags, rows, vocab_size)
    if device is None or bags.ids.device == device:
        return bags
    if isinstance(rows, (torch.Tensor, tuple, list)):
        raise ValueError(
            f"rows is on {bags.ids.device} and weight on {device}, expected one device; "
            "move one of them with .to(...)."
        )
    return Bags(*(member.to(device) for member in bags if member is not None))


def column_count(rows: Rows) -> int | None:
    """Give the number of columns of a matrix; ``None`` for bags, which do not hold it."""
    return int(rows.shape[1]) if hasattr(rows, "shape") else None


def _from_torch(rows: torch.Tensor) -> Bags:
    if rows.layout != torch.sparse_csr or rows.dim() != 2:
        dense = "rows" if rows.layout == torch.strided else "rows.to_dense()"
        if rows.dim() > 2:
            remedy = f"take one matrix of it, such as {dense}[0].to_sparse_csr()"
        elif rows.dim() < 2:
            remedy = f"convert with {dense}.reshape(1, -1).to_sparse_csr() if it is one row"
        elif rows.layout in (torch.sparse_bsr, torch.sparse_bsc):
            remedy = f"convert with {dense}.to_sparse_csr()"
        else:
            remedy = "convert with rows.to_sparse_csr()"
        raise TypeError(
            f"rows is a tensor of layout {rows.layout} and shape {tuple(rows.shape)}, "
            f"expected torch.sparse_csr with two dimensions; {remedy}."
        )
    values = rows.values()
    if not values.requires_grad:
        values = values.detach()  # torch.compile cannot take a view of a sparse tensor
    return Bags(rows.col_indices(), rows.crow_indices(), values)


def _from_scipy(rows: Any) -> Bags:
    if rows.format != "csr" or rows.ndim != 2:
        remedy = {
            1: "convert with rows.reshape(1, -1).tocsr() if it is one row",
            2: "convert with rows.tocsr()",
        }.get(rows.ndim, "stack its matrices with rows.reshape(-1, rows.shape[-1]).tocsr()")
        raise TypeError(
            f"rows is a SciPy matrix of format {rows.format!r} and shape {rows.shape}, "
            f"expected CSR with two dimensions; {remedy}."
        )
    return Bags(
        _tensor("indices", rows.indices, INDICES),
        _tensor("indptr", rows.indptr, INDICES),
        _tensor("data", rows.data, VALUES),
    )


def _tensor(name: str, array: np.ndarray, allowed: frozenset[np.dtype]) -> torch.Tensor:
    """Share the memory of an array, or copy it where torch cannot hold it as it is."""
    if array.dtype not in allowed:
        raise TypeError(f"{name} has dtype {array.dtype}, {_remedy(name, array.dtype)}.")
    if array.dtype.char == "Q":  # NumPy's second name of uint64, which torch does not know
        array = array.view(np.uint64)
    shareable = array.flags.c_contiguous and array.flags.writeable
    return torch.from_numpy(array if shareable else array.copy())


def _remedy(name: str, dtype: np.dtype) -> str:
    if name != "data":
        return (
            f"expected int32 or int64; assign rows.{name} = rows.{name}.astype('int64') "
            "if its values are meant as row numbers"
        )
    expected = "expected native integers or floats of at most 64 bits; "
    if dtype.kind == "b":
        return expected + "convert with rows.astype('float32') if True counts as 1"
    if dtype.kind == "c":
        return expected + "take one real number of each, such as rows.real or abs(rows)"
    return expected + "convert with rows.astype('float64')"
