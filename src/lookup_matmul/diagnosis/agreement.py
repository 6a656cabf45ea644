"""Measure how well two outputs or gradients agree, given what rounding and the caller allow."""

from dataclasses import replace

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from lookup_matmul.diagnosis import report
from lookup_matmul.diagnosis.case import (
    Case,
    Outcome,
    Side,
    compute_output,
    describe_error,
    renormalize,
)
from lookup_matmul.diagnosis.report import Agreement, Tolerance
from lookup_matmul.equality import bits_differ, difference, rounding_bound


def compare_outputs(case: Case) -> Agreement:
    first, second = (case.run(side) for side in case.sides)
    return compare_outcomes(first, second, case.tolerance, _bound_outputs(case))


def is_representative(part: Case, case: Case) -> bool:
    """Return whether products of parts of the tables are those of the whole, up to rounding."""
    part = replace(part, autocast=None)
    case = replace(case, autocast=None)
    for few, all_rows in zip(part.products, case.products, strict=True):
        outputs = [part.run(few).output, case.run(all_rows).output]
        tensors = [output for output in outputs if output is not None]
        if len(tensors) == 2:
            gap = difference(*tensors).nan_to_num(0.0, 0.0)  # a part has not every row with NaN
            if (gap > _bound_outputs(replace(part, a=few, b=few))).any():
                return False
    return True


def compare_gradients(case: Case) -> Agreement:
    """Compare the gradients of both tables for one random gradient of the outputs.

    They are computed for the rows that were read; those of all others are zero.
    """
    first, second = (_compute_gradient(case, side) for side in case.sides)
    agreement = compare_outcomes(first, second, case.tolerance, first.bound + second.bound)
    if agreement.total:
        agreement = replace(agreement, total=case.shared_size * case.a.table.shape[1])
    if agreement.first is not None:
        row, column = agreement.first
        agreement = replace(agreement, first=(int(case.a.rows[row]), column))
    return agreement


def compare_outcomes(
    first: Outcome, second: Outcome, tolerance: Tolerance, bound: torch.Tensor | float = 0.0
) -> Agreement:
    """Compare two outcomes whose numbers may differ by ``bound`` because of rounding."""
    a = first.output
    b = second.output
    if a is None or b is None:
        failures = {"a": first.failure, "b": second.failure}
        texts = [f"{name} {failure}" for name, failure in failures.items() if failure]
        return Agreement(report.NOT_COMPARABLE, reason="; ".join(texts))
    if a.shape != b.shape:
        reason = f"shape {tuple(a.shape)} in a, {tuple(b.shape)} in b"
        return Agreement(report.DIFFERENT, reason=reason)
    pairs = {"layout": (first.layout, second.layout), "dtype": (a.dtype, b.dtype)}
    reasons = [f"{name} {x} in a, {y} in b" for name, (x, y) in pairs.items() if x != y]
    gap = difference(a, b).nan_to_num(torch.inf, torch.inf)
    gap = gap.masked_fill(a.isnan() & b.isnan(), 0.0)
    rounding = torch.as_tensor(bound, dtype=torch.float64, device=gap.device)
    allowance = torch.maximum(rounding, tolerance.atol + tolerance.rtol * b.double().abs())
    # A bound that overflows allows no infinity.
    mask = (gap > allowance) | gap.isinf()
    verdict = report.DIFFERENT
    if first.layout == second.layout and not mask.any():
        mask = gap > rounding
        if reasons or mask.any():
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
        reason="; ".join(reasons),
        **tolerance._asdict(),
    )
    if not agreement.differing:
        return agreement
    index = tuple(int(i) for i in mask.nonzero()[0])
    return replace(agreement, first=index, values=(float(a[index]), float(b[index])))


def _compute_gradient(case: Case, side: Side) -> Outcome:
    if not side.requires_grad:
        return Outcome(failure="has no gradient: its table does not require one")
    try:
        leaf = renormalize(case, side).clone().requires_grad_()
        with torch.enable_grad(), case.autocast_context():
            output = compute_output(case, side, leaf)
        # Positive numbers, whose product with a zero is never a negative zero.
        generator = torch.Generator("cpu").manual_seed(0)
        numbers = torch.rand(output.shape, generator=generator, device="cpu") + 0.5
        output_gradient = numbers.to(output.device, output.dtype)
        (gradient,) = torch.autograd.grad(output, leaf, output_gradient)
    except (NotImplementedError, RuntimeError) as error:
        return Outcome(failure=describe_error(error))
    terms = output_gradient.flatten(0, -2)[case.bag_indices]
    counts, sums = _sum_magnitudes(case, side, terms, case.find_positions(side), len(side.table))
    bound = _compute_rounding_factors(counts, side.table.dtype) * sums
    rows = case.shared_rows  # no id asks for rows that only one table has
    layout = str(gradient.layout).removeprefix("torch.")
    return Outcome(gradient.to_dense()[rows], layout=layout, bound=bound[rows])


def _bound_outputs(case: Case) -> torch.Tensor | float:
    """Bound the rounding of both outputs, or return 0.0 if no bound applies."""
    has_sums = case.has_values or bool((case.bags.offsets.diff() > 1).any())
    is_rounded = has_sums or any(side.relative_error for side in case.with_table)
    if not is_rounded or case.out_of_range(case.shared_size).any():
        return 0.0
    bounds = [_bound_output(case, side) for side in case.with_table]
    if len({bound.shape for bound in bounds}) != 1:
        return 0.0
    # A callable is taken to round as much as the side with a table.
    return sum(bounds[1:], bounds[0]) * (2 if len(bounds) == 1 else 1)


def _bound_output(case: Case, side: Side) -> torch.Tensor:
    rows = side.table[case.find_positions(side)].nan_to_num(0.0, 0.0, 0.0)
    size = len(case.bags.offsets) - 1
    counts, sums = _sum_magnitudes(case, side, rows, case.bag_indices, size)
    if side.bias is not None:
        counts += 1
        sums += side.bias.double().abs()
    factors = _compute_rounding_factors(counts, side.table.dtype) + side.relative_error
    # The theorem excludes underflow, which costs at most the smallest normal number per term.
    bound = factors * sums + counts.unsqueeze(1) * torch.finfo(side.table.dtype).smallest_normal
    if side.kind == "EmbeddingBag" and case.by_offsets and not side.include_last_offset:
        return F.pad(bound, (0, 0, 0, 1))  # the output has one more row, an empty bag
    return bound.reshape(*case.shape, -1)


def _sum_magnitudes(
    case: Case, side: Side, terms: torch.Tensor, targets: torch.Tensor, size: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Count the roundings of sums of terms times the values, and add up their absolute values."""
    magnitudes = terms.double().abs()
    counts = torch.bincount(targets, minlength=size)
    extra = int(side.mode == "mean")
    if case.bags.weights is not None:  # each is converted and multiplied before it is added
        magnitudes *= case.bags.weights.double().abs().unsqueeze(1)
        extra += 1 + (case.bags.weights.dtype != side.table.dtype)
    sums = magnitudes.new_zeros(size, terms.shape[1]).index_add_(0, targets, magnitudes)
    return counts + extra * (counts > 0), sums


def _compute_rounding_factors(counts: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    numbers, indices = torch.unique(counts.clamp(min=1), return_inverse=True)
    factors = [rounding_bound(number, dtype) for number in numbers.tolist()]
    return torch.tensor(factors, dtype=torch.float64, device=counts.device)[indices].unsqueeze(1)
