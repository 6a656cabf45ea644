"""Find the smallest set of remedies that makes two sides agree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations, pairwise, product
from typing import Any, TypeAlias

from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.report import BITS, ROUNDING, VALUE, VERDICTS, Agreement
from lookup_matmul.diagnosis.run import Pair

EXHAUSTIVE = 3  # up to so many causes at once, every combination is tried

Change: TypeAlias = Callable[[Pair], Pair]


@dataclass(frozen=True)
class Remedy:
    """Something to try: a change of the pair, the cause that it stands for, and its words."""

    name: str
    advice: str  # in one line, for somebody who holds the two layers
    apply: Change  # several are applied in the order of their causes
    evidence: str | Callable[[Pair], str]  # or what is seen of a pair with all other remedies
    spared: bool = False  # by a copy of the whole table


# A cause gives its remedies for a pair, of which at most one is used: none if it cannot be one.
Trial: TypeAlias = Callable[[Pair], list[Remedy]]
Judge: TypeAlias = Callable[[Pair], Agreement]


def both(change: Callable[[Side], Side]) -> Change:
    """Make a change of a pair from one of a side."""
    return lambda pair: replace(pair, a=change(pair.a), b=change(pair.b))


def setting(**options: Any) -> Change:
    """Make a change of a pair that gives both sides these options."""
    return both(lambda side: replace(side, **options))


def good(agreement: Agreement, least: str = BITS) -> bool:
    """Tell whether nothing is left to explain, where nothing is rounded in bits or in value."""
    limit = ROUNDING if agreement.bound else least
    return VERDICTS.index(agreement.verdict) <= VERDICTS.index(limit)


def search(pair: Pair, causes: Sequence[Trial], judge: Judge) -> tuple[list[Remedy], list[str]]:
    """Try remedies alone, in pairs, in threes, then all, leaving out what is not needed.

    Returns the remedies that were enough, and the names of all that were tried.
    The earlier a cause stands in ``causes``, the rather it is named, and the last one only
    where two others are not enough.
    """
    groups = [remedies for cause in causes if (remedies := cause(pair))]
    if not groups:
        return [], []
    tried = list(dict.fromkeys(remedy.name for group in groups for remedy in group))
    # Remedies that leave the sign of a zero apart are worth naming, unless nothing else was.
    for least in (BITS,) if good(judge(pair), VALUE) else (BITS, VALUE):
        if found := _smallest(pair, groups, lambda p, least=least: good(judge(p), least)):  # type: ignore[misc]
            return found, tried
    return [], tried


def applied(pair: Pair, remedies: Sequence[Remedy]) -> Pair:
    """Return the pair with all remedies."""
    for remedy in remedies:
        pair = remedy.apply(pair)
    return pair


def _smallest(
    pair: Pair, groups: list[list[Remedy]], enough: Callable[[Pair], bool]
) -> list[Remedy]:
    *specific, last = groups
    beside = [group for group in specific if not group[0].spared]
    chosen: list[Sequence[list[Remedy]]] = []
    for size in range(1, EXHAUSTIVE + 1):
        chosen += combinations(specific, size)
        # The last one explains nearly everything, so it stands back behind two others.
        if size > 1:
            chosen += [(*others, last) for others in combinations(beside, size - 2)]
    for group in [*chosen, specific, [*beside, last]]:
        for remedies in product(*group):
            steps = list(accumulate(remedies, lambda pair, r: r.apply(pair), initial=pair))
            # A remedy that changes nothing leaves a combination that was tried before.
            idle = len(group) <= EXHAUSTIVE and any(a is b for a, b in pairwise(steps))
            if not idle and enough(steps[-1]):
                return _needed(pair, list(remedies), enough)
    return []


def _needed(pair: Pair, remedies: list[Remedy], enough: Callable[[Pair], bool]) -> list[Remedy]:
    """Leave out each remedy that the others do without, the least specific ones first."""
    for remedy in reversed(remedies):
        others = [other for other in remedies if other is not remedy]
        if enough(applied(pair, others)):
            return _needed(pair, others, enough)  # which may do without one that was needed
    return remedies
