"""Causes that lie in the options of an Embedding: the padding row and the largest norm."""

from __future__ import annotations

from dataclasses import replace

import torch

from lookup_matmul.diagnosis.causes_of_layers import named, on_both
from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.runs import Pair
from lookup_matmul.diagnosis.search import Remedy


def padding(pair: Pair) -> list[Remedy]:
    """Let an EmbeddingBag count the entries of its padding row, or zero that row in both."""
    padded = [side for side in pair.sides if side.padding_idx is not None]
    bags = [side for side in padded if side.kind == "EmbeddingBag"]
    remedies = []

    def counted(side: Side) -> Side:
        return replace(side, padding_idx=None) if side.kind == "EmbeddingBag" else side

    def left_out(_: Pair) -> str:
        return ", ".join(
            f"{side.called} leaves out every entry with the id {side.padding_idx}" for side in bags
        )

    if bags:
        advice = "make the EmbeddingBag without padding_idx, or leave these entries out of both"
        remedies.append(Remedy("padding_idx", advice, on_both(counted), left_out))
    for side in padded:
        if not side.weight[side.padding_idx].any():
            remedies.append(_zeroing(side, pair.b if side is pair.a else pair.a))
    return remedies


def _zeroing(padded: Side, other: Side) -> Remedy:
    row = padded.padding_idx
    assert row is not None

    def zero(side: Side) -> Side:
        if side.table is None or row >= len(side.table):
            return side
        index = torch.tensor([row], device=side.table.device)
        return replace(side, table=side.table.index_fill(0, index, 0.0))

    seen = f"row {row}, the padding row of {padded.called}, is zero there and not in {other.name}"
    advice = f"zero row {row} of the table of {other.name}, too"
    if other.kind == "Linear":
        advice += f", which is column {row} of its weight"
    return Remedy("padding_idx", advice, on_both(zero), lambda _: seen)


def max_norm(pair: Pair) -> list[Remedy]:
    """Read without max_norm, or let both sides shorten the rows that they read."""
    limited = [side for side in pair.sides if side.max_norm is not None]
    if not limited:
        return []
    limit, kind = limited[0].max_norm, limited[0].norm_type

    def seen(pair: Pair) -> str:
        return "; ".join(_shortened(side, pair) for side in limited)

    advice = "read without max_norm (max_norm=None)"
    same = f"shorten the rows of the other in the same way, to max_norm={limit:g}"
    return [
        Remedy("max_norm", advice, on_both(lambda side: replace(side, max_norm=None)), seen),
        Remedy(
            "max_norm", same, on_both(lambda s: replace(s, max_norm=limit, norm_type=kind)), seen
        ),
    ]


def _shortened(side: Side, pair: Pair) -> str:
    norms = torch.linalg.vector_norm(side.weight.double(), ord=side.norm_type, dim=1)
    long = (norms > side.max_norm).nonzero().flatten()
    rows = long[torch.isin(long, pair.feed.bags.ids)].tolist()
    state = f"rewrites {named(rows)}" if rows else "has shortened rows when it read before"
    return f"{side.called} has max_norm={side.max_norm:g} and {state}"
