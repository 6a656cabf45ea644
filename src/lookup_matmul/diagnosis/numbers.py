"""Causes that the numbers tell in the rows that were read: special ones, and a scale."""

from collections.abc import Iterator
from dataclasses import replace
from math import log10
from operator import methodcaller

import torch

from lookup_matmul.diagnosis.case import Case, Remedy
from lookup_matmul.diagnosis.report import format_rows
from lookup_matmul.equality import view_bits

RANK_SAMPLE = 128  # so many rows and columns show ranks up to 32
# The cause, what such numbers do, and what to do.
NOT_FINITE = (
    "NaN or infinity",
    "NaN or infinity, and zero times these is NaN in a product",
    "repair these rows, tried here with zeros, or look up instead of multiplying",
)
NEGATIVE_ZERO = (
    "negative zero",
    "-0, whose sign a sum can lose and a copy keeps",
    "add 0.0 to the table, which makes every -0 a +0, or compare values, not bits",
)
SUBNORMAL = (
    "subnormal numbers",
    "subnormal numbers, which the product takes for zero and a copy keeps",
    "torch.set_flush_denormal(False), or round such numbers to zero in the table",
)


def special_numbers(case: Case) -> Iterator[Remedy]:
    tables = [side.table for side in case.with_table]
    if case.products or case.callables:  # two lookups copy such numbers
        masks = [~table.isfinite() for table in tables]
        # Where one table is not finite, the number of the other has nothing to agree with.
        yield from _zero_numbers(case, masks, [masks[0] | masks[-1] for _ in masks], NOT_FINITE)
        masks = [_is_subnormal(table) for table in tables]
        yield from _zero_numbers(case, masks, masks, SUBNORMAL)
    masks = [(table == 0) & table.signbit() for table in tables]
    yield from _zero_numbers(case, masks, masks, NEGATIVE_ZERO)


def _zero_numbers(
    case: Case, masks: list[torch.Tensor], targets: list[torch.Tensor], texts: tuple[str, str, str]
) -> Iterator[Remedy]:
    """Propose to write zeros at the targets, if a mask is true anywhere."""
    cause, description, advice = texts
    sides = zip(case.with_table, masks, strict=True)
    rows = {side.label: side.list_rows(mask) for side, mask in sides if mask.any()}
    if rows:
        places = " and ".join(f"{format_rows(numbers)} of {name}" for name, numbers in rows.items())
        verb = "holds" if sum(map(len, rows.values())) == 1 else "hold"
        evidence = f"{places} {verb} {description}"
        yield Remedy(cause, advice, evidence, methodcaller("write_zeros", targets))


def _is_subnormal(table: torch.Tensor) -> torch.Tensor:
    # Compare bits, since the processor may treat subnormal numbers as zero in comparisons, too.
    magnitude = view_bits(table) & torch.iinfo(view_bits(table).dtype).max
    smallest = torch.finfo(table.dtype).smallest_normal
    smallest_normal = torch.full((), smallest, dtype=table.dtype, device="cpu")
    return (magnitude > 0) & (magnitude < view_bits(smallest_normal).item())


def other_form(case: Case) -> Iterator[Remedy]:
    """Compute as an opposite function may do: multiply instead of looking up, or look up."""

    def swap(case: Case) -> Case:
        for side in case.with_table:
            case = case.change(side.name, kind="table" if side.kind == "Linear" else "Linear")
        return case

    for remedy in special_numbers(case):
        yield replace(remedy, change=swap)
        return


def row_scale(case: Case) -> Iterator[Remedy]:
    error = 4 * max(torch.finfo(side.table.dtype).eps for side in case.sides)
    positions = torch.unique(case.find_positions(case.a))
    x, y = (side.table[positions].double().nan_to_num(0.0, 0.0, 0.0) for side in case.sides)
    factors = ((x * y).sum(1, True) / (x * x).sum(1, True)).nan_to_num(1.0)
    # A number fits by chance with a probability of about the error, and one row always fits.
    free_numbers = min(len(torch.unique(rows[rows != 0].abs())) for rows in (x, y)) - 1
    has_numbers = x.any(1)
    is_multiple = ((x * factors - y).abs() <= error * y.abs()).all()
    if not is_multiple or error**free_numbers > 1e-12 or has_numbers.sum() < 2:
        return

    def rescale(case: Case) -> Case:
        table = case.a.table.clone()
        table[positions] = (table[positions].double() * factors).to(table.dtype)
        return case.change("a", table=table, relative_error=error)

    labels = [side.label for side in case.sides]
    lengths = [rows[has_numbers].norm(dim=1) for rows in (x, y)]
    relation = ""
    if _are_equal(factors[has_numbers], error):
        relation = _describe_factor(float(factors[has_numbers][0]), x.shape[1], error, *labels)
    elif any(_are_equal(length, error) for length in lengths):
        limits = [(f"{float(n.min()):.3g}", f"{float(n.max()):.3g}") for n in lengths]
        ranges = [" to ".join(dict.fromkeys(pair)) for pair in limits]
        relation = f"the lengths are {ranges[0]} in {labels[0]} and {ranges[1]} in {labels[1]}"
    if relation:
        advice = "multiply or normalize the rows of both in the same way, or of none"
        evidence = f"in the rows that were read, {relation}"
        yield Remedy("scaled rows", advice, evidence, rescale)


def _describe_factor(factor: float, dim: int, error: float, a: str, b: str) -> str:
    """Describe a factor from the rows of a to those of b, or return "" if it is 1."""
    if abs(factor - 1) <= error:
        return ""
    relation = f"{b} holds {format_factor(factor, error)} times the numbers of {a}"
    root = dim**0.5
    for number, name in ((root, "the square root"), (1 / root, "one over the square root")):
        if abs(factor - number) <= error * number:
            relation += f", which is {name} of the embedding dimension"
    return relation


def _are_equal(numbers: torch.Tensor, error: float) -> bool:
    return bool(numbers.max() - numbers.min() <= error * numbers.abs().max())


def describe_rank(a: torch.Tensor, b: torch.Tensor, eps: float) -> str:
    """Describe a difference of low rank from some of the rows and columns that differ."""
    gap, size = b.double() - a.double(), torch.maximum(a.abs(), b.abs()).double()
    differs = gap.abs() > 16 * eps * size
    sample = gap[differs.any(1)][:RANK_SAMPLE, differs.any(0)][:, :RANK_SAMPLE]
    if not sample.numel() or not sample.isfinite().all():
        return ""
    sample = torch.unique(sample, dim=0)  # a row that is repeated tells nothing
    sample = sample - sample[0]  # nor one that is added to all, such as a bias
    rounding = 16 * eps * float(size.max()) * sample.numel() ** 0.5
    rank = int((torch.linalg.svdvals(sample) > rounding).sum())
    if not 0 < 4 * rank <= min(sample.shape):
        return ""
    return f"b minus a has rank {rank}, as where one side has an adapter such as LoRA"


def format_factor(number: float, error: float) -> str:
    """Format a number with the digits that its relative error leaves it, at most six."""
    return f"{number:.{min(6, int(-log10(error)))}g}"
