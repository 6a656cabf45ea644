"""Compare two layers on one input, and find by trying why they disagree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from lookup_matmul.diagnosis import (
    causes_of_input,
    causes_of_layers,
    causes_of_numbers,
    causes_of_options,
    gradients,
    notes,
)
from lookup_matmul.diagnosis.agreement import BITS, MISSING, Agreement, agree
from lookup_matmul.diagnosis.bounds import output_bound
from lookup_matmul.diagnosis.inputs import read_feed
from lookup_matmul.diagnosis.layers import Layer, read_side
from lookup_matmul.diagnosis.report import Cause, Comparison
from lookup_matmul.diagnosis.runs import Pair, call, untouched
from lookup_matmul.diagnosis.search import Judge, Trial, applied, close, good, search
from lookup_matmul.sparse.bags import Rows

# From the most to the least specific: a copied table makes any two agree, so it is asked last.
CAUSES = (
    causes_of_layers.transposed,
    causes_of_input.outside,
    causes_of_input.width,
    causes_of_layers.dtype,
    causes_of_input.offsets,
    causes_of_input.mode,
    causes_of_input.values,
    causes_of_layers.bias,
    causes_of_options.padding,
    causes_of_options.max_norm,
    causes_of_numbers.autocast,
    causes_of_numbers.not_finite,
    causes_of_numbers.negative_zero,
    causes_of_numbers.subnormal,
    causes_of_numbers.matmul_precision,
    causes_of_layers.weights,
)


def compare(
    a: Layer,
    b: Layer,
    ids_or_rows: Rows,
    *,
    gradients: bool = False,
) -> Comparison:
    """Say how well two layers agree on an input, and if they do not, why.

    A cause is found by trying it: a remedy is applied to a description of the two layers,
    alone and with others, and named if they then agree and without it do not.
    Nothing of the caller's changes: no weight, gradient, random number, setting or mode.

    Parameters
    ----------
    a, b : Layer
        Each an Embedding, an EmbeddingBag, a Linear, a function around any other module,
        or a table of shape (vocabulary size, embedding dimension).
        A Linear gets the input as dense rows, the others get ids, and a function gets the input
        as it was passed, and is called a few times;
        what it changes by itself, such as a table with ``max_norm``, stays changed.
    ids_or_rows : Rows
        Ids, int32 or int64, in a shape of one dimension or more, each a row of its own; or,
        for an EmbeddingBag, a bag for each row of a matrix of ids.
        Or rows: a floating tensor of shape (rows, columns), a CSR matrix of SciPy or torch,
        or (ids, offsets, weights) with the end as last offset.
        An EmbeddingBag is handed the offsets as they are, and an Embedding adds up the rows of
        the table that a row names, since it has no place for values.
        Values are converted to the dtype of the table, and left out if all of them are ones.
        Integers are always ids: write one-hot rows as floating-point numbers.
    gradients : bool
        Whether to compare the gradients of the tables, too, once the outputs agree.

    Returns
    -------
    Comparison
        As data, as text and as a small table in a notebook.

    Raises
    ------
    TypeError
        If a layer or the input is of another kind, has a forward of its own, is quantized,
        or has a dtype that is not multiplied; or if ``gradients`` are asked of a function.
    ValueError
        If a layer has hooks, a computed weight or none so far, or lies on the device ``meta``;
        if the devices differ, the input is empty or does not fit together,
        or if a sum has so many terms for its dtype that no bound of its rounding is known.

    Notes
    -----
    Where nothing is rounded, as for ids, every bit is asked for;
    where rows are summed, the two may be off by :func:`rounding_bound`, counted for each row.
    The rows are written out for a Linear, and all is run several times: pass a small batch.
    For the gradients, positive random numbers of its own arrive at the outputs.
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
    pair = Pair(first, second, read_feed(ids_or_rows, bagged=bagged))
    device = _check_devices(pair)
    if gradients and (first.table is None or second.table is None):
        raise TypeError(
            f"gradients=True with {first.called} and {second.called}, expected two with a table, "
            "which receives the gradient; pass the layer instead of a function."
        )
    if torch.is_autocast_enabled(device.type):
        pair = replace(pair, autocast=torch.get_autocast_dtype(device.type))
    with untouched(device):
        return _compare(pair, gradients)


def _compare(pair: Pair, with_gradients: bool) -> Comparison:
    widths = {side.weight.shape[1] for side in pair.sides if side.table is not None}
    apart = len(widths) > 1 and not causes_of_layers.transposed(pair)
    outputs, mended = _explain(pair, () if apart or not widths else CAUSES, _outputs_agree)
    causes = _unsteady(pair) + (outputs.causes or _outside(pair, outputs.before))
    remarks = notes.of_input(pair)
    if not good(outputs.before):
        remarks += notes.of_callables(pair)
    if not causes or any(cause.name == "weights" for cause in causes):
        remarks += notes.of_outputs(pair.outcomes())
    if apart:
        remarks.append("the embedding dimensions differ, which no remedy mends")
    found = None
    if with_gradients and close(outputs.after):
        found = _explain(mended, gradients.CAUSES, gradients.gradients_agree)[0]
    elif with_gradients:
        remarks.append("the gradients were not compared, since the outputs do not agree")
    after, tried = outputs.after, outputs.tried
    return Comparison(outputs.before, after, causes, tried, tuple(remarks), found)


def _outputs_agree(pair: Pair) -> Agreement:
    return agree(*pair.outcomes(), output_bound(pair))


def _explain(pair: Pair, trials: Sequence[Trial], judge: Judge) -> tuple[Comparison, Pair]:
    before = judge(pair)
    if good(before):
        return Comparison(before, before), pair
    remedies, tried = search(pair, trials, judge)
    mended = applied(pair, remedies)
    causes = []
    for remedy in remedies:
        others = applied(pair, [other for other in remedies if other is not remedy])
        causes.append(Cause(remedy.name, remedy.evidence(others), remedy.advice))
    return Comparison(before, judge(mended), tuple(causes), tuple(tried)), mended


def _outside(pair: Pair, before: Agreement) -> tuple[Cause, ...]:
    """Name ids out of range where nothing is left to be compared without them."""
    return tuple(
        Cause(remedy.name, remedy.evidence(pair), remedy.advice, verified=False)
        for remedy in causes_of_input.outside(pair)
        if before.verdict == MISSING
    )


def _unsteady(pair: Pair) -> tuple[Cause, ...]:
    """Name callables whose second output is not the first."""
    found = []
    if all(side.function is None for side in pair.sides):
        return ()
    for side, outcome in zip(pair.sides, pair.outcomes(), strict=True):
        if side.function is None or outcome.raised:
            continue
        if (again := agree(outcome, call(side, pair.feed))).verdict != BITS:
            text = f"{side.called} gives another output when called again ({again})"
            advice = "make it repeatable: .eval() ends dropout, max_norm=None keeps the table"
            found.append(Cause("not repeatable", text, advice, verified=False))
    return tuple(found)


def _check_devices(pair: Pair) -> torch.device:
    places = {side.name: side.table.device for side in pair.sides if side.table is not None}
    places["the input"] = device = pair.feed.bags.ids.device
    if len(set(places.values())) > 1:
        found = ", ".join(f"{name} is on {place}" for name, place in places.items())
        raise ValueError(f"{found}; expected one device; move them with .to(...).")
    return device
