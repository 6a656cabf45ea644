"""Sparse rows read from any of their notations, and checked."""

from __future__ import annotations  # the reference shows an alias by its name

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lookup_matmul.sparse.bags import BAGS, SCIPY, TORCH, Bags, Rows, is_scipy
from lookup_matmul.sparse.checks import as_bags, check_arrays


def to_bags(rows: Rows, *, check: bool = True) -> Bags:
    """Read sparse rows as the arguments of an embedding bag, without copying.

    Unsorted columns, duplicates, stored zeros and empty rows are all allowed; members of
    :class:`Bags` are only checked, and with ``check=False`` the caller vouches for any arrays.
    Returns :class:`Bags` that share memory with ``rows``; gradients reach the values of a torch CSR
    tensor. An array of SciPy that is read-only or not contiguous is copied.

    Rows of another kind or format, and arrays of a dtype that is not allowed, are a TypeError.
    Arrays that do not fit together, as :func:`check_bags` says, or have another byte order are a
    ValueError. A column that is negative or not below the number of columns is an IndexError.

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
    return read_rows(rows, None, None, check=check)


def read_rows(
    rows: Rows, columns: int | None, device: torch.device | None, *, check: bool, copy: bool = False
) -> Bags:
    """Return rows as bags over ``columns``, or their own number of columns, on ``device``.

    Only the arrays of SciPy are moved, and copied if ``copy`` says so.
    """
    shape: Sequence[int] | None = None
    if isinstance(rows, torch.Tensor):
        names, shape, bags = TORCH, rows.shape, _from_torch(rows)
    elif isinstance(rows, tuple | list):
        names, bags = BAGS, as_bags(rows)
    elif is_scipy(rows):
        names, shape, bags = SCIPY, rows.shape, _from_scipy(rows, copy)  # type: ignore[union-attr]
    else:
        raise TypeError(
            f"rows is a {type(rows).__name__}, expected a SciPy CSR matrix, a torch tensor "
            "of layout sparse_csr, or (ids, offsets, weights) as tensors."
        )
    if check:
        if shape is not None:
            if columns not in (None, shape[1]):
                raise ValueError(
                    f"rows has {shape[1]} columns and the table {columns} rows, expected as many; "
                    "column k of the one multiplies row k of the other, so make both from the same "
                    "vocabulary."
                )
            columns = shape[1]
            if (count := bags.offsets.numel()) != shape[0] + 1:
                raise ValueError(
                    f"{names.offsets} has {count} elements, expected {shape[0] + 1} for the "
                    f"{shape[0]} rows of the matrix; one for each row, and the end."
                )
        check_arrays(bags, names, columns)
    if device is None or names is not SCIPY:
        return bags
    return Bags(*(member.to(device) for member in bags if member is not None))


def _from_torch(rows: torch.Tensor) -> Bags:
    if rows.layout != torch.sparse_csr or rows.dim() != 2:
        raise TypeError(
            f"rows is a tensor of layout {rows.layout} and shape {tuple(rows.shape)}, expected "
            "torch.sparse_csr with two dimensions; convert a matrix with rows.to_sparse_csr()."
        )
    values = rows.values()
    if not values.requires_grad:
        values = values.detach()  # torch.compile cannot take a view of a sparse tensor
    return Bags(rows.col_indices(), rows.crow_indices(), values)


def _from_scipy(rows: Any, copy: bool) -> Bags:
    if rows.format != "csr" or rows.ndim != 2:
        raise TypeError(
            f"rows is a SciPy matrix of format {rows.format!r} and shape {rows.shape}, expected "
            "CSR with two dimensions; convert a matrix with rows.tocsr()."
        )
    return Bags(*(_tensor(array, copy) for array in (rows.indices, rows.indptr, rows.data)))


def _tensor(array: np.ndarray, copy: bool) -> torch.Tensor:
    """Share the memory of an array, or copy one that is read-only or not contiguous."""
    shareable = array.flags.c_contiguous and array.flags.writeable
    return torch.from_numpy(array.copy() if copy or not shareable else array)
