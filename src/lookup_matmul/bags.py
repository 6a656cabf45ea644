"""Sparse rows as the arguments of an embedding bag, read from any of their notations."""

from __future__ import annotations  # the reference shows an alias by its name

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from scipy import sparse

from lookup_matmul.bag_checks import check_bags, check_row_count

# The dtypes that NumPy and torch both know; a swapped order of bytes makes another dtype.
SHARED = frozenset(map(np.dtype, "?bhilqBHILQefdFD"))


class Bags(NamedTuple):
    """Sparse rows as :class:`torch.nn.EmbeddingBag` takes them.

    Attributes
    ----------
    ids : torch.Tensor
        Shape (number of entries,), int32 or int64: the column of each entry, row after row.
        CSR calls it ``indices``, EmbeddingBag ``input``.
    offsets : torch.Tensor
        Shape (number of rows + 1,), int32 or int64: where each row begins, and the end.
        CSR calls it ``indptr``, EmbeddingBag ``offsets`` with ``include_last_offset=True``.
    weights : torch.Tensor, optional
        Shape (number of entries,), an integer or floating dtype: the value of each entry.
        CSR calls it ``data``, EmbeddingBag ``per_sample_weights``; ``None`` stands for ones.

    Examples
    --------
    >>> bags = Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2, 3]), torch.ones(3))
    >>> layer = torch.nn.EmbeddingBag(4, 2, mode="sum", include_last_offset=True)
    >>> layer(*bags).shape
    torch.Size([3, 2])
    """

    ids: torch.Tensor
    offsets: torch.Tensor
    weights: torch.Tensor | None = None


Rows: TypeAlias = sparse.csr_array | sparse.csr_matrix | torch.Tensor | Sequence[Any]


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

    Examples
    --------
    >>> rows = sparse.csr_array([[0, 2, 0, 3], [0, 0, 0, 0], [1, 0, 0, 0]])
    >>> to_bags(rows).ids, to_bags(rows).offsets, to_bags(rows).weights
    (tensor([1, 3, 0], dtype=torch.int32), tensor([0, 2, 2, 3], dtype=torch.int32), \
tensor([2, 3, 1]))
    """
    if isinstance(rows, torch.Tensor):
        if rows.layout != torch.sparse_csr or rows.dim() != 2 or rows.values().dim() != 1:
            raise TypeError(
                f"rows is a tensor of layout {rows.layout} and shape {tuple(rows.shape)}, expected "
                "torch.sparse_csr with two dimensions; convert with rows.to_sparse_csr()."
            )
        bags = Bags(rows.col_indices(), rows.crow_indices(), rows.values())
    elif isinstance(rows, (tuple, list)) and len(rows) in (2, 3):
        bags = Bags(*rows)
    elif sparse.issparse(rows):
        bags = _from_scipy(rows)
    else:
        raise TypeError(
            f"rows is a {type(rows).__name__}, expected a SciPy CSR matrix, a torch tensor of "
            "layout sparse_csr, or (ids, offsets, weights) as tensors."
        )
    if check:
        check_row_count(bags, rows)
        check_bags(bags, column_count(rows))
    return bags


def column_count(rows: Rows) -> int | None:
    """Give the number of columns of a matrix; ``None`` for bags, which do not hold it."""
    return int(rows.shape[1]) if hasattr(rows, "shape") else None


def _from_scipy(rows: Any) -> Bags:
    if rows.format != "csr" or rows.ndim != 2:
        raise TypeError(
            f"rows is a SciPy matrix of format {rows.format!r} and shape {rows.shape}, "
            "expected CSR with two dimensions; convert with rows.tocsr()."
        )
    return Bags(
        _tensor("indices", rows.indices),
        _tensor("indptr", rows.indptr),
        _tensor("data", rows.data),
    )


def _tensor(name: str, array: np.ndarray) -> torch.Tensor:
    """Share the memory of an array, or copy it where torch cannot hold it as it is."""
    if array.dtype not in SHARED:
        raise TypeError(
            f"{name} has dtype {array.dtype}, expected native integers or floats of at most "
            "64 bits; convert with .astype(...)."
        )
    shareable = array.flags.c_contiguous and array.flags.writeable
    return torch.from_numpy(array if shareable else array.copy())
