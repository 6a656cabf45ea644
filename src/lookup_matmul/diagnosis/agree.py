"""How well two outputs agree, and how far rounding can carry two correct ones apart."""

from dataclasses import replace

import torch

from lookup_matmul.diagnosis.inputs import Input
from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.report import BITS, DIFFERENT, MISSING, ROUNDING, VALUE, Agreement
from lookup_matmul.diagnosis.run import Outcome, Pair
from lookup_matmul.equality.assertions import bits_differ, difference
from lookup_matmul.equality.rounding import rounding_bound


def agree(
    first: Outcome, second: Outcome, bound: torch.Tensor | float = 0.0, reason: str = ""
) -> Agreement:
    """Compare two outcomes; ``bound`` is a number or broadcasts to the outputs.

    A ``reason`` says in what else they differ.
    """
    a, b = first.output, second.output
    if a is None or b is None:
        raised = {"a": first.raised, "b": second.raised}
        texts = [f"{name} {text}" for name, text in raised.items() if text]
        return Agreement(MISSING, reason="; ".join(texts))
    if a.shape != b.shape:
        return Agreement(DIFFERENT, reason=f"shape {tuple(a.shape)} in a, {tuple(b.shape)} in b")
    if a.dtype != b.dtype:
        reason = f"dtype {a.dtype} in a, {b.dtype} in b"
    gap = difference(a, b).nan_to_num(torch.inf, torch.inf)
    gap = gap.masked_fill(a.isnan() & b.isnan(), 0.0)
    limit = float(bound.max()) if isinstance(bound, torch.Tensor) else bound
    places = (gap > bound) | gap.isinf()  # where a bound overflows, it allows no infinity
    verdict = DIFFERENT
    if not reason and not places.any():
        places = bits_differ(a, b)
        verdict = (ROUNDING if limit else VALUE) if places.any() else BITS
    largest = float(gap.max()) if a.numel() else 0.0
    found = Agreement(verdict, a.numel(), int(places.sum()), None, None, largest, limit, reason)
    if not found.differing:
        return found
    place = tuple(int(i) for i in places.nonzero()[0])
    return replace(found, first=place, values=(float(a[place]), float(b[place])))


def output_bound(pair: Pair) -> torch.Tensor | float:
    """Bound the difference of two outputs, shape (..., embedding dimension) or 0.0 for none."""
    given, tabled = pair.given, pair.tabled
    if given.exact and not any(side.error for side in tabled):
        return 0.0
    if any(given.outside(len(side.weight)).any() for side in tabled):
        return 0.0
    bounds = [_of_side(side, given) for side in tabled]
    if len({bound.shape for bound in bounds}) != 1:
        return 0.0
    return sum(bounds[1:], bounds[0]) * (2 if len(bounds) == 1 else 1)


def gradient_bound(side: Side, given: Input, arriving: torch.Tensor) -> torch.Tensor:
    """Bound the error of a table's gradient, shape (vocabulary size, embedding dimension)."""
    ids, _, weights = given.bags
    parts = arriving.flatten(0, -2).double().abs()[given.owners]
    if weights is not None:
        parts = parts * weights.double().abs().unsqueeze(1)
    size = side.weight.shape
    sums = torch.zeros(size, dtype=torch.float64, device=ids.device).index_add_(0, ids, parts)
    repeats = torch.bincount(ids, minlength=size[0])
    terms = repeats + _extra(side, given) * (repeats > 0)
    return _factors(terms, side.weight.dtype).unsqueeze(1) * sums


def _of_side(side: Side, given: Input) -> torch.Tensor:
    ids, offsets, weights = given.bags
    sizes = side.weight[ids].double().nan_to_num(0.0, 0.0, 0.0).abs()
    shares = None if weights is None else weights.double().abs()
    sums = torch.nn.functional.embedding_bag(
        torch.arange(len(ids), device=ids.device),
        sizes,
        offsets,
        mode="sum",
        per_sample_weights=shares,
        include_last_offset=True,
    )
    if side.bias is not None:
        sums = sums + side.bias.double().abs()
    terms = offsets.diff() + _extra(side, given) + (side.bias is not None)
    dtype = side.weight.dtype
    # The theorem leaves underflow out; it costs less than the smallest normal number a term.
    tiny = terms.unsqueeze(1) * torch.finfo(dtype).smallest_normal
    bound = (_factors(terms, dtype).unsqueeze(1) + side.error) * sums + tiny
    if side.kind == "EmbeddingBag" and given.by_offsets and not side.last_offset:
        return torch.nn.functional.pad(bound, (0, 0, 0, 1))  # one more bag, an empty one
    return bound.reshape(*given.shape, -1)


def _extra(side: Side, given: Input) -> int:
    """Count the roundings of a term beside the additions: product, conversion, division."""
    weights = given.bags.weights
    converted = weights is not None and weights.dtype != side.weight.dtype
    return (weights is not None) + converted + (side.mode == "mean")


def _factors(terms: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    counts, places = torch.unique(terms.clamp(min=1), return_inverse=True)
    bounds = [rounding_bound(count, dtype) for count in counts.tolist()]
    return torch.tensor(bounds, dtype=torch.float64, device=terms.device)[places]
