"""What a case should give by its definition, in float64, and how far a result is from it."""

from __future__ import annotations

from math import sqrt

import torch

from lookup_matmul.equality import assert_within, bits_differ
from lookup_matmul.rounding import rounding_bound
from lookup_matmul.timings.cases import DTYPES, RATE, Case, Inputs
from lookup_matmul.timings.contenders import Contender

AT_ONCE = 2**25  # elements in float64 at a time, so that checking fits wherever measuring does


def check_result(case: Case, inputs: Inputs, result: torch.Tensor) -> dict[str, float]:
    """Measure the error of a result; raise unless it is within what rounding explains.

    The bound of each element lets zeros pass once so many half-precision numbers are added that a
    sum may stop growing. The error in norm does not: it stays below a half, and zeros are off by 1.
    """
    bound, in_norm = error_bounds(case, int(torch.bincount(inputs.ids).max()))
    result = result.to_dense()
    step = max(1, AT_ONCE // max(1, len(result)))
    worst, off, all_of_it = 0.0, 0.0, 0.0
    for begin in range(0, result.shape[1], step):
        found = result[:, begin : begin + step]
        expected, size = expected_columns(case, inputs, slice(begin, begin + step))
        assert_within(found, expected, bound * size)
        difference = found.double() - expected
        worst = max(worst, float(difference.abs().max()))
        off, all_of_it = (
            off + float(difference.square().sum()),
            all_of_it + float(expected.square().sum()),
        )
    relative = sqrt(off / all_of_it) if all_of_it else 0.0
    if relative > in_norm:
        raise AssertionError(f"off by {relative:.2g} in norm, expected at most {in_norm:.2g}.")
    return {"max_error": worst, "relative_error": relative, "error_bound": bound}


def expected_columns(
    case: Case, inputs: Inputs, columns: slice
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute columns of what a case gives, and of the sums of absolute terms, in float64."""
    if case.form == "one-hot built":
        places = torch.arange(case.vocab_size, device=inputs.ids.device)[columns]
        ones = (inputs.ids.unsqueeze(1) == places).double()
        return ones, ones
    if case.direction == "forward":
        rows = inputs.weight[:, columns][inputs.ids].double()
        if case.bags and case.form != "embedding bag, without weights":
            rows *= inputs.values.double().unsqueeze(1)
        rows = rows.view(case.bags or case.ids, -1, rows.shape[1])
        return rows.sum(1), rows.abs().sum(1)
    arriving = inputs.arriving[:, columns].double()
    zeros = arriving.new_zeros(case.vocab_size, arriving.shape[1])
    gradient = zeros.index_add(0, inputs.ids, arriving)
    size = zeros.index_add(0, inputs.ids, arriving.abs())
    if case.direction == "backward":
        return gradient, size
    before, change, size = inputs.weight[:, columns].double(), 2 * gradient, 2 * size
    if "Adam" in case.form:
        # The running mean of equal gradients is the gradient, that of squares its square, once
        # both are corrected for having begun at zero; SparseAdam adds its 1e-8 before that.
        late = [1 - 0.999**k for k in (1, 2)] if case.form == "SparseAdam" else [1, 1]
        scales = [gradient.abs() + 1e-8 / sqrt(share) for share in late]
        change = gradient / scales[0] + gradient / scales[1]
        size = size / scales[0] + 2
    return before - RATE * change, before.abs() + RATE * size


def error_bounds(case: Case, most: int) -> tuple[float, float]:
    """Bound the error, for each element relative to its size, and in norm, which zeros never meet.

    ``most`` is how often the most frequent id comes. In norm, the roundings of a sum of random
    terms add up like a random walk, of which four times the length are allowed.
    """
    dtype, terms = DTYPES[case.dtype], case.ids // case.bags + 1 if case.bags else 1
    if case.direction != "forward":
        terms = most + 20 * (case.direction == "step")  # roundings of two steps
    roundoff = torch.finfo(dtype).eps / 2
    share = rounding_bound(terms, dtype) if 2 * (terms - 1) * roundoff < 1 else 1.0
    rounded = 2.0**-10 if case.dtype == "tf32" else 0.0  # to ten bits after the point
    return min(1.0, share + rounded), min(0.5, 4 * roundoff * sqrt(terms) + rounded)


def repeats_bitwise(call: Contender, times: int = 5) -> bool:
    """Tell whether calls give the same bits; a sparse gradient is compared as it is held."""

    def parts() -> list[torch.Tensor]:
        result = call()
        return [result._indices(), result._values()] if result.is_sparse else [result.clone()]

    first = parts()
    others = (pair for _ in range(times - 1) for pair in zip(first, parts(), strict=True))
    return not any(bool(bits_differ(one, other).any()) for one, other in others)
