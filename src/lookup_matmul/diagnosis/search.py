"""Find the smallest set of remedies that makes two sides agree."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import accumulate, combinations, pairwise, product
from typing import Any, TypeAlias

from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.report import BITS, ROUNDING, TOLERANCE, VALUE, VERDICTS, Agreement
from lookup_matmul.diagnosis.run import Pair

EXHAUSTIVE_SIZE = 3  # Up to this size, every combination of causes is tried.

Change: TypeAlias = Callable[[Pair], Pair]


@dataclass(frozen=True)
class Remedy:
    """A change of the pair, the cause that it removes, and the texts of the report."""

    name: str
    advice: str  # one line for the caller
    apply: Change  # several are applied in the order of their causes
    evidence: str | Callable[[Pair], str]  # a function gets the pair with all other remedies
    implied_by_weights: bool = False  # copying the whole table has the same effect


# Yield the alternative remedies for one cause, none if it is impossible for this pair.
ProposeRemedies: TypeAlias = Callable[[Pair], Iterable[Remedy]]
MeasureAgreement: TypeAlias = Callable[[Pair], Agreement]


def change_both(change: Callable[[Side], Side]) -> Change:
    return lambda pair: replace(pair, a=change(pair.a), b=change(pair.b))


def set_options(**options: Any) -> Change:
    return change_both(lambda side: replace(side, **options))


def agrees_at_least(agreement: Agreement, verdict: str = BITS) -> bool:
    """Return whether an agreement reaches ``verdict``, or what rounding or the caller allows."""
    if agreement.verdict == TOLERANCE:
        return True
    weakest = ROUNDING if agreement.bound else verdict
    return VERDICTS.index(agreement.verdict) <= VERDICTS.index(weakest)


def find_remedies(
    pair: Pair, causes: Sequence[ProposeRemedies], measure: MeasureAgreement
) -> tuple[list[Remedy], list[str]]:
    """Return the remedies of the smallest number of causes, earlier ones first, and all names."""
    groups = [remedies for cause in causes if (remedies := [*cause(pair)])]
    if not groups:
        return [], []
    names = list(dict.fromkeys(remedy.name for group in groups for remedy in group))

    def is_enough(verdict: str, pair: Pair) -> bool:
        return agrees_at_least(measure(pair), verdict)

    # A remedy that leaves only signs of zeros is worth naming, unless these were all that differed.
    for verdict in (BITS,) if is_enough(VALUE, pair) else (BITS, VALUE):
        if remedies := _find_smallest(pair, groups, partial(is_enough, verdict)):
            return remedies, names
    return [], names


def apply_remedies(pair: Pair, remedies: Sequence[Remedy]) -> Pair:
    return reduce(lambda pair, remedy: remedy.apply(pair), remedies, pair)


def _find_smallest(
    pair: Pair, groups: list[list[Remedy]], is_enough: Callable[[Pair], bool]
) -> list[Remedy]:
    *specific, last = groups
    independent = [group for group in specific if not group[0].implied_by_weights]
    candidates: list[Sequence[list[Remedy]]] = []
    for size in range(1, EXHAUSTIVE_SIZE + 1):
        candidates += combinations(specific, size)
        # The last cause explains almost any difference, so two others are preferred to it.
        if size > 1:
            candidates += [(*before, last) for before in combinations(independent, size - 2)]
    for group in [*candidates, specific, [*independent, last]]:
        for remedies in product(*group):
            steps = list(accumulate(remedies, lambda pair, r: r.apply(pair), initial=pair))
            # If a remedy changes nothing, the combination without it was tried before.
            is_repeated = len(group) <= EXHAUSTIVE_SIZE and any(a is b for a, b in pairwise(steps))
            if not is_repeated and is_enough(steps[-1]):
                return _drop_unneeded(pair, list(remedies), is_enough)
    return []


def _drop_unneeded(
    pair: Pair, remedies: list[Remedy], is_enough: Callable[[Pair], bool]
) -> list[Remedy]:
    """Drop remedies without which the pair agrees, the least specific first."""
    for i in reversed(range(len(remedies))):
        remaining = remedies[:i] + remedies[i + 1 :]
        if is_enough(apply_remedies(pair, remaining)):
            return _drop_unneeded(pair, remaining, is_enough)
    return remedies
