"""Compare two layers on one input, and try remedies to find out why they disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import torch

from lookup_matmul.diagnosis import agreement, numbers, options, patterns, report, tables
from lookup_matmul.diagnosis.case import Case, Remedy, apply_remedies
from lookup_matmul.diagnosis.inputs import Layer, read_case, read_heads, read_side, read_tolerance
from lookup_matmul.diagnosis.report import Agreement, Cause, Comparison, agrees_at_least
from lookup_matmul.sparse.bags import Rows

Search: TypeAlias = Callable[[Case], Iterator[Remedy]]
# In the order in which their remedies are applied.
OPTIONS: tuple[Search, ...] = (
    options.out_of_range_ids, options.row_width, options.dtype, options.autocast,
    options.output_options, options.bias, options.padding_row, options.max_norm,
)  # fmt: skip
# An arrangement of the tables, the case that has it, and remedies that it may need.
Proposal: TypeAlias = tuple[list[Remedy], Case, list[Remedy]]


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

    Remedies are tried on copies of the rows that were read. Of the whole tables, a product reads
    its own; the search for another order and the evidence for other weights read both about ten
    times, in parts; and only if a product of fewer rows is another, as with a reduced precision,
    are they copied.

    Raise TypeError for other layers and inputs, a layer with a forward of its own, a dtype without
    products, a tolerance that is not a number, and gradients of a function; and ValueError for
    hooks, a weight that is computed or missing, several devices or ``meta``, an empty or
    inconsistent input, a negative or infinite tolerance, and sums of too many terms for a bound.

    >>> report = compare(torch.nn.Embedding(4, 5), torch.nn.Linear(4, 5), torch.tensor([2, 3, 1]))
    >>> [cause.name for cause in report.causes], report.verdict, report.after.verdict
    (['bias', 'weights'], 'different', 'equal in every bit')
    """
    case = read_case(read_side("a", a), read_side("b", b), ids_or_rows)
    case = replace(case, tolerance=read_tolerance(atol, rtol))
    devices = {side.name: side.table.device for side in case.with_table}
    devices["the input"] = device = case.bags.ids.device
    if len(set(devices.values())) > 1:
        listing = ", ".join(f"{name} is on {device}" for name, device in devices.items())
        raise ValueError(f"{listing}; expected one device; move them with .to(...).")
    if gradients and case.callables:
        raise TypeError(
            f"gradients=True with {case.a.label} and {case.b.label}, expected two with a table, "
            "which receives the gradient; pass the layer instead of a function."
        )
    if torch.is_autocast_enabled(device.type):
        case = replace(case, autocast=torch.get_autocast_dtype(device.type))
    with (
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        torch.inference_mode(False),
        torch.no_grad(),
        torch.autocast(device.type, enabled=False),
    ):
        return _compare(case, gradients)


def _compare(case: Case, with_gradients: bool) -> Comparison:
    case = read_heads(case)
    # A lookup reads only the rows of the ids, a product every row.
    case = case.read([side for side in case.with_table if side.kind != "Linear"])
    before = agreement.compare_outputs(case)
    part = case
    if with_gradients or not agrees_at_least(before):
        part = case.read(case.with_table)
        if not agreement.is_representative(part, case):
            part = case.read(case.with_table, every_row=True)
    outputs, repaired = _explain(before, part, _propose, agreement.compare_outputs)
    causes = outputs.causes
    notes = [*case.notes, *patterns.note_ids_like_rows(case)]
    if not causes and outputs.verdict == report.NOT_COMPARABLE:  # no valid id is left to try
        causes = tuple(r.describe(verified=False) for r in options.out_of_range_ids(case))
    causes = (*_find_unrepeatable(case), *causes)
    if not agrees_at_least(before):
        notes += patterns.note_functions(case)
        if not causes or any(cause.name == "weights" for cause in causes):
            notes += patterns.note_pattern(case)
    if not outputs.candidates and len({side.whole.shape[1] for side in case.with_table}) > 1:
        heads = ", so pass the weights of two heads" if len(case.products) == 2 else ""
        notes.append(f"the embedding dimensions differ, which no remedy fixes{heads}")
    gradients = None
    if with_gradients and agrees_at_least(outputs.after, report.VALUE):
        measure = agreement.compare_gradients
        gradients, _ = _explain(measure(repaired), repaired, _propose_for_gradients, measure)
    elif with_gradients:
        notes.append("the gradients were not compared, since the outputs do not agree")
    return replace(outputs, causes=causes, notes=tuple(notes), gradients=gradients)


def _explain(
    before: Agreement,
    case: Case,
    propose: Callable[[Case], Iterator[Proposal]],
    measure: Callable[[Case], Agreement],
) -> tuple[Comparison, Case]:
    """Return the needed remedies of the first proposal that is enough, and the case with them."""
    if agrees_at_least(before):
        return Comparison(before, before), case
    names: dict[str, None] = {}
    # A remedy that leaves only signs of zeros is worth naming, unless these were all that differed.
    weakest = report.BITS if agrees_at_least(before, report.VALUE) else report.VALUE
    for verdict in dict.fromkeys([report.BITS, weakest]):
        for arrangement, arranged, remedies in propose(case):
            names |= dict.fromkeys(remedy.name for remedy in (*arrangement, *remedies))
            if agrees_at_least(measure(apply_remedies(arranged, remedies)), verdict):
                needed = _drop_unneeded(arranged, remedies, measure, verdict)
                repaired = apply_remedies(arranged, needed)
                causes = tuple(remedy.describe() for remedy in (*arrangement, *needed))
                return Comparison(before, measure(repaired), causes, tuple(names)), repaired
    return Comparison(before, before, candidates=tuple(names)), case


def _drop_unneeded(
    case: Case, remedies: list[Remedy], measure: Callable[[Case], Agreement], verdict: str
) -> list[Remedy]:
    """Drop remedies without which the sides agree, the least specific first."""
    for remedy in reversed(remedies):
        others = [other for other in remedies if other is not remedy]
        if agrees_at_least(measure(apply_remedies(case, others)), verdict):
            remedies = others
    return remedies


def _propose_for_gradients(case: Case) -> Iterator[Proposal]:
    yield [], case, _find_remedies(case, [options.gradient_options])


def _propose(case: Case) -> Iterator[Proposal]:
    """Yield the likelier remedies first: those for options and input, with few others."""
    arrangements = []
    for arrangement, arranged in tables.arrange(case):
        if len({side.whole.shape[1] for side in arranged.with_table}) == 1:
            arrangements.append((arrangement, arranged))
            find = _find_for_function if case.callables else _find_for_tables
            yield from ((arrangement, arranged, remedies) for remedies in find(arranged))
    # Copied weights would hide an order, so tables that have one are arranged first.
    arrangements.sort(key=lambda pair: pair[1].b.order is None)
    for arrangement, arranged in arrangements if not case.callables else ():
        for searches in (OPTIONS, (*OPTIONS, numbers.special_numbers)):
            for copy in (partial(tables.copy_table, target) for target in ("b", "a")):
                yield arrangement, arranged, _find_remedies(arranged, [*searches, copy])


def _find_for_tables(case: Case) -> Iterator[list[Remedy]]:
    yield _find_remedies(case, [*OPTIONS, numbers.special_numbers])
    yield _find_remedies(case, [*OPTIONS, numbers.special_numbers, numbers.row_scale])


def _find_for_function(case: Case) -> Iterator[list[Remedy]]:
    """Yield all, none, one and all but one, since a function may have some of the options."""
    for causes in ([], [*OPTIONS, numbers.special_numbers], [*OPTIONS, numbers.other_form]):
        remedies = _find_remedies(case, causes)
        choices = options.options_of_functions(apply_remedies(case, remedies))
        names = [remedy.name for remedy in remedies]
        yield from ([*remedies, choice] for choice in choices if choice.name not in names)
        yield from (remedies, [], *([remedy] for remedy in remedies))
        yield from ([other for other in remedies if other is not r] for r in remedies)


def _find_unrepeatable(case: Case) -> Iterator[Cause]:
    again = replace(case, call_cache={})
    for side in case.callables:
        repeat = agreement.compare_outcomes(case.run(side), again.run(side), case.tolerance)
        if case.run(side).failure or agrees_at_least(repeat):
            continue
        evidence = f"{side.label} gives another output when called again"
        if repeat.differing:
            evidence += f", in {repeat.differing} of {repeat.total} numbers"
        advice = "make it repeatable: .eval() ends dropout, max_norm=None keeps the table"
        yield Cause("not repeatable", evidence, advice, verified=False)


def _find_remedies(case: Case, searches: Iterable[Search]) -> list[Remedy]:
    """Return the remedies for all causes, each sought with the remedies for earlier ones."""
    remedies: list[Remedy] = []
    for search in searches:
        additional = [*search(case)]
        case = apply_remedies(case, additional)
        remedies += additional
    return remedies
