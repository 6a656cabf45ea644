"""Patterns in the input and the outputs, which remain where no table can be tried."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch

from lookup_matmul.diagnosis.case import Case
from lookup_matmul.diagnosis.numbers import describe_rank, format_factor

SUSPECTS = 8  # so many ids are tried


class Outputs(NamedTuple):
    """The outputs of both sides in rows, what rounding allows in each row, and its unit."""

    a: torch.Tensor
    b: torch.Tensor
    error: torch.Tensor
    eps: float


def note_ids_like_rows(case: Case) -> Iterator[str]:
    ids = case.original
    sizes = [len(side.whole) for side in case.with_table]
    if case.by_offsets or ids.dim() < 2 or ids.shape[-1] not in sizes:
        return
    if 2 * int((ids == 0).sum()) >= ids.numel():  # in most rows half of the numbers are zero
        yield (
            f"the {ids.numel()} whole numbers are read as ids; if these are rows, one-hot or of "
            f"counts, as their width of {ids.shape[-1]} suggests, pass them as .float()"
        )


def note_functions(case: Case) -> Iterator[str]:
    for side in case.callables:
        yield (
            f"{side.label} cannot be looked into; pass the layer itself to have its bias, options "
            "and table tried"
        )
        if case.run(side).failure and not case.has_bags:
            yield (
                f"{side.label} got the ids as you passed them; if it multiplies, write the rows "
                "inside of it: lambda ids: layer(F.one_hot(ids, num_classes).float())"
            )


def note_pattern(case: Case) -> Iterator[str]:
    """Yield the first pattern that fits the outputs; equal rows would fit every one."""
    outputs = _read_outputs(case)
    if outputs is None or not ((outputs.a - outputs.a[0]).abs() > outputs.error).any():
        return
    a, b, error, eps = outputs
    gap = b - a
    if not (gap.abs() > error).any():
        return
    factor = float((a * b).sum() / (a * a).sum())
    factors = ((a * b).sum(1, True) / (a * a).sum(1, True)).nan_to_num(factor)  # a row may be zero
    limits = f"{float(factors.min()):.3g} to {float(factors.max()):.3g}"
    order = torch.empty_like(a[0], dtype=torch.int64)
    order[a.sum(0).argsort()] = b.sum(0).argsort()
    suspects, differing = _list_shared_ids(case, outputs)
    listing = f"the id {' or '.join(map(str, suspects[:3]))}"
    length = case.shape[-1] if len(a) == math.prod(case.shape) else 1
    sequences = gap.reshape(-1, length, gap.shape[1])
    if shift := _find_shift(case, a, b):
        yield shift
    elif ((gap - gap[0]).abs() <= error + error[0]).all():
        yield "b minus a is the same in each row, as where a bias is added"
    elif len(sequences) > 1 and ((sequences - sequences[0]).abs() <= error.max()).all():
        yield "b minus a is the same at each place of a sequence, as where positions are added"
    elif ((b - factor * a).abs() <= error).all():
        yield f"b is {format_factor(factor, eps)} times a"
    elif suspects and differing < len(a):
        yield f"the rows that differ, {differing} of {len(a)}, hold {listing}, and no others do"
    elif a.shape[1] > 1 and ((b - factors * a).abs() <= error).all():
        yield f"each row of b is a multiple of that of a, by {limits}"
    elif ((b[:, order] - a).abs() <= error).all():
        yield f"the columns of b, in the order {order.tolist()[:12]}, are those of a"
    elif rank := describe_rank(a, b, eps):
        yield rank
    elif (b - factors * a).norm() <= 0.05 * b.norm() and (factors - 1).abs().max() > 0.1:
        yield f"each row of b is nearly a multiple of that of a, by {limits}, as of rounded codes"
    elif suspects and case.width is None and len(a) < len(case.bags.ids):
        yield f"each row holds {listing}, which one side may leave out"


def _find_shift(case: Case, a: torch.Tensor, b: torch.Tensor) -> str:
    """Describe the function that looks up the id beside each, if one does."""
    for side in case.with_table if case.callables and not case.has_bags else ():
        other = case.opposite(side)
        for step, place in ((1, "after"), (-1, "before")):
            ids = case.bags.ids + step
            inside = (ids >= 0) & (ids < len(side.whole))
            output, rows = a if other.name == "a" else b, side.take(ids[inside])
            if len(rows) and torch.equal(rows.double(), output[inside]):
                return f"{other.name} has for each id the row of {side.name} {place} it"
    return ""


def list_suspects(case: Case) -> list[int]:
    """Return the likeliest ids that all bags hold whose outputs differ, and no others."""
    outputs = _read_outputs(case)
    return [] if outputs is None else _list_shared_ids(case, outputs)[0][:SUSPECTS]


def _read_outputs(case: Case) -> Outputs | None:
    a, b = (case.run(side).output for side in case.sides)
    if a is None or b is None or a.shape != b.shape or a.dim() < 2 or not a.numel():
        return None
    eps = max(torch.finfo(output.dtype).eps for output in (a, b))
    a, b = (output.double().flatten(0, -2) for output in (a, b))
    return Outputs(a, b, 16 * eps * torch.maximum(a.abs(), b.abs()).amax(1, True), eps)


def _list_shared_ids(case: Case, outputs: Outputs) -> tuple[list[int], int]:
    """Return the ids that all rows that differ hold, and no others, and the number of these rows.

    The ids that come most often, as padding does, are first.
    """
    gap = (outputs.b - outputs.a).masked_fill(outputs.a.isnan() & outputs.b.isnan(), 0.0)
    differs = ~(gap.abs() <= outputs.error.nan_to_num(0.0)).all(1)
    # Two functions may take each row of a matrix of ids as a bag.
    ids_of_each, remainder = divmod(len(case.bags.offsets) - 1, len(differs))
    if remainder or not differs.any():
        return [], 0
    rows = case.bag_indices // ids_of_each
    pairs, counts = torch.unique(torch.stack([case.bags.ids, rows]), dim=1, return_counts=True)
    ids, rows = pairs
    shared, held = torch.unique(ids[differs[rows]], return_counts=True)
    shared = shared[(held == differs.sum()) & ~torch.isin(shared, ids[~differs[rows]])]
    is_shared = torch.isin(ids, shared)
    totals = torch.bincount(torch.searchsorted(shared, ids[is_shared]), counts[is_shared])
    return shared[totals.argsort(descending=True, stable=True)].tolist(), int(differs.sum())
