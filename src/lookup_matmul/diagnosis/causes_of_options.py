"""Causes in the input and in the options of a layer."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from lookup_matmul.diagnosis.layers import Side, format_rows
from lookup_matmul.diagnosis.run import Pair, renormalize
from lookup_matmul.diagnosis.search import Remedy, change_both, set_options
from lookup_matmul.equality import bits_differ

RENORMALIZATIONS = 8  # after these, rounding leaves no row longer than max_norm


def out_of_range_ids(pair: Pair) -> Iterator[Remedy]:
    if not pair.with_table or not _find_invalid(pair).any():
        return

    def drop_rows(pair: Pair) -> Pair:
        mask = torch.ones_like(pair.batch.bags.offsets[:-1], dtype=torch.bool)
        mask[pair.batch.bag_indices[_find_invalid(pair)]] = False
        return replace(pair, batch=pair.batch.select(mask)) if mask.any() else pair

    def describe(pair: Pair) -> str:
        ids = pair.batch.bags.ids
        invalid = ids[_find_invalid(pair)]
        sizes = " and ".join(f"{len(side.table)} in {side.label}" for side in pair.with_table)
        return (
            f"{invalid.numel()} of {ids.numel()} ids have no row, the first is {int(invalid[0])}; "
            f"the numbers of rows are {sizes}"
        )

    advice = "correct these ids or mask them, or give both tables a row for each id"
    yield Remedy("ids out of range", advice, drop_rows, describe)


def _find_invalid(pair: Pair) -> torch.Tensor:
    return pair.batch.out_of_range(min(len(side.table) for side in pair.with_table))


def row_width(pair: Pair) -> Iterator[Remedy]:
    columns = pair.batch.width
    if columns is None or all(len(side.table) == columns for side in pair.products):
        return
    sizes = ", ".join(f"{side.label} takes {len(side.table)}" for side in pair.products)
    advice = "write the rows as wide as the table is long: F.one_hot(ids, num_classes=len(table))"

    def widen(pair: Pair) -> Pair:
        return replace(pair, batch=replace(pair.batch, width=None))

    evidence = f"the rows have {columns} columns, {sizes}"
    yield Remedy("width of the rows", advice, widen, evidence)


def ignored_values(pair: Pair) -> Iterator[Remedy]:
    evidence = "{0} adds up rows without the values, which it has no place for"
    advice = "multiply by the values: EmbeddingBag(..., mode='sum') with per_sample_weights=data"
    if pair.batch.bags.weights is not None:
        yield from _propose_option("values ignored", "uses_values", True, evidence, advice, pair)


def bag_mode(pair: Pair) -> Iterator[Remedy]:
    sides = [side for side in pair.sides if side.mode != "sum"]
    advice = "make the layer with mode='sum'; torch's default is 'mean'"
    evidence = " and ".join(f"{side.label} has mode={side.mode!r}" for side in sides)
    if pair.batch.bags.weights is not None:
        evidence += ", which takes no values"
    if sides and not pair.batch.is_single_ids:
        yield Remedy("mode", advice, set_options(mode="sum"), evidence)


def last_offset(pair: Pair) -> Iterator[Remedy]:
    count = pair.batch.bags.offsets.numel()
    evidence = f"the last of the {count} offsets is the end, taken for one more row by {{0}}"
    advice = "make the layer with include_last_offset=True, or call it with offsets[:-1]"
    if pair.batch.by_offsets:
        yield from _propose_option("offsets", "include_last_offset", True, evidence, advice, pair)


def bias(pair: Pair) -> Iterator[Remedy]:
    biases = [(side, side.bias) for side in pair.sides if side.bias is not None]
    if not biases:
        return
    side = biases[0][0]
    opposite, alternative = pair.opposite(side), "add the same to the output of the other"
    is_lookup = pair.batch.is_single_ids and opposite.kind in ("Embedding", "table")
    if len(biases) == 1 and is_lookup:
        alternative = f"look up in {opposite.table_code} + {side.name}.bias"
    evidence = ", ".join(
        f"{side.label} adds a bias of up to {float(bias.double().abs().max()):.3g}"
        for side, bias in biases
    )
    advice = f"leave the bias out with bias=False, or {alternative}"
    yield Remedy("bias", advice, set_options(bias=None), evidence)


def padding_row(pair: Pair) -> Iterator[Remedy]:
    sides = [side for side in pair.sides if side.padding_idx is not None]
    if bags := [side for side in sides if side.kind == "EmbeddingBag"]:
        evidence = ", ".join(
            f"{side.label} leaves out every entry with the id {side.padding_idx}" for side in bags
        )
        advice = "make the EmbeddingBag without padding_idx, or leave these entries out of both"
        count_padding = change_both(
            lambda s: replace(s, padding_idx=None) if s.kind == "EmbeddingBag" else s
        )
        yield Remedy("padding_idx", advice, count_padding, evidence)
    for side in sides:
        row, opposite = side.padding_idx, pair.opposite(side)
        if row is None or side.table[row].any():
            continue
        padding = f"row {row}, the padding row of {side.label},"
        evidence = f"{padding} is zero there and not in {opposite.name}"
        advice = f"zero row {row} of the table of {opposite.name}, too"
        if opposite.kind == "Linear":
            advice += f", which is column {row} of its weight"
        zero_row = change_both(partial(_zero_row, row))
        yield Remedy("padding_idx", advice, zero_row, evidence)


def _zero_row(row: int, side: Side) -> Side:
    if side.stored_table is None or row >= len(side.table):
        return side
    index = torch.tensor([row], device=side.table.device)
    return replace(side, stored_table=side.table.index_fill(0, index, 0.0))


def max_norm(pair: Pair) -> Iterator[Remedy]:
    sides = [side for side in pair.sides if side.max_norm is not None]
    if not sides:
        return
    side = sides[0]
    advice = f"shorten the rows of the other in the same way, to max_norm={side.max_norm:g}"
    evidence = f"{side.label} has max_norm={side.max_norm:g} and shortened rows when it read before"
    no_limit, describe = set_options(max_norm=None), partial(_describe_renormalization, sides)
    yield Remedy("max_norm", "read without max_norm (max_norm=None)", no_limit, describe)
    yield Remedy("max_norm", advice, partial(_renormalize_both, side), evidence)


def _describe_renormalization(sides: list[Side], pair: Pair) -> str:
    texts = []
    for side in sides:
        changed = bits_differ(renormalize(side, pair.batch), side.table).any(1).nonzero()
        rows = format_rows(changed.flatten().tolist()) if len(changed) else "no row"
        texts.append(f"{side.label} has max_norm={side.max_norm:g} and rewrites {rows}")
    return "; ".join(texts)


def _renormalize_both(limited: Side, pair: Pair) -> Pair:
    """Rescale the rows of both sides, unless reading would still change those of ``limited``."""

    def shorten_rows(side: Side) -> Side:
        if side.stored_table is None:
            return side
        side = replace(side, max_norm=limited.max_norm, norm_type=limited.norm_type)
        for _ in range(RENORMALIZATIONS):
            side = replace(side, stored_table=renormalize(side, pair.batch))
        return replace(side, max_norm=None)

    side: Side = getattr(pair, limited.name)
    rows = pair.batch.bags.ids[~pair.batch.out_of_range(len(side.table))]
    before, after = side.table[rows], renormalize(side, pair.batch)[rows]
    rtol = 8 * torch.finfo(side.table.dtype).eps
    is_settled = torch.allclose(after, before, rtol, 1e-6, equal_nan=True)
    return change_both(shorten_rows)(pair) if is_settled else pair


def _propose_option(
    name: str, option: str, value: Any, evidence: str, advice: str, pair: Pair
) -> Iterator[Remedy]:
    """Propose a value for an option where a side has another one."""
    sides = [side for side in pair.sides if getattr(side, option) != value]
    rows = " and ".join(str(side.padding_idx) for side in sides)
    labels = " and ".join(side.label for side in sides)
    if sides:
        yield Remedy(name, advice, set_options(**{option: value}), evidence.format(labels, rows))


# Name, option and its value without an effect, evidence, and advice.
GRADIENT_OPTIONS = (
    ("frozen", "requires_grad", True, "no gradient reaches {0}",
     "call weight.requires_grad_(), or make the layer with from_pretrained(..., freeze=False)"),
    ("padding_idx", "padding_idx", None, "no gradient reaches row {1} of {0}",
     "make the layer without padding_idx, or zero the row's gradient in both"),
    ("scale_grad_by_freq", "scale_grad_by_freq", False,
     "the gradient of a row is divided by how often its id comes in {0}",
     "make the layer with scale_grad_by_freq=False"),
    ("sparse gradient", "sparse", False, "only the rows that were read are in the gradient of {0}",
     "make the layer with sparse=False, or call weight.grad.to_dense() before you compare"),
)  # fmt: skip
GRADIENT_CAUSES = [partial(_propose_option, *option) for option in GRADIENT_OPTIONS]
