"""What a comparison has found, as data, as text and as a small table in a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from lookup_matmul.diagnosis.agreement import DIFFERENT, MISSING, Agreement


@dataclass(frozen=True)
class Cause:
    """Why two layers disagree, and what to do.

    Attributes
    ----------
    name : str
        One of ``"bias"``, ``"transposed weight"``, ``"weights"``, ``"dtype"``, ``"padding_idx"``,
        ``"max_norm"``, ``"ids out of range"``, ``"width of the rows"``, ``"values ignored"``,
        ``"mode"``, ``"offsets"``, ``"autocast"``, ``"NaN or infinity"``, ``"negative zero"``,
        ``"subnormal numbers"``, ``"reduced matmul precision"``, ``"not repeatable"``;
        of gradients ``"frozen"``, ``"padding_idx"``, ``"scale_grad_by_freq"`` and
        ``"sparse gradient"``.
    evidence : str
        What was seen.
    remedy : str
        What to do, in one line.
    verified : bool
        Whether the remedy was tried: with it and those of the other causes the layers agree,
        and without it they do not.

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

    Attributes
    ----------
    before : Agreement
        How well the two agree as they are.
    causes : tuple of Cause
        Why they do not, all of them; empty if they agree, and also if no cause was found.
    after : Agreement
        How well they agree with all remedies.
    tried : tuple of str
        The names of the causes that could have been one, and were tried.
    notes : tuple of str
        What could not be looked into, how the input was read where that is in doubt,
        and a pattern of the outputs that points to a cause without proving it.
    gradients : Comparison, optional
        The same for the gradients of the tables, with all remedies of the outputs.

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

        The gradients, too, if they were asked for and could be compared.
        """
        outputs = self.verdict not in (DIFFERENT, MISSING)
        return outputs and (self.gradients is None or self.gradients.agrees)

    def __repr__(self) -> str:
        return "\n".join(text if not label else f"{label}: {text}" for label, text in self._lines())

    def _repr_html_(self) -> str:
        # Notebooks align cells to the right and centre them, which long texts do not bear.
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
