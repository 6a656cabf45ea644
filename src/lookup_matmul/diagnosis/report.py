"""The result of a comparison as data, as text, and as a table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

BITS = "equal in every bit"
VALUE = "equal in value"
ROUNDING = "equal within the bound of rounding"
TOLERANCE = "equal within the tolerance"
DIFFERENT = "different"
NOT_COMPARABLE = "not to be compared"
VERDICTS = (BITS, VALUE, ROUNDING, TOLERANCE, DIFFERENT, NOT_COMPARABLE)


class Tolerance(NamedTuple):
    """The difference that the caller accepts: ``|a - b| <= atol + rtol * |b|``."""

    atol: float = 0.0
    rtol: float = 0.0


EXACT = Tolerance()


@dataclass(frozen=True)
class Agreement:
    """How well two tensors agree.

    ``verdict`` is ``"equal in every bit"``; ``"equal in value"``, if only signs of zeros or bits of
    NaN differ; ``"equal within the bound of rounding"``; ``"equal within the tolerance"``;
    ``"different"``; or ``"not to be compared"``, if one side raises or has no gradient. Of
    ``total`` elements, ``differing`` differ by more than that, the ``first`` of them at this index,
    with these ``values``. ``largest`` is the largest difference, ``bound`` the most that rounding
    allows. ``reason`` names another difference, such as that of the shapes.
    """

    verdict: str
    total: int = 0
    differing: int = 0
    first: tuple[int, ...] | None = None
    values: tuple[float, float] | None = None
    largest: float = 0.0
    bound: float = 0.0
    reason: str = ""
    atol: float = 0.0
    rtol: float = 0.0

    def __repr__(self) -> str:
        if self.verdict == BITS:
            return f"{self.verdict}, all {self.total} numbers"
        tolerance = f"atol={self.atol}, rtol={self.rtol}" if self.atol or self.rtol else ""
        heading = f"equal within {tolerance}" if self.verdict == TOLERANCE else self.verdict
        parts = [self.reason] if self.reason else []
        if self.first is not None and self.values is not None:
            verb = "" if self.verdict == DIFFERENT else " differ"
            count = f"{self.differing} of {self.total} numbers{verb}"
            numbers = "{} in a, {} in b".format(*_distinct_texts(*self.values))
            parts.append(f"{count}, the first at {list(self.first)}: {numbers}")
        if self.verdict == VALUE:
            parts.append("only signs of zeros or bits of NaN")
        elif self.first is None and self.verdict in (DIFFERENT, TOLERANCE) and self.total:
            allowance = f"equal within {tolerance}" if tolerance else ROUNDING
            parts.append(f"all numbers are {allowance if self.largest else VALUE}")
        elif self.first is not None and self.largest < float("inf"):
            parts.append(f"the largest difference is {self.largest:.3g}")
        if self.bound:
            parts.append(f"rounding alone allows up to {self.bound:.3g}, by place")
        if self.verdict == DIFFERENT and self.first is not None and tolerance:
            parts.append(f"the tolerance is {tolerance}")
        return f"{heading}: {'; '.join(parts)}" if parts else heading


def agrees_at_least(agreement: Agreement, verdict: str = BITS) -> bool:
    """Return whether an agreement reaches ``verdict``, or what rounding or the caller allows."""
    if agreement.verdict == TOLERANCE:
        return True
    weakest = ROUNDING if agreement.bound else verdict
    return VERDICTS.index(agreement.verdict) <= VERDICTS.index(weakest)


@dataclass(frozen=True)
class Cause:
    """Why two layers disagree, and what to do.

    ``name`` is one of ``"bias"``, ``"transposed weight"``, ``"reshaped weight"``, ``"weights"``,
    ``"order of the rows"``, ``"order of the columns"``, ``"scaled rows"``, ``"dtype"``,
    ``"padding_idx"``, ``"max_norm"``, ``"ids out of range"``, ``"width of the rows"``,
    ``"values ignored"``, ``"mode"``, ``"offsets"``, ``"autocast"``, ``"NaN or infinity"``,
    ``"negative zero"``, ``"subnormal numbers"``, ``"reduced matmul precision"``,
    ``"not repeatable"``; for gradients ``"frozen"``, ``"padding_idx"``, ``"scale_grad_by_freq"``
    and ``"sparse gradient"``.
    If it is ``verified``, the layers agree with all remedies and do not without this one.
    """

    name: str
    evidence: str
    remedy: str
    verified: bool = True


@dataclass(frozen=True)
class Comparison:
    """The result of :func:`lookup_matmul.compare`.

    ``before`` is the agreement of the layers as they are, ``after`` with all remedies. ``causes``
    are those found, ``candidates`` the names of all that are possible. ``notes`` are on the input,
    functions and patterns of the outputs. ``gradients`` is the comparison of the tables' gradients.
    """

    before: Agreement
    after: Agreement
    causes: tuple[Cause, ...] = ()
    candidates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    gradients: Comparison | None = None

    @property
    def verdict(self) -> str:
        """Return how well the outputs agree without any remedy."""
        return self.before.verdict

    @property
    def agrees(self) -> bool:
        """Whether outputs, and gradients if compared, are equal or differ as little as allowed."""
        outputs_agree = self.verdict not in (DIFFERENT, NOT_COMPARABLE)
        return outputs_agree and (self.gradients is None or self.gradients.agrees)

    def __repr__(self) -> str:
        return "\n".join(text if not label else f"{label}: {text}" for label, text in self._lines())

    def _repr_html_(self) -> str:
        # Notebooks right-align cells and center headings, which makes long texts hard to read.
        style = "text-align: left; vertical-align: top"
        rows = "".join(
            f'<tr><th scope="row" style="{style}; overflow-wrap: normal">{escape(label)}</th>'
            f'<td style="{style}; overflow-wrap: anywhere">{escape(text)}</td></tr>'
            for label, text in self._lines("outputs")
        )
        return f'<table class="comparison"><tbody>{rows}</tbody></table>'

    def _lines(self, first_label: str = "") -> Iterator[tuple[str, str]]:
        yield first_label, repr(self.before)
        for cause in self.causes:
            yield "cause", f"{cause.name}: {cause.evidence}"
            yield "remedy" if cause.verified else "remedy, not tried", cause.remedy
        if verified := sum(cause.verified for cause in self.causes):
            yield f"with {'these remedies' if verified > 1 else 'this remedy'}", repr(self.after)
        elif self.candidates and not self.causes:
            yield "no cause found", f"tried {', '.join(self.candidates)}"
        yield from (("note", note) for note in self.notes)
        if self.gradients:
            yield from self.gradients._lines("gradients")


def format_rows(rows: Iterable[int], noun: str = "row") -> str:
    """Return "row 2" or "rows 2, 3, …", with at most six numbers."""
    numbers = list(rows)
    listing = ", ".join(map(str, numbers[:6])) + (", …" if len(numbers) > 6 else "")
    return f"{noun}{'s' if len(numbers) != 1 else ''} {listing}"


def _distinct_texts(*values: float) -> list[str]:
    """Format numbers with as few digits as make them different."""
    for digits in (6, 9, 17):
        texts = [str(float(f"{value:.{digits}g}")) for value in values]
        if len(set(texts)) > 1:
            break
    return texts
