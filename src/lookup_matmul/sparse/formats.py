"""Conversion of CSR matrices of SciPy and torch to :class:`Bags`, and back."""

from __future__ import annotations  # keeps the alias ``Rows`` unexpanded in the reference

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from scipy import sparse

from lookup_matmul.sparse.bags import (
    BAGS,
    SCIPY,
    TORCH,
    Bags,
    Rows,
    as_bags,
    check_arrays,
    check_bags,
)


def to_bags(rows: Rows, *, check: bool = True) -> Bags:
    """Convert sparse rows to the arguments of an embedding bag without copying.

    Return :class:`Bags` that share memory with ``rows`` and have its dtypes; gradients flow to the
    values of a torch CSR tensor. SciPy arrays that are read-only or not contiguous are copied.

    Raise TypeError for rows of another type, format or dtype, ValueError for arrays that do not fit
    together (see :func:`check_bags`) or are not in native byte order, and IndexError for a column
    outside of the matrix; with ``check=False`` nothing is checked.

    >>> from scipy import sparse
    >>> to_bags(sparse.csr_array([[0, 2, 0, 3], [0, 0, 0, 0], [1, 0, 0, 0]]))
    Bags(ids=tensor([1, 3, 0], dtype=torch.int32), \
offsets=tensor([0, 2, 2, 3], dtype=torch.int32), weights=tensor([2, 3, 1]))
    """
    return read_rows(rows, None, None, check=check)


def read_rows(
    rows: Rows, columns: int | None, device: torch.device | None, *, check: bool, copy: bool = False
) -> Bags:
    """Convert rows to :class:`Bags`; only SciPy arrays are moved to ``device`` or copied."""
    shape: Sequence[int] | None = None  # Bags have no number of columns
    if isinstance(rows, torch.Tensor):
        names = TORCH
        shape = rows.shape
        bags = _from_torch(rows)
    elif isinstance(rows, tuple | list):
        names = BAGS
        bags = as_bags(rows)
    elif sparse.issparse(rows):
        names = SCIPY
        shape = rows.shape  # type: ignore[union-attr]
        bags = _from_scipy(rows, copy)
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
        remedy = "convert it with rows.to_sparse_csr()"
        if rows.layout is torch.jagged:
            remedy = "pass (rows.values(), rows.offsets()) for ids"
        elif rows.dim() != 2:
            remedy = "convert it with rows.unsqueeze(0).to_sparse_csr()"
        raise TypeError(
            f"rows is a tensor of layout {rows.layout} and shape {tuple(rows.shape)}, expected "
            f"torch.sparse_csr with two dimensions; {remedy}."
        )
    values = rows.values()
    if not values.requires_grad:
        values = values.detach()  # torch.compile cannot take a view of a sparse tensor
    return Bags(rows.col_indices(), rows.crow_indices(), values)


def _from_scipy(rows: Any, copy: bool) -> Bags:
    if rows.format != "csr" or rows.ndim != 2:
        # A row that was taken from an array, such as rows[0], has one dimension.
        remedy = ".tocsr()" if rows.ndim == 2 else ".reshape(1, -1).tocsr()"
        raise TypeError(
            f"rows is a SciPy matrix of format {rows.format!r} and shape {rows.shape}, expected "
            f"CSR with two dimensions; convert it with rows{remedy}."
        )
    # torch can share an array that is contiguous and writeable; np.require copies any other.
    make_shareable = np.copy if copy else partial(np.require, requirements="CW")
    arrays = map(make_shareable, (rows.indices, rows.indptr, rows.data))
    return Bags(*map(torch.from_numpy, arrays))


def to_scipy_csr(bags: Bags, vocab_size: int) -> sparse.csr_array:
    """Convert the arguments of an embedding bag to a SciPy CSR matrix of shape (rows, vocab_size).

    It shares memory with ``bags`` where SciPy takes the dtypes: float16, bfloat16 and float8
    weights become float32, as ones for ``None`` do. Raise the errors of :func:`check_bags`, and
    TypeError if ``bags`` is not on a CPU.

    >>> to_scipy_csr(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 3])), 4).toarray()
    array([[0., 1., 0., 1.],
           [1., 0., 0., 0.]], dtype=float32)
    """
    check_bags(bags, vocab_size)
    bags = Bags(*bags)
    values = _weights_or_ones(bags, torch.float32).detach()
    if values.is_floating_point() and values.itemsize < 4:
        values = values.float()
    arrays = (values.numpy(), bags.ids.numpy(), bags.offsets.numpy())
    return sparse.csr_array(arrays, shape=(len(bags.offsets) - 1, vocab_size))


def to_torch_csr(bags: Bags, vocab_size: int) -> torch.Tensor:
    """Convert the arguments of an embedding bag to a tensor of layout ``torch.sparse_csr``.

    It has shape (number of rows, vocab_size) and shares memory with contiguous ``bags`` of one
    integer dtype. Gradients flow to the weights, of which ``None`` is ones of the default dtype.
    Raise the errors of :func:`check_bags`, and ValueError if the ids of a row do not ascend.

    >>> to_torch_csr(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 3])), 4).to_dense()
    tensor([[0., 1., 0., 1.],
            [1., 0., 0., 0.]])
    """
    check_bags(bags, vocab_size)
    bags = Bags(*bags)
    ids = bags.ids.contiguous()
    offsets = bags.offsets.to(ids.dtype).contiguous()
    rows = torch.repeat_interleave(offsets.diff(), output_size=len(ids))
    not_ascending = (ids.diff() <= 0) & (rows.diff() == 0)
    if not_ascending.any():
        k = int(not_ascending.nonzero()[0])
        raise ValueError(
            f"row {int(rows[k])} has id {int(ids[k])} before {int(ids[k + 1])}, expected ascending "
            "and distinct ids; sum_duplicates() of a to_scipy_csr(...).copy() sorts and adds them."
        )
    values = _weights_or_ones(bags, torch.get_default_dtype())
    size = (len(offsets) - 1, vocab_size)
    # Without device=, torch.set_default_device would decide.
    return torch.sparse_csr_tensor(
        offsets, ids, values, size, device=ids.device, check_invariants=True
    )


def _weights_or_ones(bags: Bags, dtype: torch.dtype) -> torch.Tensor:
    if bags.weights is not None:
        return bags.weights
    return torch.ones(len(bags.ids), dtype=dtype, device=bags.ids.device)
