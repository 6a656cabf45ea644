"""Compare two layers on one input, and find by trying why they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from lookup_matmul.diagnosis import causes_of_numbers as numbers
from lookup_matmul.diagnosis import causes_of_reading as reading
from lookup_matmul.diagnosis import causes_of_rows as rows
from lookup_matmul.diagnosis import causes_of_tables as tables
from lookup_matmul.diagnosis import gradients
from lookup_matmul.diagnosis.agree import agree, output_bound
from lookup_matmul.diagnosis.inputs import read_input
from lookup_matmul.diagnosis.layers import Layer, read_side
from lookup_matmul.diagnosis.report import BITS, MISSING, VALUE, Cause, Comparison
from lookup_matmul.diagnosis.run import Pair, call, untouched
from lookup_matmul.diagnosis.search import Judge, Remedy, Trial, applied, good, search
from lookup_matmul.sparse.bags import Rows

# From the most to the least specific: a copied table makes any two agree, so it is asked last.
CAUSES = (
    tables.layout, reading.outside, reading.width, numbers.dtype, rows.order,
    reading.offsets, reading.mode, reading.values, reading.bias, reading.padding, reading.max_norm,
    numbers.autocast, numbers.not_finite, numbers.negative_zero, numbers.subnormal,
    numbers.matmul_precision, rows.scale, tables.weights,
)  # fmt: skip


def compare(a: Layer, b: Layer, ids_or_rows: Rows, *, gradients: bool = False) -> Comparison:
    """Say how well two layers agree on an input, and if they do not, why.

    A remedy is applied to a description of the two layers, alone and with others, and its cause is
    named if they then agree and without it do not. Nothing of the caller's changes.

    Each layer is an Embedding, an EmbeddingBag, a Linear, a function around any other module, or a
    table of shape (vocabulary size, embedding dimension). A Linear gets the input as dense rows,
    the others get ids, and a function gets the input as it was passed, and is called a few times;
    what it changes by itself, such as a table with ``max_norm``, stays changed.

    The input is ids, int32 or int64, in a shape of one dimension or more, each a row of its own;
    or, for an EmbeddingBag, a bag for each row of a matrix of ids. Or it is rows: a floating tensor
    of shape (rows, columns), a CSR matrix of SciPy or torch, or (ids, offsets, weights) with the
    end as last offset. An EmbeddingBag is handed the offsets as they are, and an Embedding adds up
    the rows of the table that a row names, since it has no place for values.

    With ``gradients`` those of the tables are compared, too, once the outputs agree, for positive
    random numbers that arrive at the outputs.

    A layer or input of another kind, with a forward of its own or of a dtype that is not
    multiplied, and gradients of a function are a TypeError. Hooks on the calls or the weight of a
    layer, a computed weight or none so far, several devices or the device ``meta``, an empty input
    or one that does not fit together, and a sum of so many terms that no bound of its rounding is
    known are a ValueError.

    Notes
    -----
    Where nothing is rounded, as for ids, every bit is asked for;
    where rows are summed, the two may be off by :func:`rounding_bound`, counted for each row.
    The rows are written out for a Linear, and all is run several times: pass a small batch.
    Two causes that give the same output cannot be told apart; the more specific one is named.

    Examples
    --------
    >>> embedding, linear = torch.nn.Embedding(4, 5), torch.nn.Linear(4, 5)
    >>> report = compare(embedding, linear, torch.tensor([2, 3, 1]))
    >>> [cause.name for cause in report.causes]
    ['bias', 'weights']
    >>> report.verdict, report.after.verdict
    ('different', 'equal in every bit')
    """
    first, second = read_side("a", a), read_side("b", b)
    bagged = "EmbeddingBag" in (first.kind, second.kind)
    pair = Pair(first, second, read_input(ids_or_rows, bagged=bagged))
    device = _device(pair)
    if gradients and pair.unknown:
        raise TypeError(
            f"gradients=True with {first.called} and {second.called}, expected two with a table, "
            "which receives the gradient; pass the layer instead of a function."
        )
    if torch.is_autocast_enabled(device.type):
        pair = replace(pair, autocast=torch.get_autocast_dtype(device.type))
    with untouched(device):
        return _compare(pair, gradients)


def _device(pair: Pair) -> torch.device:
    places = {side.name: side.weight.device for side in pair.tabled}
    places["the input"] = device = pair.given.bags.ids.device
    if len(set(places.values())) > 1:
        found = ", ".join(f"{name} is on {place}" for name, place in places.items())
        raise ValueError(f"{found}; expected one device; move them with .to(...).")
    return device


def _compare(pair: Pair, with_gradients: bool) -> Comparison:
    apart = len({side.weight.shape[1] for side in pair.tabled}) > 1 and not tables.layout(pair)
    trials = () if apart or not pair.tabled else CAUSES
    outputs, mended = _explain(pair, trials, lambda p: agree(*p.outcomes(), output_bound(p)))
    found = outputs.causes
    if not found and outputs.verdict == MISSING:  # nothing is left to be tried without these ids
        found = tuple(_cause(remedy, pair, verified=False) for remedy in reading.outside(pair))
    found = _unsteady(pair) + found
    notes = _of_input(pair) + ([] if good(outputs.before) else _of_callables(pair))
    if not found or any(cause.name == "weights" for cause in found):
        notes += _patterns(pair)
    if apart:
        notes.append("the embedding dimensions differ, which no remedy fixes")
    explained = None
    if with_gradients and good(outputs.after, VALUE):
        explained = _explain(mended, gradients.CAUSES, gradients.gradients_agree)[0]
    elif with_gradients:
        notes.append("the gradients were not compared, since the outputs do not agree")
    return replace(outputs, causes=found, notes=tuple(notes), gradients=explained)


def _explain(pair: Pair, trials: Sequence[Trial], judge: Judge) -> tuple[Comparison, Pair]:
    before = judge(pair)
    if good(before):
        return Comparison(before, before), pair
    remedies, tried = search(pair, trials, judge)
    mended = applied(pair, remedies)
    found = tuple(
        _cause(remedy, applied(pair, [other for other in remedies if other is not remedy]))
        for remedy in remedies
    )
    return Comparison(before, judge(mended), found, tuple(tried)), mended


def _cause(remedy: Remedy, pair: Pair, verified: bool = True) -> Cause:
    seen = remedy.evidence if isinstance(remedy.evidence, str) else remedy.evidence(pair)
    return Cause(remedy.name, seen, remedy.advice, verified)


def _unsteady(pair: Pair) -> tuple[Cause, ...]:
    """Name callables whose second output is not the first."""
    found = []
    for side in pair.unknown:
        with pair.precision():
            again = agree(pair.outcome(side), call(side, pair.given))
        if pair.outcome(side).raised or again.verdict == BITS:
            continue
        text = f"{side.called} gives another output when called again"
        if again.differing:
            text += f", in {again.differing} of {again.total} numbers"
        advice = "make it repeatable: .eval() ends dropout, max_norm=None keeps the table"
        found.append(Cause("not repeatable", text, advice, verified=False))
    return tuple(found)


def _of_input(pair: Pair) -> list[str]:
    """Say that whole numbers are read as ids, where they look like rows."""
    passed, widths = pair.given.passed, [len(side.weight) for side in pair.tabled]
    if pair.given.by_offsets or passed.dim() < 2 or passed.shape[-1] not in widths:
        return []
    if 2 * int((passed == 0).sum()) < passed.numel():
        return []
    return [
        f"the {passed.numel()} whole numbers are read as ids; if these are rows, one-hot or of "
        f"counts, as their width of {passed.shape[-1]} suggests, pass them as .float()"
    ]


def _of_callables(pair: Pair) -> list[str]:
    """Say what was out of reach, and what a callable that raised was given."""
    notes = []
    for name, side in ((side.called, side) for side in pair.unknown):
        notes.append(
            f"{name} cannot be looked into; pass the layer itself to have its bias, options and "
            "table tried"
        )
        if pair.outcome(side).raised and pair.given.of_ids:
            notes.append(
                f"{name} got the ids as you passed them; if it multiplies, write the rows inside "
                "of it: lambda ids: layer(F.one_hot(ids, num_classes).float())"
            )
    return notes


def _patterns(pair: Pair) -> list[str]:
    """Say that the outputs differ by one row of numbers, or by one factor, up to rounding."""
    a, b = (outcome.output for outcome in pair.outcomes())
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
        return []
    if a.dim() < 2 or not a.numel():
        return []
    a, b, eps = a.double().flatten(0, -2), b.double().flatten(0, -2), torch.finfo(a.dtype).eps
    gap, slack = b - a, 8 * eps * torch.maximum(a.abs(), b.abs())
    if not ((a - a[0]).abs() > slack).any() or not (gap.abs() > slack).any():
        return []  # a single row, or one that is repeated, is all patterns at once
    if ((gap - gap[0]).abs() <= slack + slack[0]).all():
        return ["b minus a is the same in each row, as where a bias is added"]
    factor = float((a * b).sum() / (a * a).sum())
    if ((b - factor * a).abs() <= slack).all():
        return [f"b is {rows.in_digits(factor, eps)} times a"]
    return []
