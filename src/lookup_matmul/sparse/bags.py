"""Sparse rows as the arguments of an embedding bag, and the formats they are read from."""

from __future__ import annotations  # keeps the alias ``Rows`` unexpanded in the reference

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import torch

if TYPE_CHECKING:
    from scipy import sparse


class Bags(NamedTuple):
    """Sparse rows as :class:`torch.nn.EmbeddingBag` takes them.

    Attributes
    ----------
    ids : torch.Tensor
        Shape (number of entries,), int32 or int64: the column of each entry, row by row.
        CSR calls it ``indices``, EmbeddingBag ``input``.
    offsets : torch.Tensor
        Shape (number of rows + 1,), int32 or int64: the first entry of each row,
        then the number of entries.
        CSR calls it ``indptr``, EmbeddingBag ``offsets`` with ``include_last_offset=True``.
    weights : torch.Tensor, optional
        Shape (number of entries,), an integer or floating dtype: the value of each entry.
        CSR calls it ``data``, EmbeddingBag ``per_sample_weights``; ``None`` means ones.

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


Rows: TypeAlias = "sparse.csr_array | sparse.csr_matrix | torch.Tensor | Sequence[Any]"


class Names(NamedTuple):
    """The names of the members of :class:`Bags` in another format, for error messages."""

    ids: str
    offsets: str
    weights: str


BAGS = Names("ids", "offsets", "weights")
SCIPY = Names("indices", "indptr", "data")
TORCH = Names("col_indices", "crow_indices", "values")


def is_scipy(rows: object) -> bool:
    """Return whether ``rows`` is a sparse matrix of SciPy, without importing SciPy."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(rows))
