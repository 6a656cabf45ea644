"""Read the input once for both layers: ids, or sparse rows in any notation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import torch
from scipy import sparse

from lookup_matmul.inputs import check_id_tensor
from lookup_matmul.sparse.bags import Bags
from lookup_matmul.sparse.formats import to_bags
from lookup_matmul.sparse.sums import dense_rows


class Tolerance(NamedTuple):
    """The difference that the caller accepts: ``|a - b| <= atol + rtol * |b|``."""

    atol: float = 0.0
    rtol: float = 0.0


@dataclass(frozen=True)
class Batch:
    """The input as sparse rows, and the form in which a layer gets it; an id is a one-hot row."""

    original: Any  # the caller's object, for callables
    bags: Bags  # int64, one for each output; weights are None if all of them are 1
    shape: tuple[int, ...]  # of the outputs, without the embedding dimension
    by_offsets: bool = False  # an EmbeddingBag gets ids and offsets, not a matrix of ids
    width: int | None = None  # columns of the rows; None for as many as each table has rows

    @property
    def is_single_ids(self) -> bool:
        """Return whether each id is a row of its own."""
        return not self.by_offsets and self.bags.ids.numel() == self.bags.offsets.numel() - 1

    @property
    def bag_indices(self) -> torch.Tensor:
        counts = self.bags.offsets.diff()
        return torch.repeat_interleave(counts, output_size=self.bags.ids.numel())

    def out_of_range(self, vocab_size: int) -> torch.Tensor:
        return (self.bags.ids < 0) | (self.bags.ids >= vocab_size)

    def encode(self, vocab_size: int, dtype: torch.dtype, use_values: bool) -> torch.Tensor:
        """Return dense rows, shape (..., width of the rows or vocabulary size)."""
        width = vocab_size if self.width is None else self.width
        bags = self.bags if use_values else self.bags._replace(weights=None)
        return dense_rows(bags, width, dtype=dtype, check=False).reshape(*self.shape, width)

    def select(self, mask: torch.Tensor) -> Batch:
        ids, offsets, weights = self.bags
        entries = mask[self.bag_indices]
        ends = torch.cat([offsets[:1], offsets.diff()[mask].cumsum(0)])
        bags = Bags(ids[entries], ends, None if weights is None else weights[entries])
        original: Any = bags
        if self.is_single_ids:
            original = bags.ids
        elif sparse.issparse(self.original) or getattr(self.original, "layout", 0) is torch.strided:
            original = self.original[mask.cpu().numpy()]
        return replace(self, original=original, bags=bags, shape=(int(mask.sum()),))


def read_batch(ids_or_rows: Any, *, bag_ids: bool) -> Batch:
    """Read ids or rows, or raise; with ``bag_ids`` each row of a matrix of ids is one bag."""
    if not isinstance(ids_or_rows, torch.Tensor) or ids_or_rows.layout is not torch.strided:
        batch = _read_sparse_rows(ids_or_rows)
    elif ids_or_rows.is_floating_point():
        batch = _read_dense_rows(ids_or_rows)
    else:
        batch = _read_ids(ids_or_rows, bag_ids)
    if not batch.shape or 0 in batch.shape:
        shape = tuple(getattr(ids_or_rows, "shape", batch.shape))
        raise ValueError(
            f"the input holds no row, its shape is {shape}, expected at least one id in at least "
            "one dimension; write a single id as ids.reshape(1)."
        )
    return batch


def read_tolerance(atol: float, rtol: float) -> Tolerance:
    for name, value in (("atol", atol), ("rtol", rtol)):
        if not isinstance(value, Real) or not 0 <= value < math.inf:
            error = ValueError if isinstance(value, Real) else TypeError
            raise error(
                f"{name} is {value!r}, expected a finite number of at least 0; pass the largest "
                f"difference to accept, for instance {name}=1e-3."
            )
    return Tolerance(float(atol), float(rtol))


def _read_ids(ids: torch.Tensor, bag_ids: bool) -> Batch:
    check_id_tensor(ids)
    if bag_ids and ids.dim() > 2:
        raise ValueError(
            f"the ids have shape {tuple(ids.shape)}, expected one or two dimensions, since an "
            "EmbeddingBag reads no more; reshape them to (bags, ids of each)."
        )
    flat = ids.detach().long().flatten()
    length = ids.shape[1] if bag_ids and ids.dim() == 2 else 1
    offsets = torch.arange(0, flat.numel() + 1, max(length, 1), device=ids.device)
    return Batch(ids, Bags(flat, offsets), tuple(ids.shape[:1] if length != 1 else ids.shape))


def _read_dense_rows(rows: torch.Tensor) -> Batch:
    if rows.dim() != 2:
        raise ValueError(
            f"the rows have shape {tuple(rows.shape)}, expected (rows, columns); flatten the "
            "dimensions before the last with rows.flatten(0, -2), write a single row as row[None], "
            "and ids as whole numbers, with .long()."
        )
    numbers = rows.detach().float() if rows.dtype.itemsize == 1 else rows.detach()
    row_indices, ids = numbers.nonzero(as_tuple=True)
    offsets = torch.searchsorted(row_indices, torch.arange(len(rows) + 1, device=rows.device))
    bags = _drop_ones(Bags(ids, offsets, numbers[row_indices, ids]))
    return Batch(rows, bags, (len(rows),), by_offsets=True, width=rows.shape[1])


def _read_sparse_rows(rows: Any) -> Batch:
    ids, offsets, weights = to_bags(rows)
    bags = Bags(ids.long(), offsets.long(), None if weights is None else weights.detach())
    width = int(rows.shape[1]) if hasattr(rows, "shape") else None
    return Batch(rows, _drop_ones(bags), (offsets.numel() - 1,), by_offsets=True, width=width)


def _drop_ones(bags: Bags) -> Bags:
    """Drop weights that are all 1, since only mode="sum" of an EmbeddingBag accepts weights."""
    only_ones = bags.weights is not None and bool((bags.weights == 1).all())
    return bags._replace(weights=None) if only_ones else bags
