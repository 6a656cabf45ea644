"""Causes in single numbers and in their formats, which products and copies treat differently."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch

from lookup_matmul.diagnosis.layers import Side, format_rows
from lookup_matmul.diagnosis.run import Pair
from lookup_matmul.diagnosis.search import Remedy, change_both, set_options
from lookup_matmul.equality import bits_of


def dtype(pair: Pair) -> list[Remedy]:
    """Propose to convert both tables to the dtype of one of the sides."""
    dtypes = {}
    for side in pair.sides:
        output = pair.outcome(side).output if side.stored_table is None else side.table
        dtypes[side.label] = None if output is None else output.dtype
    candidates = [dtype for dtype in reversed(dtypes.values()) if dtype is not None]
    if len(set(candidates)) < 2:
        return []
    evidence = ", ".join(f"{label} is {dtype}" for label, dtype in dtypes.items())
    return [
        Remedy(
            "dtype",
            f"compute both in {dtype}, with .to({dtype})",
            change_both(partial(_convert, dtype)),
            evidence,
        )
        for dtype in candidates
    ]


def _convert(dtype: torch.dtype, side: Side) -> Side:
    table = None if side.stored_table is None else side.table.to(dtype)
    return replace(
        side, stored_table=table, bias=None if side.bias is None else side.bias.to(dtype)
    )


def autocast(pair: Pair) -> list[Remedy]:
    """Propose to turn autocast off."""
    if pair.autocast is None:
        return []
    device = pair.batch.bags.ids.device.type
    evidence = f"torch.autocast({device!r}) computes products in {pair.autocast}, and lookups not"
    names = " and ".join(side.name for side in pair.products or pair.callables) or "both"
    advice = f"compute {names} under torch.autocast({device!r}, enabled=False)"
    return [Remedy("autocast", advice, lambda pair: replace(pair, autocast=None), evidence)]


def _zero_numbers(
    name: str,
    advice: str,
    description: str,
    find: Callable[[torch.Tensor], torch.Tensor],
    pair: Pair,
) -> list[Remedy]:
    """Propose zeros for such numbers in both tables, or to compute as an opposite callable does."""
    if not any(find(side.table).any() for side in pair.with_table):
        return []
    if name != "negative zero" and not pair.products and not pair.callables:
        return []  # two lookups copy such numbers; only a sum loses the sign of a zero

    def zero(pair: Pair) -> Pair:
        masks = [find(side.table) for side in pair.with_table]
        if len(masks) == 2 and masks[0].shape == masks[1].shape:
            masks = [masks[0] | masks[1]] * 2
        for side, mask in zip(pair.with_table, masks, strict=True):
            pair = pair.with_side(replace(side, stored_table=side.table.masked_fill(mask, 0.0)))
        return pair

    def describe(pair: Pair) -> str:
        rows = {s.label: find(s.table).any(1).nonzero().flatten().tolist() for s in pair.with_table}
        texts = [f"{format_rows(rows)} of {label}" for label, rows in rows.items() if rows]
        verb = "holds" if sum(map(len, rows.values())) == 1 else "hold"
        return f"{' and '.join(texts)} {verb} {description}"

    remedies = [Remedy(name, advice, zero, describe)]
    if pair.callables:
        remedies.append(Remedy(name, advice, change_both(_swap_form), describe))
    return remedies


def _swap_form(side: Side) -> Side:
    """Multiply instead of looking up, or look up instead of multiplying."""
    if side.stored_table is None:
        return side
    return replace(side, kind="table" if side.kind == "Linear" else "Linear")


def _is_subnormal(table: torch.Tensor) -> torch.Tensor:
    # Compare bits, since the processor may treat subnormal numbers as zero in comparisons, too.
    magnitude = bits_of(table) & torch.iinfo(bits_of(table).dtype).max
    smallest = torch.finfo(table.dtype).smallest_normal
    smallest_normal = torch.full((), smallest, dtype=table.dtype, device="cpu")
    return (magnitude > 0) & (magnitude < bits_of(smallest_normal).item())


not_finite = partial(
    _zero_numbers,
    "NaN or infinity",
    "repair these rows, tried here with zeros, or look up instead of multiplying",
    "NaN or infinity, and zero times these is NaN in a product",
    lambda table: ~table.isfinite(),
)
negative_zero = partial(
    _zero_numbers,
    "negative zero",
    "add 0.0 to the table, which makes every -0 a +0, or compare values, not bits",
    "-0, whose sign a sum can lose and a copy keeps",
    lambda table: (table == 0) & table.signbit(),
)
subnormal = partial(
    _zero_numbers,
    "subnormal numbers",
    "torch.set_flush_denormal(False), or round such numbers to zero in the table",
    "subnormal numbers, which the product takes for zero and a copy keeps",
    _is_subnormal,
)


def matmul_precision(pair: Pair) -> list[Remedy]:
    """Propose to multiply in float64 and to round once."""
    if all(side.table.dtype == torch.float64 for side in pair.products):
        return []
    side = pair.products[0]
    evidence = f"the product of {side.label} uses the weights shortened, not in {side.table.dtype}"
    advice = "torch.set_float32_matmul_precision('highest'), or a wider dtype"
    return [Remedy("reduced matmul precision", advice, set_options(in_float64=True), evidence)]
