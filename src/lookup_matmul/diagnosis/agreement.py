"""How well two outputs agree: in every bit, in value, within rounding, or not."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from lookup_matmul.diagnosis.runs import Outcome
from lookup_matmul.equality.assertions import bits_differ, difference

BITS = "equal in every bit"
VALUE = "equal in value"
ROUNDING = "equal within the bound of rounding"
DIFFERENT = "different"
MISSING = "not to be compared"
VERDICTS = (BITS, VALUE, ROUNDING, DIFFERENT, MISSING)


@dataclass(frozen=True)
class Agreement:
    """How well two tensors agree, as numbers and as text.

    Attributes
    ----------
    verdict : str
        ``"equal in every bit"``; ``"equal in value"``, if only signs of zeros or bits of NaN
        differ; ``"equal within the bound of rounding"``; ``"different"``;
        or ``"not to be compared"``, if a side raises or gives nothing.
    total, differing : int
        The number of elements, and how many of them differ: by any bit,
        or by more than the bound if the verdict is ``"different"``.
    first : tuple of int, optional
        The place of the first of them.
    values : tuple of float, optional
        The two numbers there.
    largest : float
        The largest difference; NaN and infinity on one side only count as infinite.
    bound : float
        The largest difference that rounding allows at any place; 0.0 if no sum is rounded.
    reason : str
        Why nothing, or not everything, could be compared: the errors, shapes, dtypes.

    Examples
    --------
    >>> weight = torch.arange(8.0).reshape(4, 2)
    >>> from lookup_matmul import compare
    >>> compare(weight, weight + 0.5, torch.tensor([1])).before
    different: 2 of 2 numbers, the first at [0, 0]: 2.0 in a, 2.5 in b; the largest difference \
is 0.5
    """

    verdict: str
    total: int = 0
    differing: int = 0
    first: tuple[int, ...] | None = None
    values: tuple[float, float] | None = None
    largest: float = 0.0
    bound: float = 0.0
    reason: str = ""

    @property
    def rank(self) -> int:
        """Give the place of the verdict, from the best to the worst."""
        return VERDICTS.index(self.verdict)

    def __repr__(self) -> str:
        if self.verdict == BITS:
            return f"{self.verdict}, all {self.total} numbers"
        parts = [self.reason] if self.reason else []
        if self.first is not None and self.values is not None:
            verb = "" if self.verdict == DIFFERENT else " differ"
            places = f"{self.differing} of {self.total} numbers{verb}, "
            places += f"the first at {list(self.first)}: "
            parts.append(places + "{} in a, {} in b".format(*_shown(*self.values)))
        if self.verdict == VALUE:
            parts.append("only signs of zeros or bits of NaN")
        elif self.first is not None and self.largest < float("inf"):
            parts.append(f"the largest difference is {self.largest:.3g}")
        elif self.reason.startswith("dtype"):
            parts.append("all numbers are equal in value")
        if self.bound:
            parts.append(f"rounding alone allows {self.bound:.3g}")
        return f"{self.verdict}: {'; '.join(parts)}" if parts else self.verdict


def agree(first: Outcome, second: Outcome, bound: torch.Tensor | float = 0.0) -> Agreement:
    """Compare two outcomes; ``bound`` is a number or broadcasts to the outputs."""
    raised = [
        f"{name} {outcome.raised}"
        for name, outcome in (("a", first), ("b", second))
        if outcome.raised
    ]
    a, b = first.output, second.output
    if a is None or b is None:
        return Agreement(MISSING, reason="; ".join(raised))
    if a.shape != b.shape:
        return Agreement(DIFFERENT, reason=f"shape {tuple(a.shape)} in a, {tuple(b.shape)} in b")
    gap = difference(a, b).nan_to_num(torch.inf, torch.inf)
    gap = gap.masked_fill(a.isnan() & b.isnan(), 0.0)
    reason, bits = "", gap > 0
    if a.dtype == b.dtype:
        bits = bits_differ(a, b)
    else:
        reason = f"dtype {a.dtype} in a, {b.dtype} in b"
    outside = gap > bound
    limit = float(bound.max()) if isinstance(bound, torch.Tensor) else bound
    if reason or outside.any():
        # Only where the dtype alone differs is there no place to be shown.
        verdict, places = DIFFERENT, outside if outside.any() else bits
    elif bits.any():
        verdict, places = (ROUNDING if limit else VALUE), bits
    else:
        return Agreement(BITS, total=a.numel(), bound=limit)
    agreement = Agreement(verdict, a.numel(), int(places.sum()), bound=limit, reason=reason)
    if not places.any():
        return agreement
    place = tuple(int(i) for i in places.nonzero()[0])
    values = float(a[place]), float(b[place])
    return replace(agreement, first=place, values=values, largest=float(gap.max()))


def _shown(*values: float) -> list[str]:
    """Write as many digits as it takes to tell the two apart."""
    for digits in (6, 9):
        texts = [str(float(f"{value:.{digits}g}")) for value in values]
        if len(set(texts)) > 1:
            return texts
    return list(map(repr, values))
