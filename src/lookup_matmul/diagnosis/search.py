"""Find the remedies that make two sides agree, and drop those that are not needed."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, TypeAlias

from lookup_matmul.diagnosis.case import Case
from lookup_matmul.diagnosis.report import (
    BITS,
    VALUE,
    Agreement,
    Cause,
    Comparison,
    agrees_at_least,
)


@dataclass(frozen=True)
class Remedy:
    """A change of the case, the cause that it removes, and the texts of the report."""

    name: str
    advice: str  # one line for the caller
    evidence: str | Callable[[], str]  # a function, if it reads whole tables
    change: Callable[[Case], Case]

    def describe(self, verified: bool = True) -> Cause:
        evidence = self.evidence if isinstance(self.evidence, str) else self.evidence()
        return Cause(self.name, evidence, self.advice, verified)


class Proposal(NamedTuple):
    """An arrangement of the tables, the case that has it, and remedies that it may need."""

    arrangement: list[Remedy]
    case: Case
    remedies: list[Remedy]


# Yield remedies for causes that the case shows to be possible; they do not depend on each other.
FindCauses: TypeAlias = Callable[[Case], Iterator[Remedy]]
MeasureAgreement: TypeAlias = Callable[[Case], Agreement]


def apply_remedies(case: Case, remedies: Iterable[Remedy]) -> Case:
    return reduce(lambda case, remedy: remedy.change(case), remedies, case)


def find_remedies(case: Case, causes: Iterable[FindCauses]) -> list[Remedy]:
    """Return the remedies for all causes, each sought with the remedies for earlier ones."""
    remedies: list[Remedy] = []
    for find_causes in causes:
        additional = [*find_causes(case)]
        case = apply_remedies(case, additional)
        remedies += additional
    return remedies


def explain(
    before: Agreement,
    case: Case,
    propose: Callable[[Case], Iterator[Proposal]],
    measure: MeasureAgreement,
) -> tuple[Comparison, Case]:
    """Return the needed remedies of the first proposal that is enough, and the case with them."""
    if agrees_at_least(before):
        return Comparison(before, before), case
    names: dict[str, None] = {}
    # A remedy that leaves only signs of zeros is worth naming, unless these were all that differed.
    for verdict in (BITS,) if agrees_at_least(before, VALUE) else (BITS, VALUE):
        for arrangement, arranged, remedies in propose(case):
            names |= dict.fromkeys(remedy.name for remedy in (*arrangement, *remedies))
            if agrees_at_least(measure(apply_remedies(arranged, remedies)), verdict):
                needed = _drop_unneeded(arranged, remedies, measure, verdict)
                repaired = apply_remedies(arranged, needed)
                causes = tuple(remedy.describe() for remedy in (*arrangement, *needed))
                return Comparison(before, measure(repaired), causes, tuple(names)), repaired
    return Comparison(before, before, candidates=tuple(names)), case


def _drop_unneeded(
    case: Case, remedies: list[Remedy], measure: MeasureAgreement, verdict: str
) -> list[Remedy]:
    """Drop remedies without which the sides agree, the least specific first."""
    for remedy in reversed(remedies):
        others = [other for other in remedies if other is not remedy]
        if agrees_at_least(measure(apply_remedies(case, others)), verdict):
            remedies = others
    return remedies
