"""Sparse rows as the arguments of an embedding bag, and the kinds of notation they come in."""

from __future__ import annotations  # the reference shows an alias by its name

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


Rows: TypeAlias = "sparse.csr_array | sparse.csr_matrix | torch.Tensor | Sequence[Any]"
Members: TypeAlias = tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]


def members_of(bags: Sequence[Any]) -> Members:
    """Give ids, offsets and weights, or raise unless those are what ``bags`` holds."""
    if not isinstance(bags, (tuple, list)) or len(bags) not in (2, 3):
        count = f" of {len(bags)}" if isinstance(bags, (tuple, list)) else ""
        raise TypeError(
            f"bags is a {type(bags).__name__}{count}, expected Bags or (ids, offsets, weights); "
            "read a matrix with to_bags(...)."
        )
    ids, offsets, weights = bags if len(bags) == 3 else (*bags, None)
    for name, member in (("ids", ids), ("offsets", offsets), ("weights", weights)):
        if not isinstance(member, torch.Tensor) and (member is not None or name != "weights"):
            raise TypeError(
                f"{name} is a {type(member).__name__}, expected a torch.Tensor; "
                "wrap it in torch.as_tensor(...)."
            )
    return ids, offsets, weights


def is_scipy(rows: object) -> bool:
    """Tell whether rows are a sparse matrix of SciPy, which whoever holds one has imported."""
    scipy_sparse = sys.modules.get("scipy.sparse")
    return scipy_sparse is not None and bool(scipy_sparse.issparse(rows))
