"""Causes that lie in the numbers and in how they are multiplied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch

from lookup_matmul.diagnosis.causes_of_layers import named, on_both, with_tables
from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.runs import Pair
from lookup_matmul.diagnosis.search import Remedy
from lookup_matmul.equality.assertions import bits_of


def autocast(pair: Pair) -> list[Remedy]:
    """Switch autocast off."""
    kind = pair.feed.bags.ids.device.type
    if pair.autocast is None:
        return []
    text = (
        f"torch.autocast({kind!r}) is on: products are computed in {pair.autocast}, lookups are not"
    )
    products = [side.name for side in pair.sides if side.kind == "Linear"] or [
        side.name for side in pair.sides if side.table is None
    ]
    called = " and ".join(products) or "both"
    advice = f"compute {called} under torch.autocast({kind!r}, enabled=False)"
    return [Remedy("autocast", advice, lambda p: replace(p, autocast=None), lambda _: text)]


def not_finite(pair: Pair) -> list[Remedy]:
    """Put zeros where a table holds NaN or infinity."""
    advice = "mend these rows, tried here with zeros, or look up instead of multiplying"
    words = "NaN or infinity, and zero times these is NaN in a product"
    return _replacing("NaN or infinity", advice, words, lambda table: ~table.isfinite(), pair)


def negative_zero(pair: Pair) -> list[Remedy]:
    """Put +0 where a table holds -0."""
    advice = "add 0.0 to the table, which makes every -0 a +0, or compare values, not bits"
    words = "-0, whose sign a sum can lose and a copy keeps"
    return _replacing(
        "negative zero", advice, words, lambda table: (table == 0) & table.signbit(), pair
    )


def subnormal(pair: Pair) -> list[Remedy]:
    """Put zeros where a table holds subnormal numbers."""
    advice = "torch.set_flush_denormal(False), or round such numbers to zero in the table"
    words = "subnormal numbers, which the product takes for zero and a copy keeps"
    return _replacing("subnormal numbers", advice, words, _subnormal, pair)


def matmul_precision(pair: Pair) -> list[Remedy]:
    """Multiply in float64 and round once."""
    products = [side for side in pair.sides if side.kind == "Linear"]
    if all(side.weight.dtype == torch.float64 for side in products):
        return []

    def multiply_whole(side: Side) -> Side:
        return replace(side, whole=side.kind == "Linear")

    def seen(_: Pair) -> str:
        return (
            f"the product of {products[0].called} uses the weights shortened, not in "
            f"{products[0].weight.dtype}"
        )

    advice = (
        "torch.set_float32_matmul_precision('highest'), or compute the product in a wider dtype"
    )
    return [Remedy("reduced matmul precision", advice, on_both(multiply_whole), seen)]


def _replacing(
    name: str,
    advice: str,
    words: str,
    where: Callable[[torch.Tensor], torch.Tensor],
    pair: Pair,
) -> list[Remedy]:
    """Put zeros at such numbers of either table in both, or let a table do as the callable does."""
    if not any(where(side.weight).any() for side in with_tables(pair)):
        return []

    def cleared(pair: Pair) -> Pair:
        places = [where(side.weight) for side in with_tables(pair)]
        shared = len(places) == 2 and places[0].shape == places[1].shape

        def clear(side: Side) -> Side:
            if side.table is None:
                return side
            place = places[0] | places[1] if shared else where(side.table)
            return replace(side, table=side.table.masked_fill(place, 0.0))

        return on_both(clear)(pair)

    def seen(pair: Pair) -> str:
        texts, count = [], 0
        for side in with_tables(pair):
            rows = where(side.weight).any(1).nonzero().flatten().tolist()
            count += len(rows)
            if rows:
                texts.append(f"{named(rows)} of {side.called}")
        return f"{' and '.join(texts)} {'holds' if count == 1 else 'hold'} {words}"

    remedies = [Remedy(name, advice, cleared, seen)]
    if len(with_tables(pair)) < len(pair.sides):
        remedies.append(Remedy(name, advice, on_both(_other_form), seen))
    return remedies


def _other_form(side: Side) -> Side:
    """Look up instead of multiplying, or the other way round, where the other is a callable."""
    if side.table is None:
        return side
    return replace(side, kind="table" if side.kind == "Linear" else "Linear")


def _subnormal(table: torch.Tensor) -> torch.Tensor:
    # By integers, since the processor may take such numbers for zero in comparisons, too.
    size = bits_of(table) & torch.iinfo(bits_of(table).dtype).max
    least = torch.full(
        (), torch.finfo(table.dtype).smallest_normal, dtype=table.dtype, device="cpu"
    )
    return (size > 0) & (size < bits_of(least).item())
