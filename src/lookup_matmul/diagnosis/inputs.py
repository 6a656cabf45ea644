"""What both layers are given: ids, or sparse rows in any notation, read once for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from lookup_matmul.inputs import ID_DTYPES
from lookup_matmul.onehot.forms import one_hot
from lookup_matmul.sparse.bags import Bags, is_scipy
from lookup_matmul.sparse.dense import dense_rows
from lookup_matmul.sparse.read import to_bags


@dataclass(frozen=True)
class Feed:
    """Sparse rows, and in which form each kind of layer gets them; an id is a row with one entry.

    Attributes
    ----------
    passed
        What a callable gets: the input as the caller wrote it.
    bags : Bags
        One bag for each output, int64; weights are ``None`` if all of them are ones.
    shape : tuple of int
        Shape of the outputs, before the embedding dimension.
    by_offsets : bool
        Whether an EmbeddingBag gets ids and offsets, or a matrix of ids without offsets.
    width : int, optional
        Number of columns of the rows; ``None`` for as many as each table has rows.
    """

    passed: Any
    bags: Bags
    shape: tuple[int, ...]
    by_offsets: bool = False
    width: int | None = None

    @property
    def exact(self) -> bool:
        """Whether no output is a sum of two terms, so that nothing is rounded."""
        counts = self.bags.offsets.diff()
        return self.bags.weights is None and bool((counts <= 1).all())

    @property
    def of_ids(self) -> bool:
        """Whether each id is a row of its own."""
        return not self.by_offsets and self.bags.ids.numel() == self.bags.offsets.numel() - 1

    def encode(self, vocab_size: int, dtype: torch.dtype, weighted: bool = True) -> torch.Tensor:
        """Write the rows out for a product, as wide as they are or as the table is long."""
        width = vocab_size if self.width is None else self.width
        if self.of_ids:
            rows = one_hot(self.bags.ids, width, dtype=dtype, check=False)
        else:
            bags = self.bags if weighted else self.bags._replace(weights=None)
            rows = dense_rows(bags, width, dtype=dtype, check=False)
        return rows.reshape(*self.shape, width)

    def keep(self, kept: torch.Tensor) -> Feed:
        """Leave out rows; ``kept`` has a Boolean for each."""
        ids, offsets, weights = self.bags
        counts = offsets.diff()
        entries = kept.repeat_interleave(counts, output_size=ids.numel())
        ends = torch.cat([offsets[:1], counts[kept].cumsum(0)])
        bags = Bags(ids[entries], ends, None if weights is None else weights[entries])
        passed: Any = bags
        if self.of_ids:
            passed = bags.ids
        elif isinstance(self.passed, torch.Tensor) and self.passed.layout is torch.strided:
            passed = self.passed[kept]
        elif is_scipy(self.passed):
            passed = self.passed[kept.cpu().numpy()]
        return replace(self, passed=passed, bags=bags, shape=(int(kept.sum()),))


def read_feed(given: Any, *, bagged: bool) -> Feed:
    """Read ids or rows, or raise; ``bagged`` says that an EmbeddingBag will read ids, too."""
    if isinstance(given, torch.Tensor) and given.layout is torch.strided and not given.is_nested:
        feed = _dense(given) if given.is_floating_point() else _ids(given, bagged)
    elif isinstance(given, np.ndarray):
        raise TypeError(
            "the input is an array of NumPy, expected a tensor of ids or rows; convert with "
            "torch.from_numpy(...)."
        )
    elif isinstance(given, torch.nn.Module):
        raise TypeError(
            f"the input is a {type(given).__name__}, expected ids or rows after the two layers; "
            "call compare(a, b, ids)."
        )
    else:
        feed = _rows(given)
    if not feed.shape or 0 in feed.shape:
        advice = (
            "two layers that compute nothing do not disagree"
            if feed.shape
            else "write ids.reshape(1)"
        )
        shape = tuple(getattr(given, "shape", feed.shape))
        raise ValueError(
            f"the input holds no row (shape {shape}), expected at least one id in at "
            f"least one dimension; {advice}."
        )
    return feed


def _ids(ids: torch.Tensor, bagged: bool) -> Feed:
    if ids.dtype not in ID_DTYPES:
        raise TypeError(
            f"the ids have dtype {ids.dtype}, expected torch.int32 or torch.int64; convert with "
            "ids.long() if the values are meant as row numbers, or with .float() if these are "
            "one-hot rows."
        )
    _check_stored(ids)
    flat = ids.detach().long().flatten()
    if bagged and ids.dim() > 2:
        raise ValueError(
            f"the ids have shape {tuple(ids.shape)}, expected one or two dimensions, since an "
            "EmbeddingBag reads no more; reshape them to (bags, ids of each)."
        )
    length = ids.shape[1] if bagged and ids.dim() == 2 else 1
    offsets = torch.arange(0, flat.numel() + 1, max(length, 1), device=ids.device)
    return Feed(ids, Bags(flat, offsets), tuple(ids.shape[:1] if length != 1 else ids.shape))


def _dense(rows: torch.Tensor) -> Feed:
    if rows.dim() != 2:
        advice = "flatten the dimensions before the last with rows.flatten(0, -2)"
        if rows.dim() < 2:
            advice = "pass ids as whole numbers, with .long(), and a single row as row[None]"
        raise ValueError(
            f"the rows have shape {tuple(rows.shape)}, expected (rows, columns); {advice}."
        )
    _check_stored(rows)
    owners, ids = rows.detach().nonzero(as_tuple=True)
    counts = torch.bincount(owners, minlength=len(rows))
    offsets = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    bags = _without_ones(Bags(ids, offsets, rows.detach()[owners, ids]))
    return Feed(rows, bags, (len(rows),), by_offsets=True, width=rows.shape[1])


def _rows(given: Any) -> Feed:
    try:
        ids, offsets, weights = to_bags(given)
    except TypeError as error:
        if isinstance(given, torch.Tensor) or hasattr(given, "shape"):
            raise
        raise TypeError(
            f"the input is a {type(given).__name__}, expected a tensor of ids, a tensor of rows, "
            f"a CSR matrix, or (ids, offsets, weights); wrap ids in torch.tensor(...). ({error})"
        ) from error
    bags = Bags(ids.long(), offsets.long(), None if weights is None else weights.detach())
    width = int(given.shape[1]) if hasattr(given, "shape") else None
    return Feed(given, _without_ones(bags), (offsets.numel() - 1,), by_offsets=True, width=width)


def _check_stored(tensor: torch.Tensor) -> None:
    if tensor.is_meta:
        raise ValueError(
            "the input lies on the device meta, which stores no numbers; make it on the device "
            "of the layers."
        )


def _without_ones(bags: Bags) -> Bags:
    """Leave values out that change nothing, which an EmbeddingBag of any mode then takes."""
    plain = bags.weights is not None and bool((bags.weights == 1).all())
    return bags._replace(weights=None) if plain else bags
