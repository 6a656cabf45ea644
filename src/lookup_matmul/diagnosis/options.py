"""Causes that the options and the input tell."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from operator import methodcaller
from typing import Any, NamedTuple

import torch

from lookup_matmul.diagnosis.case import Case, Remedy, Side, renormalize
from lookup_matmul.diagnosis.patterns import list_suspects
from lookup_matmul.diagnosis.report import format_rows
from lookup_matmul.equality import bits_differ

RENORMALIZATIONS = 8  # after these, rounding leaves no row longer than max_norm


class Option(NamedTuple):
    """A field of a side, and what is to say and to do if it has another than the plain value."""

    cause: str
    name: str
    plain_value: Any
    evidence: str  # with the fields of the side and of the case
    advice: str
    condition: str = "sides"  # a property of Case that is false if the input does not use the field


OUTPUT_OPTIONS = (
    Option("offsets", "include_last_offset", True,
           "the last of the {case.bags.offsets.shape[0]} offsets is the end, taken for one more "
           "row by {side.label}",
           "make the layer with include_last_offset=True, or call it with offsets[:-1]",
           "by_offsets"),
    Option("mode", "mode", "sum", "{side.label} has mode={side.mode!r}, which takes no values",
           "make the layer with mode='sum'; torch's default is 'mean'", "has_values"),
    Option("mode", "mode", "sum", "{side.label} has mode={side.mode!r}",
           "make the layer with mode='sum'; torch's default is 'mean'", "has_plain_bags"),
    Option("values ignored", "uses_values", True,
           "{side.label} adds up rows without the values, which it has no place for",
           "multiply by the values: EmbeddingBag(..., mode='sum') with per_sample_weights=data",
           "has_values"),
    Option("padding_idx", "skips_padding", False,
           "{side.label} leaves out every entry with the id {side.padding_idx}",
           "make the EmbeddingBag without padding_idx, or leave these entries out of both"),
    Option("reduced matmul precision", "may_shorten", False,
           "the product of {side.label} uses the weights shortened, not in {side.table.dtype}",
           "torch.set_float32_matmul_precision('highest'), or a wider dtype"),
)  # fmt: skip
GRADIENT_OPTIONS = (
    Option("frozen", "requires_grad", True, "no gradient reaches {side.label}",
           "call weight.requires_grad_(), or make the layer with "
           "from_pretrained(..., freeze=False)"),
    Option("padding_idx", "padding_idx", None,
           "no gradient reaches row {side.padding_idx} of {side.label}",
           "make the layer without padding_idx, or zero the row's gradient in both"),
    Option("scale_grad_by_freq", "scale_grad_by_freq", False,
           "the gradient of a row is divided by how often its id comes in {side.label}",
           "make the layer with scale_grad_by_freq=False"),
    Option("sparse gradient", "sparse", False,
           "only the rows that were read are in the gradient of {side.label}",
           "make the layer with sparse=False, or call weight.grad.to_dense() before you compare"),
)  # fmt: skip


def _set_options(options: Iterable[Option], case: Case) -> Iterator[Remedy]:
    for option in options:
        sides = [side for side in case.sides if getattr(side, option.name) != option.plain_value]
        if sides and getattr(case, option.condition):
            evidence = " and ".join(option.evidence.format(case=case, side=side) for side in sides)
            change = methodcaller("change_both", **{option.name: option.plain_value})
            yield Remedy(option.cause, option.advice, evidence, change)


output_options = partial(_set_options, OUTPUT_OPTIONS)
gradient_options = partial(_set_options, GRADIENT_OPTIONS)


def out_of_range_ids(case: Case) -> Iterator[Remedy]:
    invalid = case.out_of_range(case.shared_size)

    def drop_rows(case: Case) -> Case:
        mask = torch.ones_like(case.bags.offsets[:-1], dtype=torch.bool)
        mask[case.bag_indices[invalid]] = False
        return case.select(mask) if mask.any() else case

    if invalid.any():
        sizes = " and ".join(f"{len(side.whole)} in {side.label}" for side in case.with_table)
        evidence = (
            f"{int(invalid.sum())} of {invalid.numel()} ids have no row, the first is "
            f"{int(case.bags.ids[invalid][0])}; the numbers of rows are {sizes}"
        )
        advice = "correct these ids or mask them, or give both tables a row for each id"
        if case.products:
            advice += "; of a head, pass the weight"
        yield Remedy("ids out of range", advice, evidence, drop_rows)


def row_width(case: Case) -> Iterator[Remedy]:
    if case.width is not None and any(len(side.whole) != case.width for side in case.products):
        sizes = ", ".join(f"{side.label} takes {len(side.whole)}" for side in case.products)
        evidence = f"the rows have {case.width} columns, {sizes}"
        code = "F.one_hot(ids, num_classes=len(table))"
        advice = f"write the rows as wide as the table is long: {code}"
        yield Remedy("width of the rows", advice, evidence, lambda case: replace(case, width=None))


def dtype(case: Case) -> Iterator[Remedy]:
    a, b = (s.table if s.function is None else case.run(s).output for s in case.sides)
    if a is None or b is None or a.dtype == b.dtype:
        return
    shorter, longer = sorted((a, b), key=lambda tensor: -torch.finfo(tensor.dtype).eps)
    # Numbers that fit into the shorter dtype were probably converted from it.
    is_exact = not bits_differ(longer, longer.to(shorter.dtype).to(longer.dtype)).any()
    dtype = longer.dtype if is_exact else shorter.dtype
    if case.callables:
        dtype = a.dtype if case.a.function else b.dtype  # that of a function stays

    def convert(case: Case) -> Case:
        for side in case.with_table:
            bias = None if side.bias is None else side.bias.to(dtype)
            case = case.change(side.name, table=side.table.to(dtype), bias=bias)
        return case

    evidence = f"{case.a.label} is {a.dtype}, {case.b.label} is {b.dtype}"
    yield Remedy("dtype", f"compute both in {dtype}, with .to({dtype})", evidence, convert)


def bias(case: Case) -> Iterator[Remedy]:
    biases = [(side, side.bias) for side in case.sides if side.bias is not None]
    if len(biases) == 2:
        yield from _copy_bias(*(bias for _, bias in biases))
        return
    for side, bias in biases:
        other, alternative = case.opposite(side), "add the same to the output of the other"
        if other.kind in ("Embedding", "table") and not case.has_bags:
            alternative = f"look up in {other.table_code} + {side.name}.bias"
        evidence = f"{side.label} adds a bias of up to {float(bias.double().abs().max()):.3g}"
        advice = f"leave the bias out with bias=False, or {alternative}"
        yield Remedy("bias", advice, evidence, methodcaller("change", side.name, bias=None))


def _copy_bias(a: torch.Tensor, b: torch.Tensor) -> Iterator[Remedy]:
    if a.shape != b.shape or not (differs := bits_differ(a, b.to(a.dtype))).any():
        return
    evidence = f"{int(differs.sum())} of {len(a)} numbers of the biases differ"
    if moved := int(torch.isin(b[differs], a).sum()):
        evidence += f", and {moved} of those in b are elsewhere in a"
    advice = "copy the bias: with torch.no_grad(): b.bias.copy_(a.bias)"
    yield Remedy("bias", advice, evidence, methodcaller("change", "b", bias=a))


def padding_row(case: Case) -> Iterator[Remedy]:
    for side in case.with_table:
        opposite = case.opposite(side)
        mask = torch.zeros_like(side.table, dtype=torch.bool)
        if side.padding_idx is not None:
            mask[side.locate(side.rows.new_tensor(side.padding_idx))] = True
        if mask.any() and not side.table[mask].any():
            row = side.padding_idx
            evidence = f"row {row}, the padding row of {side.label}, is zero there and not in "
            advice = f"zero row {row} of the table of {opposite.name}, too"
            if opposite.kind == "Linear":
                advice += f", which is column {row} of its weight"
            change = methodcaller("write_zeros", [mask for _ in case.with_table])
            yield Remedy("padding_idx", advice, evidence + opposite.name, change)


def options_of_functions(case: Case) -> Iterator[Remedy]:
    """Yield options that a function may have and the table has not, for input that uses them."""
    for side in case.with_table if case.has_bags or case.has_values else ():
        change, function = partial(methodcaller, "change", side.name), case.opposite(side).label
        if case.has_values:
            evidence = f"{function} takes each value for 1, as {side.label} would without values"
            advice = "pass the values to both"
            yield Remedy("values ignored", advice, evidence, change(uses_values=False))
            continue
        evidence = f"{function} takes the mean of each bag, {side.label} does not"
        yield Remedy("mode", "take the mean in both", evidence, change(mode="mean"))
        for id_ in [] if side.skips_padding else list_suspects(case):
            evidence = f"{function} leaves out the id {id_}, which all bags that differ hold"
            advice = f"leave {id_} out of both, as EmbeddingBag(..., padding_idx={id_}) does"
            options = {"padding_idx": id_, "skips_padding": True}
            yield Remedy("padding_idx", advice, evidence, change(**options))


def max_norm(case: Case) -> Iterator[Remedy]:
    for side in case.sides:
        if side.max_norm is None:
            continue
        limit = f"max_norm={side.max_norm:g}"
        rtol = 8 * torch.finfo(side.table.dtype).eps
        is_kept = torch.isclose(renormalize(case, side), side.table, rtol, 1e-6, equal_nan=True)
        lengths = side.table[case.find_positions(side)].double().norm(side.norm_type, 1)
        if not is_kept.all():
            rows = format_rows(side.list_rows(~is_kept))
            evidence = f"{side.label} has {limit} and rewrites {rows}"
            advice = "read without max_norm (max_norm=None)"
            yield Remedy("max_norm", advice, evidence, methodcaller("change_both", max_norm=None))
        elif (lengths > 0.99 * side.max_norm).any():  # torch shortens rows a little further
            evidence = f"{side.label} has {limit} and shortened rows when it read before"
            advice = f"shorten the rows of the other in the same way, to {limit}"
            yield Remedy("max_norm", advice, evidence, partial(_shorten_rows, side))


def _shorten_rows(limited: Side, case: Case) -> Case:
    case = case.change_both(max_norm=limited.max_norm, norm_type=limited.norm_type)
    for _ in range(RENORMALIZATIONS):
        for side in case.with_table:
            case = case.change(side.name, table=renormalize(case, side))
    return case.change_both(max_norm=None)


def autocast(case: Case) -> Iterator[Remedy]:
    if case.autocast is not None:
        context = f"torch.autocast({case.bags.ids.device.type!r}"
        names = " and ".join(side.name for side in case.products or case.callables) or "both"
        advice = f"compute {names} under {context}, enabled=False)"
        evidence = f"{context}) computes products in {case.autocast}, and lookups not"
        yield Remedy("autocast", advice, evidence, lambda case: replace(case, autocast=None))
