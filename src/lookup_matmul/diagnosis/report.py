"""What a comparison has found, as data, as text and as a small table in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

BITS = "equal in every bit"
VALUE = "equal in value"
ROUNDING = "equal within the bound of rounding"
DIFFERENT = "different"
MISSING = "not to be compared"
VERDICTS = (BITS, VALUE, ROUNDING, DIFFERENT, MISSING)


@dataclass(frozen=True)
class Agreement:
    """How well two tensors agree, as numbers and as text.

    ``verdict`` is ``"equal in every bit"``; ``"equal in value"``, if only signs of zeros or bits of
    NaN differ; ``"equal within the bound of rounding"``; ``"different"``; or ``"not to be
    compared"``, if a side raises or gives nothing. Of ``total`` numbers ``differing`` ones differ,
    by any bit, or by more than the bound if the verdict is ``"different"``: ``first`` is the place
    of the first of them, ``values`` are the two numbers there, and ``largest`` is the largest
    difference, infinite for NaN and infinity on one side only. ``bound`` is what rounding allows at
    any place, 0.0 if no sum is rounded. ``reason`` says why not everything could be compared.

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
        elif self.first is None and self.verdict == DIFFERENT and self.total:
            parts.append(f"all numbers are {ROUNDING if self.largest else VALUE}")
        elif self.first is not None and self.largest < float("inf"):
            parts.append(f"the largest difference is {self.largest:.3g}")
        if self.bound:
            parts.append(f"rounding alone allows up to {self.bound:.3g}, by place")
        return f"{self.verdict}: {'; '.join(parts)}" if parts else self.verdict


@dataclass(frozen=True)
class Cause:
    """Why two layers disagree, and what to do.

    ``name`` is one of ``"bias"``, ``"transposed weight"``, ``"reshaped weight"``, ``"weights"``,
    ``"order of the rows"``, ``"scaled rows"``, ``"dtype"``, ``"padding_idx"``, ``"max_norm"``,
    ``"ids out of range"``, ``"width of the rows"``, ``"values ignored"``, ``"mode"``,
    ``"offsets"``, ``"autocast"``, ``"NaN or infinity"``, ``"negative zero"``,
    ``"subnormal numbers"``, ``"reduced matmul precision"``,
    ``"not repeatable"``; of gradients ``"frozen"``, ``"padding_idx"``, ``"scale_grad_by_freq"`` and
    ``"sparse gradient"``. ``evidence`` is what was seen, ``remedy`` what to do, in a line, and
    ``verified`` whether it was tried: with it and those of the other causes the layers agree, and
    without it they do not.

    Examples
    --------
    >>> import torch
    >>> from lookup_matmul import compare
    >>> linear = torch.nn.Linear(3, 2)
    >>> cause, = compare(linear.weight.T, linear, torch.tensor([0, 2])).causes
    >>> cause.name, cause.verified
    ('bias', True)
    """

    name: str
    evidence: str
    remedy: str
    verified: bool = True


@dataclass(frozen=True)
class Comparison:
    """What :func:`lookup_matmul.compare` has found.

    ``before`` says how well the two agree as they are, ``after`` with all remedies. ``causes`` are
    all reasons why they do not, none if none was found; ``tried`` are the names of those that could
    have been one. ``notes`` say what could not be looked into, how the input was read where that is
    in doubt, and a pattern of the outputs that points to a cause. ``gradients`` is the same for the
    gradients of the tables, with all remedies of the outputs.

    Examples
    --------
    >>> import torch
    >>> from lookup_matmul import compare
    >>> compare(torch.ones(4, 2), torch.nn.Embedding.from_pretrained(torch.ones(4, 2)), \
torch.tensor([2, 1]))
    equal in every bit, all 4 numbers
    """

    before: Agreement
    after: Agreement
    causes: tuple[Cause, ...] = ()
    tried: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    gradients: Comparison | None = None

    @property
    def verdict(self) -> str:
        """Say how well the two agree as they are."""
        return self.before.verdict

    @property
    def agrees(self) -> bool:
        """Tell whether the two agree as they are, in every bit, in value or within rounding.

        The gradients, too, if they were asked for.
        """
        outputs = self.verdict not in (DIFFERENT, MISSING)
        return outputs and (self.gradients is None or self.gradients.agrees)

    def __repr__(self) -> str:
        return "\n".join(text if not label else f"{label}: {text}" for label, text in self._lines())

    def _repr_html_(self) -> str:
        # Notebooks align cells to the right and center them, which long texts do not bear.
        look = "text-align: left; vertical-align: top"
        rows = "".join(
            f'<tr><th scope="row" style="{look}; overflow-wrap: normal">{escape(label)}</th>'
            f'<td style="{look}; overflow-wrap: anywhere">{escape(text)}</td></tr>'
            for label, text in self._lines("outputs")
        )
        return f'<table class="comparison"><tbody>{rows}</tbody></table>'

    def _lines(self, first: str = "") -> list[tuple[str, str]]:
        lines = [(first, repr(self.before))]
        for cause in self.causes:
            lines += [("cause", f"{cause.name}: {cause.evidence}"), ("remedy", cause.remedy)]
            if not cause.verified:
                lines[-1] = ("remedy, not tried", cause.remedy)
        if any(cause.verified for cause in self.causes):
            many = len([cause for cause in self.causes if cause.verified]) > 1
            lines.append((f"with {'these remedies' if many else 'this remedy'}", repr(self.after)))
        elif self.tried and not self.causes:
            lines.append(("no cause found", f"tried {', '.join(self.tried)}"))
        lines += [("note", note) for note in self.notes]
        return lines + (self.gradients._lines("gradients") if self.gradients else [])


def _shown(*values: float) -> list[str]:
    """Write as many digits as it takes to tell the two apart."""
    for digits in (6, 9):
        texts = [str(float(f"{value:.{digits}g}")) for value in values]
        if len(set(texts)) > 1:
            return texts
    return list(map(repr, values))
