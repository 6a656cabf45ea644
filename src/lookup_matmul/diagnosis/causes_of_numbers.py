"""Causes in the numbers of a table: their dtype, special values, precision and scale."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import log10

import torch

from lookup_matmul.diagnosis.layers import Side, format_rows
from lookup_matmul.diagnosis.run import Pair
from lookup_matmul.diagnosis.search import Remedy, change_both, set_options
from lookup_matmul.equality import view_bits


def dtype(pair: Pair) -> Iterator[Remedy]:
    outputs = [pair.outcome(s).output if s.stored_table is None else s.table for s in pair.sides]
    dtypes = [output.dtype for output in outputs if output is not None]
    if len(set(dtypes)) < 2:
        return
    evidence = f"{pair.a.label} is {dtypes[0]}, {pair.b.label} is {dtypes[1]}"
    for dtype in reversed(dtypes):
        advice = f"compute both in {dtype}, with .to({dtype})"
        yield Remedy("dtype", advice, change_both(partial(_convert, dtype)), evidence)


def _convert(dtype: torch.dtype, side: Side) -> Side:
    table = None if side.stored_table is None else side.table.to(dtype)
    bias = None if side.bias is None else side.bias.to(dtype)
    return replace(side, stored_table=table, bias=bias)


def autocast(pair: Pair) -> Iterator[Remedy]:
    context = f"torch.autocast({pair.batch.bags.ids.device.type!r}"
    names = " and ".join(side.name for side in pair.products or pair.callables) or "both"
    advice = f"compute {names} under {context}, enabled=False)"
    evidence = f"{context}) computes products in {pair.autocast}, and lookups not"
    if pair.autocast is not None:
        yield Remedy("autocast", advice, lambda pair: replace(pair, autocast=None), evidence)


def _propose_zeros(
    name: str,
    advice: str,
    description: str,
    find: Callable[[torch.Tensor], torch.Tensor],
    pair: Pair,
) -> Iterator[Remedy]:
    """Propose zeros for such numbers in both tables, or to compute as an opposite callable does."""
    if not any(find(side.table).any() for side in pair.with_table):
        return
    if name != "negative zero" and not pair.products and not pair.callables:
        return  # two lookups copy such numbers; only a sum loses the sign of a zero

    def zero(pair: Pair) -> Pair:
        masks = [find(side.table) for side in pair.with_table]
        if len(masks) == 2 and masks[0].shape == masks[1].shape:
            masks = [masks[0] | masks[1]] * 2
        for side, mask in zip(pair.with_table, masks, strict=True):
            pair = pair.change(side.name, stored_table=side.table.masked_fill(mask, 0.0))
        return pair

    def describe(pair: Pair) -> str:
        rows = {s.label: find(s.table).any(1).nonzero().flatten().tolist() for s in pair.with_table}
        texts = [f"{format_rows(rows)} of {label}" for label, rows in rows.items() if rows]
        verb = "holds" if sum(map(len, rows.values())) == 1 else "hold"
        return f"{' and '.join(texts)} {verb} {description}"

    yield Remedy(name, advice, zero, describe)
    if pair.callables:
        yield Remedy(name, advice, change_both(_swap_form), describe)


def _swap_form(side: Side) -> Side:
    """Multiply instead of looking up, or look up instead of multiplying."""
    if side.stored_table is None:
        return side
    return replace(side, kind="table" if side.kind == "Linear" else "Linear")


def _is_subnormal(table: torch.Tensor) -> torch.Tensor:
    # Compare bits, since the processor may treat subnormal numbers as zero in comparisons, too.
    magnitude = view_bits(table) & torch.iinfo(view_bits(table).dtype).max
    smallest = torch.finfo(table.dtype).smallest_normal
    smallest_normal = torch.full((), smallest, dtype=table.dtype, device="cpu")
    return (magnitude > 0) & (magnitude < view_bits(smallest_normal).item())


# Name, advice, description, and where a table has such numbers.
SPECIAL_NUMBERS = (
    ("NaN or infinity",
     "repair these rows, tried here with zeros, or look up instead of multiplying",
     "NaN or infinity, and zero times these is NaN in a product", lambda table: ~table.isfinite()),
    ("negative zero",
     "add 0.0 to the table, which makes every -0 a +0, or compare values, not bits",
     "-0, whose sign a sum can lose and a copy keeps", lambda t: (t == 0) & t.signbit()),
    ("subnormal numbers",
     "torch.set_flush_denormal(False), or round such numbers to zero in the table",
     "subnormal numbers, which the product takes for zero and a copy keeps", _is_subnormal),
)  # fmt: skip
not_finite, negative_zero, subnormal = (partial(_propose_zeros, *row) for row in SPECIAL_NUMBERS)


def matmul_precision(pair: Pair) -> Iterator[Remedy]:
    short = [side for side in pair.products if side.table.dtype != torch.float64]
    if not short:
        return
    side = short[0]
    evidence = f"the product of {side.label} uses the weights shortened, not in {side.table.dtype}"
    advice = "torch.set_float32_matmul_precision('highest'), or a wider dtype"
    yield Remedy("reduced matmul precision", advice, set_options(in_float64=True), evidence)


def row_scale(pair: Pair) -> Iterator[Remedy]:
    if pair.callables:
        return

    def rescale(pair: Pair) -> Pair:
        ids, factors, evidence = _find_factors(pair)
        if not evidence:
            return pair
        table, error = pair.a.table.clone(), _bound_scaling_error(pair)
        table[ids] = (table[ids].double() * factors).to(table.dtype)
        return pair.change("a", stored_table=table, relative_error=error)

    advice = "multiply or normalize the rows of both in the same way, or of none"
    yield Remedy("scaled rows", advice, rescale, lambda pair: _find_factors(pair)[2], True)


def _bound_scaling_error(pair: Pair) -> float:
    """Bound the relative error of a number that was multiplied or divided."""
    return 4 * max(torch.finfo(side.table.dtype).eps for side in pair.sides)


def _find_factors(pair: Pair) -> tuple[torch.Tensor, torch.Tensor, str]:
    """Return the rows that are read, their factors from a to b, and the evidence, if any."""
    (a, b), error = pair.sides, _bound_scaling_error(pair)
    valid = ~pair.batch.out_of_range(min(len(a.table), len(b.table)))
    ids = torch.unique(pair.batch.bags.ids[valid])
    if a.table.shape[1] != b.table.shape[1]:
        return ids, ids, ""
    x, y = (side.table[ids].double().nan_to_num(0.0, 0.0, 0.0) for side in pair.sides)
    factors = ((x * y).sum(1, True) / (x * x).sum(1, True)).nan_to_num(1.0)
    # A number fits by chance with a probability of about the error, and one row always fits.
    free_numbers = min(len(torch.unique(rows[rows != 0].abs())) for rows in (x, y)) - 1
    nonzero = x.any(1)
    is_multiple = ((x * factors - y).abs() <= error * y.abs()).all()
    if not is_multiple or error**free_numbers > 1e-12 or nonzero.sum() < 2:
        return ids, factors, ""
    factor, root = float(factors[nonzero][0]), x.shape[1] ** 0.5
    lengths = [rows[nonzero].norm(dim=1) for rows in (x, y)]
    evidence = ""
    if _are_equal(factors[nonzero], error) and abs(factor - 1) > error:
        evidence = f"{b.label} holds {format_factor(factor, error)} times the numbers of {a.label}"
        for number, name in ((root, "the square root"), (1 / root, "one over the square root")):
            if abs(factor - number) <= error * number:
                evidence += f", which is {name} of the embedding dimension"
    elif any(_are_equal(length, error) for length in lengths):
        limits = [(f"{float(n.min()):.3g}", f"{float(n.max()):.3g}") for n in lengths]
        ranges = [" to ".join(dict.fromkeys(pair)) for pair in limits]
        evidence = f"the lengths are {ranges[0]} in {a.label} and {ranges[1]} in {b.label}"
    return ids, factors, evidence and f"in the rows that were read, {evidence}"


def _are_equal(numbers: torch.Tensor, error: float) -> bool:
    return bool(numbers.max() - numbers.min() <= error * numbers.abs().max())


def format_factor(number: float, error: float) -> str:
    """Format a number with the digits that its relative error leaves it, at most six."""
    return f"{number:.{min(6, int(-log10(error)))}g}"
