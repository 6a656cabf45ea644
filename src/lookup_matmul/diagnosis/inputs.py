"""What both layers are given: ids, or sparse rows in any notation, read once for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from lookup_matmul.inputs import check_id_tensor
from lookup_matmul.sparse.bags import Bags, is_scipy
from lookup_matmul.sparse.read import to_bags
from lookup_matmul.sparse.sums import dense_rows


@dataclass(frozen=True)
class Input:
    """Sparse rows, and in which form a layer gets them; an id is a row with one entry."""

    passed: Any  # what a callable gets: the input as the caller wrote it
    bags: Bags  # one for each output, int64; weights are None if all of them are ones
    shape: tuple[int, ...]  # of the outputs, before the embedding dimension
    by_offsets: bool = False  # an EmbeddingBag gets ids and offsets, not a matrix of ids
    width: int | None = None  # of the rows; None for as many columns as each table has rows

    @property
    def exact(self) -> bool:
        """Whether no output is a sum of two terms, so that nothing is rounded."""
        return self.bags.weights is None and bool((self.bags.offsets.diff() <= 1).all())

    @property
    def of_ids(self) -> bool:
        """Whether each id is a row of its own."""
        return not self.by_offsets and self.bags.ids.numel() == self.bags.offsets.numel() - 1

    @property
    def owners(self) -> torch.Tensor:
        """Return for each entry which bag it is in."""
        counts = self.bags.offsets.diff()
        bags = torch.arange(counts.numel(), device=counts.device)
        return bags.repeat_interleave(counts, output_size=self.bags.ids.numel())

    def outside(self, vocab_size: int) -> torch.Tensor:
        """Tell for each id whether a table has no row for it."""
        return (self.bags.ids < 0) | (self.bags.ids >= vocab_size)

    def encode(self, vocab_size: int, dtype: torch.dtype, weighted: bool = True) -> torch.Tensor:
        """Write the rows out for a product, as wide as they are or as the table is long."""
        width = vocab_size if self.width is None else self.width
        bags = self.bags if weighted else self.bags._replace(weights=None)
        rows = dense_rows(bags, width, dtype=dtype, check=False)
        return rows.reshape(*self.shape, width)

    def keep(self, kept: torch.Tensor) -> Input:
        """Leave out rows; ``kept`` has a Boolean for each."""
        ids, offsets, weights = self.bags
        entries = kept[self.owners]
        ends = torch.cat([offsets[:1], offsets.diff()[kept].cumsum(0)])
        bags = Bags(ids[entries], ends, None if weights is None else weights[entries])
        passed: Any = bags
        if self.of_ids:
            passed = bags.ids
        elif isinstance(self.passed, torch.Tensor) and self.passed.layout is torch.strided:
            passed = self.passed[kept]
        elif is_scipy(self.passed):
            passed = self.passed[kept.cpu().numpy()]
        return replace(self, passed=passed, bags=bags, shape=(int(kept.sum()),))


def read_input(given: Any, *, bagged: bool) -> Input:
    """Read ids or rows, or raise; ``bagged`` says that an EmbeddingBag will read ids, too."""
    if not isinstance(given, torch.Tensor) or given.layout is not torch.strided:
        read = _rows(given)
    elif given.is_floating_point():
        read = _dense(given)
    else:
        read = _ids(given, bagged)
    if not read.shape or 0 in read.shape:
        raise ValueError(
            f"the input holds no row, its shape is {tuple(getattr(given, 'shape', read.shape))}, "
            "expected at least one id in at least one dimension; write a single id as "
            "ids.reshape(1)."
        )
    return read


def _ids(ids: torch.Tensor, bagged: bool) -> Input:
    check_id_tensor(ids)
    if bagged and ids.dim() > 2:
        raise ValueError(
            f"the ids have shape {tuple(ids.shape)}, expected one or two dimensions, since an "
            "EmbeddingBag reads no more; reshape them to (bags, ids of each)."
        )
    flat = ids.detach().long().flatten()
    length = ids.shape[1] if bagged and ids.dim() == 2 else 1
    offsets = torch.arange(0, flat.numel() + 1, max(length, 1), device=ids.device)
    return Input(ids, Bags(flat, offsets), tuple(ids.shape[:1] if length != 1 else ids.shape))


def _dense(rows: torch.Tensor) -> Input:
    if rows.dim() != 2:
        raise ValueError(
            f"the rows have shape {tuple(rows.shape)}, expected (rows, columns); flatten the "
            "dimensions before the last with rows.flatten(0, -2), write a single row as row[None], "
            "and ids as whole numbers, with .long()."
        )
    numbers = rows.detach().float() if rows.dtype.itemsize == 1 else rows.detach()
    owners, ids = numbers.nonzero(as_tuple=True)
    counts = torch.bincount(owners, minlength=len(rows))
    offsets = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    bags = _without_ones(Bags(ids, offsets, numbers[owners, ids]))
    return Input(rows, bags, (len(rows),), by_offsets=True, width=rows.shape[1])


def _rows(given: Any) -> Input:
    ids, offsets, weights = to_bags(given)
    bags = Bags(ids.long(), offsets.long(), None if weights is None else weights.detach())
    width = int(given.shape[1]) if hasattr(given, "shape") else None
    return Input(given, _without_ones(bags), (offsets.numel() - 1,), by_offsets=True, width=width)


def _without_ones(bags: Bags) -> Bags:
    """Leave values out that change nothing, which an EmbeddingBag of any mode then takes."""
    plain = bags.weights is not None and bool((bags.weights == 1).all())
    return bags._replace(weights=None) if plain else bags
