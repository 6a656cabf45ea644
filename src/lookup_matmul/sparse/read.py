"""Conversion of sparse rows of any supported format to :class:`Bags`."""

from __future__ import annotations  # keeps the alias ``Rows`` unexpanded in the reference

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from lookup_matmul.sparse.bags import BAGS, SCIPY, TORCH, Bags, Rows, is_scipy
from lookup_matmul.sparse.checks import as_bags, check_arrays


def to_bags(rows: Rows, *, check: bool = True) -> Bags:
    """Convert sparse rows to the arguments of an embedding bag without copying.

    Unsorted columns, duplicates, stored zeros and empty rows are allowed; with ``check=False``
    nothing is checked. Return :class:`Bags` that share memory with ``rows``; gradients flow to the
    values of a torch CSR tensor. SciPy arrays that are read-only or not contiguous are copied.

    Raises TypeError for rows of another type, format or dtype, ValueError for arrays that do not
    fit together (see :func:`check_bags`) or are not in native byte order, and IndexError for a
    column outside of the matrix.

    Notes
    -----
    SciPy changes a matrix in place even in ``rows != 0``, which adds up duplicates. The bags then
    change too, and autograd does not notice. Read ``rows.copy()`` to avoid that.

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
    """Convert rows to :class:`Bags`, and check them against ``columns`` if it is not ``None``.

    Only SciPy arrays are moved to ``device``, and only they are copied if ``copy`` is true.
    """
    shape: Sequence[int] | None = None  # Bags have no number of columns
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
    return Bags(*(_to_tensor(array, copy) for array in (rows.indices, rows.indptr, rows.data)))


def _to_tensor(array: np.ndarray, copy: bool) -> torch.Tensor:
    """Return a tensor that shares the memory of an array, or of a copy if torch cannot share it."""
    shareable = array.flags.c_contiguous and array.flags.writeable
    return torch.from_numpy(array.copy() if copy or not shareable else array)
