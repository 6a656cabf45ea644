"""Causes that lie in the tables: their layout and numbers, and how these are multiplied.

A cause is a function from a pair to its remedies, of which at most one is used: none if it cannot
be the cause here. Each remedy is tried on both sides alike, as far as it says something to them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.run import Pair
from lookup_matmul.diagnosis.search import Remedy, always, both, setting
from lookup_matmul.equality.assertions import bits_differ, bits_of
from lookup_matmul.equality.storage import shares_storage


def named(rows: torch.Tensor) -> str:
    """Name the rows of a table for which a Boolean is true, at most six of them."""
    numbers = rows.nonzero().flatten().tolist()
    listed = ", ".join(map(str, numbers[:6])) + (", …" if len(numbers) > 6 else "")
    return f"row{'s' if len(numbers) != 1 else ''} {listed}"


def transposed(pair: Pair) -> list[Remedy]:
    """Turn a table, the more readily the less its kind says of its layout."""
    tabled = pair.tabled
    shapes = [tuple(side.weight.shape) for side in tabled]
    if len(tabled) == 2 and shapes[0] != shapes[1][::-1]:
        return []
    order = {"table": 0, "Linear": 1}
    tabled.sort(key=lambda side: (order.get(side.kind, 2), side is pair.a))
    return [_turning(side.name, side.kind) for side in tabled]


def _turning(name: str, kind: str) -> Remedy:
    def turn(pair: Pair) -> Pair:
        side = pair.side(name)
        return pair.put(replace(side, table=side.weight.T))

    def seen(pair: Pair) -> str:
        rows, columns = pair.side(name).weight.shape
        hidden = "; being square, its shape does not show it" if rows == columns else ""
        return f"the table of {name} ({rows} × {columns}) has its rows as columns{hidden}"

    written = f"{name}.weight = torch.nn.Parameter({name}.weight.T.contiguous())"
    turned = f"{name} = {name}.T" if kind == "table" else written
    return Remedy("transposed weight", f"transpose the table of {name}: {turned}", turn, seen)


def weights(pair: Pair) -> list[Remedy]:
    """Copy the rows that both tables have from one to the other."""
    if pair.unknown:
        return []
    return [
        Remedy("weights", _copying(*sides), partial(_copied, sides[0].name), _weights_seen)
        for sides in (pair.sides, pair.sides[::-1])
    ]


def _copying(origin: Side, place: Side) -> str:
    """Write the copy in plain torch, which takes what the function of this package refuses."""
    target, source = place.code, origin.code
    (rows, dim), (other_rows, other_dim) = origin.weight.shape, place.weight.shape
    if rows != other_rows and dim == other_dim:  # else one is turned before, and they fit
        shared = f"[:{min(rows, other_rows)}]"
        target, source = target + shared, source + shared
    elif place.kind == "Linear":  # as is usual: the transpose on the right
        target, source = target.removesuffix(".T"), f"{source}.T".removesuffix(".T.T")
    return f"copy the table: with torch.no_grad(): {target}.copy_({source})"


def _copied(origin: str, pair: Pair) -> Pair:
    source, place = pair.side(origin).weight, pair.other(pair.side(origin))
    if source.shape[1] != place.weight.shape[1]:
        return pair
    copied = source[: len(place.weight)].to(place.weight.dtype)
    return pair.put(replace(place, table=torch.cat([copied, place.weight[len(source) :]])))


def _weights_seen(pair: Pair) -> str:
    tables = [side.weight for side in pair.sides]
    first, second = (table[: min(map(len, tables))].double() for table in tables)
    differs = bits_differ(first, second)
    spread = [f"{float(table.double().std(correction=0)):.2g}" for table in tables]
    sizes = [len(table) for table in tables]
    facts = [
        *([f"a has {sizes[0]} rows and b has {sizes[1]}"] if sizes[0] != sizes[1] else []),
        f"{int(differs.sum())} of {differs.numel()} numbers of the tables differ, in "
        + named(differs.any(1)),
        f"the standard deviation is {spread[0]} in a and {spread[1]} in b",
        "they share storage" if shares_storage(*tables) else "they share no storage",
    ]
    frozen = [side.name for side in pair.sides if not side.trained]
    if len(frozen) == 1:
        facts.append(f"{frozen[0]} requires no gradient, so training moves the other alone")
    return "; ".join(facts)


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
        Remedy(
            "dtype",
            f"compute both in {kind}, with .to({kind})",
            both(partial(_converted, kind)),
            always(text),
        )
        for kind in wanted
    ]


def _converted(kind: torch.dtype, side: Side) -> Side:
    table = None if side.table is None else side.table.to(kind)
    return replace(side, table=table, bias=None if side.bias is None else side.bias.to(kind))


def autocast(pair: Pair) -> list[Remedy]:
    """Switch autocast off."""
    if pair.autocast is None:
        return []
    kind = pair.given.bags.ids.device.type
    text = (
        f"torch.autocast({kind!r}) is on: products are computed in {pair.autocast}, lookups are not"
    )
    products = [side for side in pair.sides if side.kind == "Linear"] or pair.unknown
    names = " and ".join(side.name for side in products) or "both"
    advice = f"compute {names} under torch.autocast({kind!r}, enabled=False)"
    return [Remedy("autocast", advice, lambda p: replace(p, autocast=None), always(text))]


def _replacing(
    name: str,
    advice: str,
    words: str,
    where: Callable[[torch.Tensor], torch.Tensor],
    pair: Pair,
) -> list[Remedy]:
    """Put zeros at such numbers of either table in both, or let a table do as the callable does."""
    if not any(where(side.weight).any() for side in pair.tabled):
        return []

    def clear(pair: Pair) -> Pair:
        places = [where(side.weight) for side in pair.tabled]
        if len(places) == 2 and places[0].shape == places[1].shape:
            places = [places[0] | places[1]] * 2
        for side, place in zip(pair.tabled, places, strict=True):
            pair = pair.put(replace(side, table=side.weight.masked_fill(place, 0.0)))
        return pair

    def seen(pair: Pair) -> str:
        holding = {side.called: where(side.weight).any(1) for side in pair.tabled}
        texts = [f"{named(rows)} of {who}" for who, rows in holding.items() if rows.any()]
        verb = "holds" if sum(int(rows.sum()) for rows in holding.values()) == 1 else "hold"
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
    "mend these rows, tried here with zeros, or look up instead of multiplying",
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
    products = [side for side in pair.sides if side.kind == "Linear"]
    if all(side.weight.dtype == torch.float64 for side in products):
        return []

    def seen(_: Pair) -> str:
        first = products[0]
        return (
            f"the product of {first.called} uses the weights shortened, not in {first.weight.dtype}"
        )

    advice = (
        "torch.set_float32_matmul_precision('highest'), or compute the product in a wider dtype"
    )
    return [Remedy("reduced matmul precision", advice, setting(whole=True), seen)]
