"""Causes that lie in what is read and how: in the input, and in the options of a layer."""

from dataclasses import replace
from functools import partial

import torch

from lookup_matmul.diagnosis.layers import Side, called, named
from lookup_matmul.diagnosis.run import Pair, table_as_read
from lookup_matmul.diagnosis.search import Remedy, both, setting
from lookup_matmul.equality.assertions import bits_differ

READINGS = 8  # until rounding leaves no row longer than max_norm any more


def outside(pair: Pair) -> list[Remedy]:
    """Leave out the rows with an id that a table has no row for."""
    if not pair.tabled or not _out(pair).any():
        return []

    def leave_out(pair: Pair) -> Pair:
        kept = torch.ones_like(pair.given.bags.offsets[:-1], dtype=torch.bool)
        kept[pair.given.owners[_out(pair)]] = False
        return replace(pair, given=pair.given.keep(kept)) if kept.any() else pair

    def seen(pair: Pair) -> str:
        ids = pair.given.bags.ids
        gone = ids[_out(pair)]
        sizes = " and ".join(f"{len(side.weight)} in {side.called}" for side in pair.tabled)
        return (
            f"{gone.numel()} of {ids.numel()} ids have no row, the first is {int(gone[0])}; "
            f"the numbers of rows are {sizes}"
        )

    advice = "correct these ids or mask them, or give both tables a row for each id"
    return [Remedy("ids out of range", advice, leave_out, seen)]


def _out(pair: Pair) -> torch.Tensor:
    return pair.given.outside(min(len(side.weight) for side in pair.tabled))


def width(pair: Pair) -> list[Remedy]:
    """Write the rows as wide as the table is long."""
    columns = pair.given.width
    if columns is None or all(len(side.weight) == columns for side in pair.products):
        return []
    sizes = ", ".join(f"{side.called} takes {len(side.weight)}" for side in pair.products)
    seen = f"the rows have {columns} columns, {sizes}"

    def widen(pair: Pair) -> Pair:
        return replace(pair, given=replace(pair.given, width=None))

    advice = "write the rows as wide as the table is long: F.one_hot(ids, num_classes=len(table))"
    return [Remedy("width of the rows", advice, widen, seen)]


def values(pair: Pair) -> list[Remedy]:
    """Use the values of the rows on both sides."""
    ignoring = [side for side in pair.tabled if not side.weighted]
    if pair.given.bags.weights is None or not ignoring:
        return []
    advice = "multiply by the values: EmbeddingBag(..., mode='sum') with per_sample_weights=data"
    text = f"{called(ignoring)} adds up rows without the values, which it has no place for"
    return [Remedy("values ignored", advice, setting(weighted=True), text)]


def mode(pair: Pair) -> list[Remedy]:
    """Add up instead of averaging."""
    other = [side for side in pair.sides if side.kind == "EmbeddingBag" and side.mode != "sum"]
    if pair.given.of_ids or not other:
        return []
    advice = "make the layer with mode='sum'; torch's default is 'mean'"
    text = " and ".join(f"{side.called} has mode={side.mode!r}" for side in other)
    if pair.given.bags.weights is not None:
        text += ", which takes no values"
    return [Remedy("mode", advice, setting(mode="sum"), text)]


def offsets(pair: Pair) -> list[Remedy]:
    """Read the last offset as the end."""
    taking = [s for s in pair.sides if s.kind == "EmbeddingBag" and not s.last_offset]
    if not pair.given.by_offsets or not taking:
        return []
    advice = "make the layer with include_last_offset=True, or call it with offsets[:-1]"
    count = pair.given.bags.offsets.numel()
    text = f"the last of the {count} offsets is the end, taken for one more row by {called(taking)}"
    return [Remedy("offsets", advice, setting(last_offset=True), text)]


def bias(pair: Pair) -> list[Remedy]:
    """Leave a bias out."""
    added = [side for side in pair.sides if side.bias is not None]
    if not added:
        return []
    other, instead = pair.other(added[0]), "add the same to the output of the other"
    if len(added) == 1 and pair.given.of_ids and other.kind in ("Embedding", "table"):
        instead = f"look up in {other.code} + {added[0].name}.bias"
    advice = f"leave the bias out with bias=False, or {instead}"
    seen = ", ".join(
        f"{side.called} adds a bias of up to {float(bias.double().abs().max()):.3g}"
        for side in added
        if (bias := side.bias) is not None
    )
    return [Remedy("bias", advice, setting(bias=None), seen)]


def padding(pair: Pair) -> list[Remedy]:
    """Let an EmbeddingBag count the entries of its padding row, or zero that row in both."""
    padded = [side for side in pair.sides if side.padding_idx is not None]
    bags = [side for side in padded if side.kind == "EmbeddingBag"]
    remedies = []
    if bags:
        text = ", ".join(
            f"{side.called} leaves out every entry with the id {side.padding_idx}" for side in bags
        )
        advice = "make the EmbeddingBag without padding_idx, or leave these entries out of both"
        counted = both(lambda s: replace(s, padding_idx=None) if s.kind == "EmbeddingBag" else s)
        remedies.append(Remedy("padding_idx", advice, counted, text))
    for side in padded:
        if not side.weight[side.padding_idx].any():
            remedies.append(_zeroing(side, pair.other(side)))
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
    return Remedy("padding_idx", advice, both(zero), seen)


def max_norm(pair: Pair) -> list[Remedy]:
    """Read without max_norm, or let both sides shorten the rows that they read."""
    limited = [side for side in pair.sides if side.max_norm is not None]
    if not limited:
        return []
    first, advice = limited[0], "read without max_norm (max_norm=None)"
    same = f"shorten the rows of the other in the same way, to max_norm={first.max_norm:g}"
    before = (
        f"{first.called} has max_norm={first.max_norm:g} and shortened rows when it read before"
    )
    return [
        Remedy("max_norm", advice, setting(max_norm=None), partial(_shortening, limited)),
        Remedy("max_norm", same, partial(_shorten, first), before),
    ]


def _shortening(limited: list[Side], pair: Pair) -> str:
    texts = []
    for side in limited:
        changed = bits_differ(table_as_read(side, pair.given), side.weight).any(1).nonzero()
        rows = named(changed.flatten().tolist()) if len(changed) else "no row"
        texts.append(f"{side.called} has max_norm={side.max_norm:g} and rewrites {rows}")
    return "; ".join(texts)


def _shorten(limited: Side, pair: Pair) -> Pair:
    """Shorten rows as one side does when it reads, if its own are as short already."""

    def settled(side: Side) -> Side:
        if side.table is None:
            return side
        side = replace(side, max_norm=limited.max_norm, norm_type=limited.norm_type)
        for _ in range(READINGS):
            side = replace(side, table=table_as_read(side, pair.given))
        return replace(side, max_norm=None)

    own = pair.side(limited.name)
    rows = pair.given.bags.ids[~pair.given.outside(len(own.weight))]
    before, after = own.weight[rows], table_as_read(own, pair.given)[rows]
    slack = 8 * torch.finfo(own.weight.dtype).eps
    short = torch.allclose(after, before, slack, 1e-6, equal_nan=True)
    return both(settled)(pair) if short else pair
