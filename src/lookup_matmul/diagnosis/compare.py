"""Compare two layers on one input, and try remedies to find out why they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from lookup_matmul.diagnosis import causes_of_numbers as numbers
from lookup_matmul.diagnosis import causes_of_options as options
from lookup_matmul.diagnosis import causes_of_tables as tables
from lookup_matmul.diagnosis import search
from lookup_matmul.diagnosis.agreement import compare_gradients, compare_outcomes, compare_outputs
from lookup_matmul.diagnosis.inputs import read_batch, read_tolerance
from lookup_matmul.diagnosis.layers import Layer, read_side
from lookup_matmul.diagnosis.report import NOT_COMPARABLE, VALUE, Cause, Comparison
from lookup_matmul.diagnosis.run import Pair, call_function
from lookup_matmul.diagnosis.search import MeasureAgreement, ProposeRemedies, Remedy
from lookup_matmul.sparse.bags import Rows

# From the most specific to the least: copying the table makes any two layers agree.
CAUSES = (
    tables.layout, options.out_of_range_ids, options.row_width, numbers.dtype, tables.row_order,
    options.last_offset, options.bag_mode, options.ignored_values, options.bias,
    options.padding_row, options.max_norm, numbers.autocast, numbers.not_finite,
    numbers.negative_zero, numbers.subnormal, numbers.matmul_precision, numbers.row_scale,
    tables.weights,
)  # fmt: skip


def compare(
    a: Layer,
    b: Layer,
    ids_or_rows: Rows,
    *,
    gradients: bool = False,
    atol: float = 0.0,
    rtol: float = 0.0,
) -> Comparison:
    """Compare the outputs of two layers on an input, and name the causes of a difference.

    A layer is an Embedding, an EmbeddingBag, a Linear, a table of shape (vocabulary size, embedding
    dimension), or a function around any other module, which is called a few times. The input is
    ids, int32 or int64, of which an EmbeddingBag takes each row as a bag; or rows: a floating
    tensor of shape (rows, columns), a CSR matrix of SciPy or torch, or (ids, offsets, weights) with
    the end as last offset.

    Outputs agree if they are equal in every bit, within :func:`rounding_bound` where rows are
    summed, or with a tolerance if ``|a - b| <= atol + rtol * |b|``. With ``gradients=True``, those
    of the tables are compared once the outputs agree.

    Raise TypeError for other layers and inputs, a layer with a forward of its own, a dtype without
    products, a tolerance that is not a number, and gradients of a function; and ValueError for
    hooks, a weight that is computed or missing, several devices or ``meta``, an empty or
    inconsistent input, a negative or infinite tolerance, and sums of too many terms for a bound.

    >>> report = compare(torch.nn.Embedding(4, 5), torch.nn.Linear(4, 5), torch.tensor([2, 3, 1]))
    >>> [cause.name for cause in report.causes], report.verdict, report.after.verdict
    (['bias', 'weights'], 'different', 'equal in every bit')
    """
    first, second = read_side("a", a), read_side("b", b)
    batch = read_batch(ids_or_rows, bag_ids="EmbeddingBag" in (first.kind, second.kind))
    pair = Pair(first, second, batch, read_tolerance(atol, rtol))
    devices = {side.name: side.table.device for side in pair.with_table}
    devices["the input"] = device = pair.batch.bags.ids.device
    if len(set(devices.values())) > 1:
        listing = ", ".join(f"{name} is on {device}" for name, device in devices.items())
        raise ValueError(f"{listing}; expected one device; move them with .to(...).")
    if gradients and pair.callables:
        raise TypeError(
            f"gradients=True with {first.label} and {second.label}, expected two with a table, "
            "which receives the gradient; pass the layer instead of a function."
        )
    if torch.is_autocast_enabled(device.type):
        pair = replace(pair, autocast=torch.get_autocast_dtype(device.type))
    with (
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        torch.inference_mode(False),
        torch.no_grad(),
        torch.autocast(device.type, enabled=False),
    ):
        return _compare(pair, gradients)


def _compare(pair: Pair, with_gradients: bool) -> Comparison:
    dims_differ = len({side.table.shape[1] for side in pair.with_table}) > 1
    is_hopeless = dims_differ and not [*tables.layout(pair)]
    possible_causes = () if is_hopeless or not pair.with_table else CAUSES
    outputs, repaired = _explain(pair, possible_causes, compare_outputs)
    causes, notes = outputs.causes, _note_ids_like_rows(pair)
    if not causes and outputs.verdict == NOT_COMPARABLE:  # no valid id is left to try
        causes = tuple(_to_cause(remedy, pair, False) for remedy in options.out_of_range_ids(pair))
    causes = (*_find_unrepeatable(pair), *causes)
    if not search.agrees_at_least(outputs.before):
        notes += _note_callables(pair)
        if not causes or any(cause.name == "weights" for cause in causes):
            notes += _note_pattern(pair)
    if is_hopeless:
        notes.append("the embedding dimensions differ, which no remedy fixes")
    gradients = None
    if with_gradients and search.agrees_at_least(outputs.after, VALUE):
        gradients, _ = _explain(repaired, options.GRADIENT_CAUSES, compare_gradients)
    elif with_gradients:
        notes.append("the gradients were not compared, since the outputs do not agree")
    return replace(outputs, causes=causes, notes=tuple(notes), gradients=gradients)


def _explain(
    pair: Pair, causes: Sequence[ProposeRemedies], measure: MeasureAgreement
) -> tuple[Comparison, Pair]:
    """Return the comparison, and the pair with all remedies."""
    before = measure(pair)
    if search.agrees_at_least(before):
        return Comparison(before, before), pair
    remedies, names = search.find_remedies(pair, causes, measure)
    repaired = search.apply_remedies(pair, remedies)
    causes_named = [
        _to_cause(remedy, search.apply_remedies(pair, remedies[:i] + remedies[i + 1 :]))
        for i, remedy in enumerate(remedies)
    ]
    return Comparison(before, measure(repaired), tuple(causes_named), tuple(names)), repaired


def _to_cause(remedy: Remedy, pair: Pair, verified: bool = True) -> Cause:
    """Return the cause, with the evidence in a pair that has all other remedies."""
    evidence = remedy.evidence if isinstance(remedy.evidence, str) else remedy.evidence(pair)
    return Cause(remedy.name, evidence, remedy.advice, verified)


def _find_unrepeatable(pair: Pair) -> Iterator[Cause]:
    for side in pair.callables:
        with pair.autocast_context():
            second = call_function(side, pair.batch)
        repeat = compare_outcomes(pair.outcome(side), second, pair.tolerance)
        if pair.outcome(side).failure or search.agrees_at_least(repeat):
            continue
        evidence = f"{side.label} gives another output when called again"
        if repeat.differing:
            evidence += f", in {repeat.differing} of {repeat.total} numbers"
        advice = "make it repeatable: .eval() ends dropout, max_norm=None keeps the table"
        yield Cause("not repeatable", evidence, advice, verified=False)


def _note_ids_like_rows(pair: Pair) -> list[str]:
    ids, sizes = pair.batch.original, [len(side.table) for side in pair.with_table]
    if pair.batch.by_offsets or ids.dim() < 2 or ids.shape[-1] not in sizes:
        return []
    if 2 * int((ids == 0).sum()) < ids.numel():  # in most rows half of the numbers are zero
        return []
    return [
        f"the {ids.numel()} whole numbers are read as ids; if these are rows, one-hot or of "
        f"counts, as their width of {ids.shape[-1]} suggests, pass them as .float()"
    ]


def _note_callables(pair: Pair) -> Iterator[str]:
    for side in pair.callables:
        yield (
            f"{side.label} cannot be looked into; pass the layer itself to have its bias, options "
            "and table tried"
        )
        if pair.outcome(side).failure and pair.batch.is_single_ids:
            yield (
                f"{side.label} got the ids as you passed them; if it multiplies, write the rows "
                "inside of it: lambda ids: layer(F.one_hot(ids, num_classes).float())"
            )


def _note_pattern(pair: Pair) -> list[str]:
    a, b = (pair.outcome(side).output for side in pair.sides)
    if a is None or b is None or a.shape != b.shape or a.dtype != b.dtype:
        return []
    if a.dim() < 2 or not a.numel():
        return []
    a, b, eps = a.double().flatten(0, -2), b.double().flatten(0, -2), torch.finfo(a.dtype).eps
    gap, error = b - a, 8 * eps * torch.maximum(a.abs(), b.abs())
    if not ((a - a[0]).abs() > error).any() or not (gap.abs() > error).any():
        return []  # equal rows fit every pattern
    if ((gap - gap[0]).abs() <= error + error[0]).all():
        return ["b minus a is the same in each row, as where a bias is added"]
    factor = float((a * b).sum() / (a * a).sum())
    is_multiple = ((b - factor * a).abs() <= error).all()
    return [f"b is {numbers.format_factor(factor, eps)} times a"] if is_multiple else []
