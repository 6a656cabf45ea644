"""Causes that lie in the layers: the table, what is added to it, and the options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from lookup_matmul.diagnosis.agreement import BITS, agree
from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.runs import Pair
from lookup_matmul.diagnosis.search import Remedy
from lookup_matmul.equality.assertions import bits_differ
from lookup_matmul.equality.storage import shares_storage


def on_both(change: Callable[[Side], Side]) -> Callable[[Pair], Pair]:
    """Make a change of a pair from one of a side."""
    return lambda pair: replace(pair, a=change(pair.a), b=change(pair.b))


def with_tables(pair: Pair) -> list[Side]:
    """Give the sides that have a table."""
    return [side for side in pair.sides if side.table is not None]


def in_code(side: Side) -> str:
    """Write the table of a side, (vocabulary size, embedding dimension), as the caller would."""
    codes = {"table": side.name, "Linear": f"{side.name}.weight.T"}
    return codes.get(side.kind, f"{side.name}.weight")


def bias(pair: Pair) -> list[Remedy]:
    """Leave a bias out."""
    added = [side for side in pair.sides if side.bias is not None]
    if not added:
        return []
    other = pair.b if added[0] is pair.a else pair.a
    folds = len(added) == 1 and pair.feed.of_ids and other.kind in ("Embedding", "table")
    instead = "add the same to the output of the other"
    if folds:
        instead = f"look up in {in_code(other)} + {added[0].name}.bias"
    advice = f"leave the bias out with bias=False, or {instead}"
    return [Remedy("bias", advice, on_both(lambda side: replace(side, bias=None)), _bias_seen)]


def _bias_seen(pair: Pair) -> str:
    added = [(side, side.bias) for side in pair.sides if side.bias is not None]
    seen = ", ".join(
        f"{side.called} adds a bias of up to {float(bias.abs().max()):.3g}" for side, bias in added
    )
    other = pair.b if added[0][0] is pair.a else pair.a
    if len(added) > 1 or not pair.feed.of_ids or other.table is None:
        return seen
    folded = replace(other, table=other.table + added[0][1])
    tried = replace(pair, a=folded) if other is pair.a else replace(pair, b=folded)
    if agree(*tried.outcomes()).verdict == BITS:
        seen += f"; with the bias folded into the table of {other.name} they are {BITS}, too"
    return seen


def transposed(pair: Pair) -> list[Remedy]:
    """Turn a table, the more readily the less its kind says of its layout."""
    tabled = with_tables(pair)
    shapes = [tuple(side.weight.shape) for side in tabled]
    if len(tabled) == 2 and shapes[0] != shapes[1][::-1]:
        return []
    order = {"table": 0, "Linear": 1}
    tabled.sort(key=lambda side: (order.get(side.kind, 2), side is pair.a))
    return [_turning(side.name, side.kind) for side in tabled]


def _turning(name: str, kind: str) -> Remedy:
    def turn(side: Side) -> Side:
        if side.name != name or side.table is None:
            return side
        return replace(side, table=side.table.T)

    def seen(pair: Pair) -> str:
        rows, columns = next(s.weight.shape for s in pair.sides if s.name == name)
        hidden = "; being square, its shape does not show it" if rows == columns else ""
        return f"the table of {name} ({rows} × {columns}) has its rows as columns{hidden}"

    written = f"{name}.weight = torch.nn.Parameter({name}.weight.T.contiguous())"
    turned = f"{name} = {name}.T" if kind == "table" else written
    advice = f"transpose the table of {name}: {turned}"
    return Remedy("transposed weight", advice, on_both(turn), seen)


def weights(pair: Pair) -> list[Remedy]:
    """Copy the rows that both tables have from one to the other."""
    if len(with_tables(pair)) < 2:
        return []
    return [
        Remedy("weights", _copying(*sides), partial(_copied, sides[0].name), _weights_seen)
        for sides in (pair.sides, pair.sides[::-1])
    ]


def _copying(origin: Side, place: Side) -> str:
    """Write the copy in plain torch, which takes what the function of this package refuses."""
    target, source = in_code(place), in_code(origin)
    (rows, dim), (other_rows, other_dim) = origin.weight.shape, place.weight.shape
    if rows != other_rows and dim == other_dim:  # else one is turned before, and they fit
        shared = f"[:{min(rows, other_rows)}]"
        target, source = target + shared, source + shared
    elif place.kind == "Linear":  # as is usual: the transpose on the right
        target, source = target.removesuffix(".T"), f"{source}.T".removesuffix(".T.T")
    return f"copy the table: with torch.no_grad(): {target}.copy_({source})"


def _copied(source: str, pair: Pair) -> Pair:
    origin, place = (pair.a, pair.b) if source == "a" else (pair.b, pair.a)
    if origin.weight.shape[1] != place.weight.shape[1]:
        return pair
    rows = min(len(origin.weight), len(place.weight))
    table = torch.cat([origin.weight[:rows].to(place.weight.dtype), place.weight[rows:]])
    written = replace(place, table=table)
    return replace(pair, b=written) if source == "a" else replace(pair, a=written)


def _weights_seen(pair: Pair) -> str:
    tables = [side.weight for side in pair.sides]
    first, second = (table[: min(map(len, tables))].double() for table in tables)
    differs = bits_differ(first, second)
    rows = differs.any(1).nonzero().flatten().tolist()
    spread = [f"{float(table.double().std(correction=0)):.2g}" for table in tables]
    sizes = [len(table) for table in tables]
    facts = [
        *([f"a has {sizes[0]} rows and b has {sizes[1]}"] if sizes[0] != sizes[1] else []),
        f"{int(differs.sum())} of {differs.numel()} numbers of the tables differ, in {named(rows)}",
        f"the standard deviation is {spread[0]} in a and {spread[1]} in b",
        "they share storage" if shares_storage(*tables) else "they share no storage",
    ]
    frozen = [side.name for side in pair.sides if not side.trained]
    if len(frozen) == 1:
        facts.append(f"{frozen[0]} requires no gradient, so training moves the other alone")
    return "; ".join(facts)


def named(rows: list[int]) -> str:
    """Name rows of a table, at most six of them."""
    listed = ", ".join(map(str, rows[:6])) + (", …" if len(rows) > 6 else "")
    return f"row{'s' if len(rows) != 1 else ''} {listed}"


def dtype(pair: Pair) -> list[Remedy]:
    """Convert both tables to the dtype of one, or a table to that of a callable's output."""
    found = {side.called: _dtype_of(side, pair) for side in pair.sides}
    wanted = [kind for kind in reversed(found.values()) if kind is not None]
    if len(set(wanted)) < 2:
        return []
    text = ", ".join(f"{called} is {kind}" for called, kind in found.items())
    return [
        Remedy(
            "dtype",
            f"compute both in {kind}, with .to({kind})",
            on_both(partial(_converted, kind)),
            lambda _: text,
        )
        for kind in wanted
    ]


def _dtype_of(side: Side, pair: Pair) -> torch.dtype | None:
    if side.table is not None:
        return side.table.dtype
    output = pair.outcomes()[pair.sides.index(side)].output
    return None if output is None else output.dtype


def _converted(kind: torch.dtype, side: Side) -> Side:
    table = None if side.table is None else side.table.to(kind)
    return replace(side, table=table, bias=None if side.bias is None else side.bias.to(kind))
