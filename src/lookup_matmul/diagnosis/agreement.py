"""Measure how well two outputs or gradients agree, given what rounding and the caller allow."""

from dataclasses import replace

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from lookup_matmul.diagnosis import report
from lookup_matmul.diagnosis.inputs import Batch, Tolerance
from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.report import Agreement
from lookup_matmul.diagnosis.run import Outcome, Pair, compute_output, describe_error, renormalize
from lookup_matmul.equality import bits_differ, difference, rounding_bound


def compare_outputs(pair: Pair) -> Agreement:
    first, second = map(pair.outcome, pair.sides)
    return compare_outcomes(first, second, pair.tolerance, _bound_outputs(pair))


def compare_gradients(pair: Pair) -> Agreement:
    """Compare the gradients of both tables for one random gradient of the outputs."""
    (a, a_layout, a_bound), (b, b_layout, b_bound) = (_find_gradient(pair, s) for s in pair.sides)
    if a.output is None or b.output is None:
        return compare_outcomes(a, b, pair.tolerance)
    layouts = "" if a_layout == b_layout else f"layout {a_layout} in a, {b_layout} in b"
    rows = min(len(a.output), len(b.output))  # no id asks for rows that only one table has
    bound = a_bound[:rows] + b_bound[:rows] if a_bound.shape[1] == b_bound.shape[1] else 0.0
    outcomes = (Outcome(a.output[:rows]), Outcome(b.output[:rows]))
    return compare_outcomes(*outcomes, pair.tolerance, bound, layouts)


def compare_outcomes(
    first: Outcome,
    second: Outcome,
    tolerance: Tolerance,
    bound: torch.Tensor | float = 0.0,
    mismatch: str = "",
) -> Agreement:
    """Compare two outcomes. Numbers may differ by ``bound``; a ``mismatch`` is a difference."""
    a, b = first.output, second.output
    if a is None or b is None:
        failures = {"a": first.failure, "b": second.failure}
        texts = [f"{name} {failure}" for name, failure in failures.items() if failure]
        return Agreement(report.NOT_COMPARABLE, reason="; ".join(texts))
    if a.shape != b.shape:
        reason = f"shape {tuple(a.shape)} in a, {tuple(b.shape)} in b"
        return Agreement(report.DIFFERENT, reason=reason)
    gap = difference(a, b).nan_to_num(torch.inf, torch.inf)
    gap = gap.masked_fill(a.isnan() & b.isnan(), 0.0)
    rounding = torch.as_tensor(bound, dtype=torch.float64, device=gap.device)
    allowance = torch.maximum(rounding, tolerance.atol + tolerance.rtol * b.double().abs())
    # A bound that overflows allows no infinity.
    mask = (gap > allowance) | gap.isinf()
    dtypes = f"dtype {a.dtype} in a, {b.dtype} in b" if a.dtype != b.dtype else ""
    verdict = report.DIFFERENT
    if not mismatch and not mask.any():
        mask = gap > rounding
        if dtypes or mask.any():
            verdict = report.TOLERANCE if any(tolerance) else report.DIFFERENT
        elif (mask := bits_differ(a, b)).any():
            verdict = report.ROUNDING if rounding.any() else report.VALUE
        else:
            verdict = report.BITS
    agreement = Agreement(
        verdict,
        total=a.numel(),
        differing=int(mask.sum()),
        largest=float(gap.max()) if a.numel() else 0.0,
        bound=float(rounding.max()) if rounding.numel() else 0.0,
        reason="; ".join(filter(None, (mismatch, dtypes))),
        **tolerance._asdict(),
    )
    if not agreement.differing:
        return agreement
    index = tuple(int(i) for i in mask.nonzero()[0])
    return replace(agreement, first=index, values=(float(a[index]), float(b[index])))


def _find_gradient(pair: Pair, side: Side) -> tuple[Outcome, str, torch.Tensor]:
    """Return the gradient of a table, its layout, and the bound of its rounding."""
    no_bound = torch.zeros(0, 0)
    if not side.requires_grad:
        return Outcome(failure="has no gradient: its table does not require one"), "", no_bound
    try:
        leaf = renormalize(side, pair.batch).clone().requires_grad_()
        with torch.enable_grad(), pair.autocast_context():
            output = compute_output(side, pair.batch, leaf)
        # Positive numbers, whose product with a zero is never a negative zero.
        generator = torch.Generator("cpu").manual_seed(0)
        numbers = torch.rand(output.shape, generator=generator, device="cpu") + 0.5
        output_gradient = numbers.to(output.device, output.dtype)
        (gradient,) = torch.autograd.grad(output, leaf, output_gradient)
    except (NotImplementedError, RuntimeError) as error:
        return Outcome(failure=describe_error(error)), "", no_bound
    bound = _bound_gradient(side, pair.batch, output_gradient)
    return Outcome(gradient.to_dense()), str(gradient.layout).removeprefix("torch."), bound


def _bound_outputs(pair: Pair) -> torch.Tensor | float:
    """Bound the rounding of both outputs, or return 0.0 if no bound applies."""
    batch, sides = pair.batch, pair.with_table
    has_sums = batch.bags.weights is not None or bool((batch.bags.offsets.diff() > 1).any())
    is_rounded = has_sums or any(side.relative_error for side in sides)
    if not is_rounded or any(batch.out_of_range(len(side.table)).any() for side in sides):
        return 0.0
    bounds = [_bound_output(side, batch) for side in sides]
    if len({bound.shape for bound in bounds}) != 1:
        return 0.0
    # A callable is taken to round as much as the side with a table.
    return sum(bounds[1:], bounds[0]) * (2 if len(bounds) == 1 else 1)


def _bound_output(side: Side, batch: Batch) -> torch.Tensor:
    counts = batch.bags.offsets.diff()
    rows = side.table[batch.bags.ids].nan_to_num(0.0, 0.0, 0.0)
    sums = _sum_magnitudes(rows, batch.bags.weights, batch.bag_indices, len(counts))
    if side.bias is not None:
        sums = sums + side.bias.double().abs()
    terms = counts + _count_extra_roundings(side, batch) + (side.bias is not None)
    dtype = side.table.dtype
    # The theorem excludes underflow, which costs at most the smallest normal number per term.
    underflow = terms.unsqueeze(1) * torch.finfo(dtype).smallest_normal
    factors = _compute_rounding_factors(terms, dtype).unsqueeze(1) + side.relative_error
    bound = factors * sums + underflow
    if side.kind == "EmbeddingBag" and batch.by_offsets and not side.include_last_offset:
        return F.pad(bound, (0, 0, 0, 1))  # the output has one more row, an empty bag
    return bound.reshape(*batch.shape, -1)


def _bound_gradient(side: Side, batch: Batch, output_gradient: torch.Tensor) -> torch.Tensor:
    """Bound the rounding of a table's gradient, shape (vocabulary size, embedding dimension)."""
    ids, _, weights = batch.bags
    rows = output_gradient.flatten(0, -2)[batch.bag_indices]
    sums = _sum_magnitudes(rows, weights, ids, len(side.table))
    counts = torch.bincount(ids, minlength=len(sums))
    counts += _count_extra_roundings(side, batch) * (counts > 0)
    return _compute_rounding_factors(counts, side.table.dtype).unsqueeze(1) * sums


def _sum_magnitudes(
    rows: torch.Tensor, weights: torch.Tensor | None, indices: torch.Tensor, size: int
) -> torch.Tensor:
    """Add up the absolute values of rows, times those of their weights, by their indices."""
    terms = rows.double().abs()
    if weights is not None:
        terms = terms * weights.double().abs().unsqueeze(1)
    return terms.new_zeros(size, terms.shape[1]).index_add_(0, indices, terms)


def _count_extra_roundings(side: Side, batch: Batch) -> int:
    """Count the roundings of a term before it is added: product, conversion, division."""
    weights = batch.bags.weights
    is_converted = weights is not None and weights.dtype != side.table.dtype
    return (weights is not None) + is_converted + (side.mode == "mean")


def _compute_rounding_factors(terms: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    counts, indices = torch.unique(terms.clamp(min=1), return_inverse=True)
    bounds = [rounding_bound(count, dtype) for count in counts.tolist()]
    return torch.tensor(bounds, dtype=torch.float64, device=terms.device)[indices]
