"""Causes that lie in what the layers are given: ids, widths, values, offsets, and the mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from lookup_matmul.diagnosis.causes_of_layers import on_both, with_tables
from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.runs import Pair
from lookup_matmul.diagnosis.search import Remedy


def outside(pair: Pair) -> list[Remedy]:
    """Leave out the rows with an id that a table has no row for."""
    if not with_tables(pair) or not _outside(pair).any():
        return []

    def leave_out(pair: Pair) -> Pair:
        ids, offsets, _ = pair.feed.bags
        owners = torch.arange(offsets.numel() - 1, device=ids.device)
        owners = owners.repeat_interleave(offsets.diff(), output_size=ids.numel())
        kept = torch.ones_like(offsets[:-1], dtype=torch.bool)
        kept[owners[_outside(pair)]] = False
        return replace(pair, feed=pair.feed.keep(kept)) if kept.any() else pair

    def seen(pair: Pair) -> str:
        out = pair.feed.bags.ids[_outside(pair)]
        sizes = " and ".join(f"{len(s.weight)} in {s.called}" for s in with_tables(pair))
        return (
            f"{out.numel()} of {pair.feed.bags.ids.numel()} ids have no row, the first is "
            f"{int(out[0])}; the numbers of rows are {sizes}"
        )

    advice = "correct these ids or mask them, or give both tables a row for each id"
    return [Remedy("ids out of range", advice, leave_out, seen)]


def _outside(pair: Pair) -> torch.Tensor:
    size = min(len(side.weight) for side in with_tables(pair))
    ids = pair.feed.bags.ids
    return (ids < 0) | (ids >= size)


def width(pair: Pair) -> list[Remedy]:
    """Write the rows as wide as the table is long."""
    columns = pair.feed.width
    products = [side for side in pair.sides if side.kind == "Linear"]
    if columns is None or all(len(s.weight) == columns for s in products):
        return []

    def seen(_: Pair) -> str:
        sizes = ", ".join(f"{side.called} takes {len(side.weight)}" for side in products)
        return f"the rows have {columns} columns, {sizes}"

    def widen(pair: Pair) -> Pair:
        return replace(pair, feed=replace(pair.feed, width=None))

    advice = "write the rows as wide as the table is long: F.one_hot(ids, num_classes=len(table))"
    return [Remedy("width of the rows", advice, widen, seen)]


def values(pair: Pair) -> list[Remedy]:
    """Use the values of the rows on both sides, or on none if one is a callable."""
    if pair.feed.bags.weights is None:
        return []
    advice = "multiply by the values: EmbeddingBag(..., mode='sum') with per_sample_weights=data"
    ignoring = [side for side in with_tables(pair) if not side.weighted]
    found: list[tuple[bool, str]] = []
    if ignoring:
        called = " and ".join(side.called for side in ignoring)
        found.append((True, f"{called} adds up rows without the values, which it has no place for"))
    if unknown := [side for side in pair.sides if side.table is None]:
        text = f"{unknown[0].called} gives what the other gives if every value is 1"
        found.append((False, text))
    return [_weighting(used, advice, text) for used, text in found]


def _weighting(used: bool, advice: str, text: str) -> Remedy:
    change = on_both(lambda side: replace(side, weighted=used))
    return Remedy("values ignored", advice, change, lambda _: text)


def mode(pair: Pair) -> list[Remedy]:
    """Add up instead of averaging, or average on both sides if one is a callable."""
    other = [s for s in pair.sides if s.kind == "EmbeddingBag" and s.mode != "sum"]
    advice = "make the layer with mode='sum'; torch's default is 'mean'"
    remedies = []
    if other:
        text = " and ".join(f"{side.called} has mode={side.mode!r}" for side in other)
        if pair.feed.bags.weights is not None:
            text += ", which takes no values"
        remedies.append(
            Remedy("mode", advice, on_both(lambda s: replace(s, mode="sum")), lambda _: text)
        )
    if unknown := [side for side in pair.sides if side.table is None]:
        text_ = f"{unknown[0].called} gives what a bag of mode='mean' gives"
        remedies.append(Remedy("mode", advice, on_both(_as_bag(mode="mean")), lambda _: text_))
    return remedies if pair.feed.by_offsets or not pair.feed.of_ids else []


def offsets(pair: Pair) -> list[Remedy]:
    """Read the last offset as the end, or as one more row on both sides."""
    taking = [s for s in pair.sides if s.kind == "EmbeddingBag" and not s.last_offset]
    unknown = [side for side in pair.sides if side.table is None]
    if not pair.feed.by_offsets or not (taking or unknown):
        return []
    advice = "make the layer with include_last_offset=True, or call it with offsets[:-1]"
    count = pair.feed.bags.offsets.numel()
    called = " and ".join(side.called for side in taking or unknown)
    text = f"the last of the {count} offsets is the end, and {called} takes it for one more row"
    change = on_both(lambda side: replace(side, last_offset=True))
    if not taking:
        change = on_both(_as_bag(last_offset=False))
    return [Remedy("offsets", advice, change, lambda _: text)]


def _as_bag(**options: Any) -> Callable[[Side], Side]:
    def change(side: Side) -> Side:
        if side.table is None:
            return side
        return replace(side, kind="EmbeddingBag", **options)

    return change
