"""Causes that lie in single numbers and their formats, which a product treats as no copy does."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from lookup_matmul.diagnosis.layers import Side, named
from lookup_matmul.diagnosis.run import Pair
from lookup_matmul.diagnosis.search import Remedy, both, setting
from lookup_matmul.equality.assertions import bits_of


def dtype(pair: Pair) -> list[Remedy]:
    """Convert both tables to the dtype of one, or a table to that of a callable's output."""
    found = {}
    for side in pair.sides:
        held = pair.outcome(side).output if side.table is None else side.table
        found[side.called] = None if held is None else held.dtype
    wanted = [kind for kind in reversed(found.values()) if kind is not None]
    if len(set(wanted)) < 2:
        return []
    text = ", ".join(f"{name} is {kind}" for name, kind in found.items())
    return [
        Remedy("dtype", f"compute both in {k}, with .to({k})", both(partial(_converted, k)), text)
        for k in wanted
    ]


def _converted(kind: torch.dtype, side: Side) -> Side:
    table = None if side.table is None else side.table.to(kind)
    return replace(side, table=table, bias=None if side.bias is None else side.bias.to(kind))


def autocast(pair: Pair) -> list[Remedy]:
    """Switch autocast off."""
    if pair.autocast is None:
        return []
    kind = pair.given.bags.ids.device.type
    text = f"torch.autocast({kind!r}) computes products in {pair.autocast}, and lookups not"
    names = " and ".join(side.name for side in pair.products or pair.unknown) or "both"
    advice = f"compute {names} under torch.autocast({kind!r}, enabled=False)"
    return [Remedy("autocast", advice, lambda p: replace(p, autocast=None), text)]


def _replacing(
    name: str, advice: str, words: str, where: Callable[[torch.Tensor], torch.Tensor], pair: Pair
) -> list[Remedy]:
    """Put zeros at such numbers of either table in both, or let a table do as the callable does."""
    if not any(where(side.weight).any() for side in pair.tabled):
        return []
    if name != "negative zero" and not pair.products and not pair.unknown:
        return []  # two lookups copy such numbers, and only a sum loses the sign of a zero

    def clear(pair: Pair) -> Pair:
        places = [where(side.weight) for side in pair.tabled]
        if len(places) == 2 and places[0].shape == places[1].shape:
            places = [places[0] | places[1]] * 2
        for side, place in zip(pair.tabled, places, strict=True):
            pair = pair.put(replace(side, table=side.weight.masked_fill(place, 0.0)))
        return pair

    def seen(pair: Pair) -> str:
        found = {s.called: where(s.weight).any(1).nonzero().flatten().tolist() for s in pair.tabled}
        texts = [f"{named(rows)} of {who}" for who, rows in found.items() if len(rows)]
        verb = "holds" if sum(map(len, found.values())) == 1 else "hold"
        return f"{' and '.join(texts)} {verb} {words}"

    remedies = [Remedy(name, advice, clear, seen)]
    if pair.unknown:
        remedies.append(Remedy(name, advice, both(_other_form), seen))
    return remedies


def _other_form(side: Side) -> Side:
    """Look up instead of multiplying, or the other way round, where the other is a callable."""
    if side.table is None:
        return side
    return replace(side, kind="table" if side.kind == "Linear" else "Linear")


def _subnormal(table: torch.Tensor) -> torch.Tensor:
    # By integers, since the processor may take such numbers for zero in comparisons, too.
    size = bits_of(table) & torch.iinfo(bits_of(table).dtype).max
    smallest = torch.finfo(table.dtype).smallest_normal
    least = torch.full((), smallest, dtype=table.dtype, device="cpu")
    return (size > 0) & (size < bits_of(least).item())


not_finite = partial(
    _replacing,
    "NaN or infinity",
    "repair these rows, tried here with zeros, or look up instead of multiplying",
    "NaN or infinity, and zero times these is NaN in a product",
    lambda table: ~table.isfinite(),
)
negative_zero = partial(
    _replacing,
    "negative zero",
    "add 0.0 to the table, which makes every -0 a +0, or compare values, not bits",
    "-0, whose sign a sum can lose and a copy keeps",
    lambda table: (table == 0) & table.signbit(),
)
subnormal = partial(
    _replacing,
    "subnormal numbers",
    "torch.set_flush_denormal(False), or round such numbers to zero in the table",
    "subnormal numbers, which the product takes for zero and a copy keeps",
    _subnormal,
)


def matmul_precision(pair: Pair) -> list[Remedy]:
    """Multiply in float64 and round once."""
    if all(side.weight.dtype == torch.float64 for side in pair.products):
        return []
    first, advice = (
        pair.products[0],
        "torch.set_float32_matmul_precision('highest'), or a wider dtype",
    )
    seen = f"the product of {first.called} uses the weights shortened, not in {first.weight.dtype}"
    return [Remedy("reduced matmul precision", advice, setting(whole=True), seen)]
