"""What a report adds beside the causes: patterns of the outputs, and how input was read."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

import torch

from lookup_matmul.diagnosis.causes_of_layers import with_tables
from lookup_matmul.diagnosis.runs import Outcome, Pair


def of_input(pair: Pair) -> list[str]:
    """Say that whole numbers are read as ids, where they look like rows."""
    passed = pair.feed.passed
    if not isinstance(passed, torch.Tensor) or passed.layout is not torch.strided:
        return []
    widths = {len(side.weight) for side in with_tables(pair)}
    looks = not passed.is_floating_point() and passed.dim() > 1 and passed.shape[-1] in widths
    if not looks or 2 * int((passed == 0).sum()) < passed.numel():
        return []
    return [
        f"the {passed.numel()} whole numbers are read as ids; if these are rows, one-hot or of "
        f"counts, as their width of {passed.shape[-1]} suggests, pass them as .float()"
    ]


def of_callables(pair: Pair) -> list[str]:
    """Say what was out of reach, and what a callable that raised was given."""
    notes = []
    for side, outcome in zip(pair.sides, pair.outcomes(), strict=True):
        if side.table is not None:
            continue
        notes.append(
            f"{side.called} cannot be looked into; pass the layer itself to have its bias, "
            "options and table tried"
        )
        if outcome.raised and pair.feed.of_ids:
            notes.append(
                f"{side.called} got the ids as you passed them; if it multiplies, write the rows "
                "inside of it: lambda ids: layer(F.one_hot(ids, num_classes).float())"
            )
    return notes


def of_outputs(outcomes: Sequence[Outcome]) -> list[str]:
    """Say that the outputs differ by one row of numbers, or by one factor, up to rounding."""
    a, b = (outcome.output for outcome in outcomes)
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
        return []
    if a.dim() < 2 or not a.numel():
        return []
    a, b, eps = a.double().flatten(0, -2), b.double().flatten(0, -2), torch.finfo(a.dtype).eps
    gap, slack = b - a, 8 * eps * float(torch.maximum(a.abs().max(), b.abs().max()))
    if not (a - a[0]).abs().max() > slack or not gap.abs().max() > slack:
        return []  # a single row, or one that is repeated, is all patterns at once
    if (gap - gap[0]).abs().max() <= slack:
        return ["b minus a is the same in each row, as where a bias is added"]
    factor = float((a * b).sum() / (a * a).sum())
    if (b - factor * a).abs().max() <= slack:
        return [f"b is {factor:.{min(6, int(-log10(eps)))}g} times a"]
    return []
