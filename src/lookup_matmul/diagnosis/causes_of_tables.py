"""Causes that lie in a table as a whole: in its layout, or in that it is another one."""

from dataclasses import replace
from functools import partial

import torch

from lookup_matmul.diagnosis.layers import Side, named
from lookup_matmul.diagnosis.run import Pair
from lookup_matmul.diagnosis.search import Remedy
from lookup_matmul.equality.assertions import bits_differ
from lookup_matmul.equality.storage import shares_storage


def layout(pair: Pair) -> list[Remedy]:
    """Transpose a table, or undo a reshape, the more readily the less its kind says of it."""
    order = {"table": 0, "Linear": 1}
    tabled = sorted(pair.tabled, key=lambda side: (order.get(side.kind, 2), side is pair.a))
    shapes = [tuple(side.weight.shape) for side in tabled]
    alike, remedies = shapes[0] == shapes[-1], []
    for side in tabled:
        held = side.weight.T if side.kind == "Linear" else side.weight
        rows, columns = held.shape
        if len(tabled) == 1 or shapes[0] == shapes[1][::-1]:
            seen = "the table of {} ({} × {}) has its rows as columns".format(side.name, *shapes[0])
            seen += "; being square, its shape does not show it" * (rows == columns)
            advice = f"transpose the table of {side.name}"
            remedies.append(
                _rewritten(side, "transposed weight", advice, ".T", held.T, seen, alike)
            )
        if alike and rows != columns:
            seen = (
                f"the {rows} × {columns} weight of {side.called} holds its numbers in the order of "
                f"a {columns} × {rows} one, as a reshape leaves them and a transpose does not"
            )
            code, mended = f".reshape({columns}, {rows}).T", held.reshape(columns, rows).T
            advice = f"undo the reshape of {side.name} and transpose"
            remedies.append(_rewritten(side, "reshaped weight", advice, code, mended, seen, True))
    return remedies


def _rewritten(
    side: Side, cause: str, advice: str, code: str, held: torch.Tensor, seen: str, spared: bool
) -> Remedy:
    """Make a remedy of what the weight should hold, before anything else is changed."""
    name, table = side.name, held.T if side.kind == "Linear" else held
    written = f"{name}.weight = torch.nn.Parameter({name}.weight{code}.contiguous())"
    written = f"{name} = {name}{code}" if side.kind == "table" else written

    def rewrite(pair: Pair) -> Pair:
        return pair.put(replace(pair.side(name), table=table))

    return Remedy(cause, f"{advice}: {written}", rewrite, seen, spared)


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
        + named(differs.any(1).nonzero().flatten().tolist()),
        f"the standard deviation is {spread[0]} in a and {spread[1]} in b",
        "they share storage" if shares_storage(*tables) else "they share no storage",
    ]
    frozen = [side.name for side in pair.sides if not side.trained]
    if len(frozen) == 1:
        facts.append(f"{frozen[0]} requires no gradient, so training moves the other alone")
    return "; ".join(facts)
