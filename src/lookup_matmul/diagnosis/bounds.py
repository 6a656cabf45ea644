"""How far two correct sums of the same rows can be apart, for outputs and for gradients."""

from __future__ import annotations

import torch

from lookup_matmul.diagnosis.inputs import Feed
from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.runs import Pair
from lookup_matmul.equality.rounding import rounding_bound


def output_bound(pair: Pair) -> torch.Tensor | float:
    """Bound the difference of two outputs, shape (..., embedding dimension) or 0.0 for none."""
    tabled = [side for side in pair.sides if side.table is not None]
    last = int(pair.feed.bags.ids.max()) if pair.feed.bags.ids.numel() else -1
    if pair.feed.exact or not tabled or any(len(side.weight) <= last for side in tabled):
        return 0.0
    bounds = [_of_side(side, pair.feed) for side in tabled]
    if len({bound.shape for bound in bounds}) > 1:
        return 0.0
    return sum(bounds[1:], bounds[0]) * (2 if len(bounds) == 1 else 1)


def gradient_bound(side: Side, feed: Feed, arriving: torch.Tensor) -> torch.Tensor:
    """Bound the error of a table's gradient, shape (vocabulary size, embedding dimension)."""
    ids, offsets, weights = feed.bags
    counts = offsets.diff()
    owners = torch.arange(counts.numel(), device=ids.device)
    owners = owners.repeat_interleave(counts, output_size=ids.numel())
    parts = arriving.flatten(0, -2).double().abs()[owners]
    if weights is not None:
        parts = parts * weights.double().abs().unsqueeze(1)
    size = side.weight.shape
    sums = torch.zeros(size, dtype=torch.float64, device=ids.device).index_add_(0, ids, parts)
    repeats = torch.bincount(ids, minlength=size[0])
    terms = repeats + _extra(side, feed) * (repeats > 0)
    return _factors(terms, side.weight.dtype).unsqueeze(1) * sums


def _of_side(side: Side, feed: Feed) -> torch.Tensor:
    ids, offsets, weights = feed.bags
    sizes = side.weight.double().nan_to_num(0.0, 0.0, 0.0).abs()
    shares = None if weights is None else weights.double().abs()
    sums = torch.nn.functional.embedding_bag(
        ids, sizes, offsets, mode="sum", per_sample_weights=shares, include_last_offset=True
    )
    if side.bias is not None:
        sums = sums + side.bias.double().abs()
    terms = offsets.diff() + _extra(side, feed) + (side.bias is not None)
    dtype = side.weight.dtype
    # The theorem leaves underflow out; it costs less than the smallest normal number a term.
    tiny = terms.unsqueeze(1) * torch.finfo(dtype).smallest_normal
    bound = _factors(terms, dtype).unsqueeze(1) * sums + tiny
    if side.kind == "EmbeddingBag" and feed.by_offsets and not side.last_offset:
        return torch.nn.functional.pad(bound, (0, 0, 0, 1))  # one more bag, an empty one
    return bound.reshape(*feed.shape, -1)


def _extra(side: Side, feed: Feed) -> int:
    """Count the roundings of a term beside the additions: product, conversion, division."""
    weights = feed.bags.weights
    converted = weights is not None and weights.dtype != side.weight.dtype
    return (weights is not None) + converted + (side.mode == "mean")


def _factors(terms: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    counts, places = torch.unique(terms.clamp(min=1), return_inverse=True)
    if int(counts[-1]) >= 2 / torch.finfo(dtype).eps:
        raise ValueError(
            f"a sum has {int(counts[-1])} terms in {dtype}, for which no bound of rounding is "
            "known, expected fewer; compare in a wider dtype, with .float(), or on shorter rows."
        )
    bounds = [rounding_bound(count, dtype) for count in counts.tolist()]
    return torch.tensor(bounds, dtype=torch.float64, device=terms.device)[places]
