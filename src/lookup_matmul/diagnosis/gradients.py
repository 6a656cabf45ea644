"""Whether two tables receive the same gradient, and why not."""

from typing import Any

import torch

from lookup_matmul.diagnosis.agree import agree, gradient_bound
from lookup_matmul.diagnosis.layers import Side, called
from lookup_matmul.diagnosis.report import Agreement
from lookup_matmul.diagnosis.run import Outcome, Pair, compute, said, table_as_read
from lookup_matmul.diagnosis.search import Remedy, Trial, setting


def gradients_agree(pair: Pair) -> Agreement:
    """Compare the gradients that the two tables receive for one arriving gradient."""
    (first, kind, bound), (second, other, other_bound) = (_gradient(pair, s) for s in pair.sides)
    a, b = first.output, second.output
    if a is None or b is None or bound is None or other_bound is None:
        return agree(first, second)
    rows = min(len(a), len(b))  # rows that only one table has were not asked for
    together = bound[:rows] + other_bound[:rows] if a.shape[1] == b.shape[1] else 0.0
    layout = "" if kind == other else f"layout {kind} in a, {other} in b"
    return agree(Outcome(a[:rows]), Outcome(b[:rows]), together, layout)


def _gradient(pair: Pair, side: Side) -> tuple[Outcome, str, torch.Tensor | None]:
    if not side.trained:
        return Outcome(raised="has no gradient: its table does not require one"), "", None
    try:
        leaf = table_as_read(side, pair.given).clone().requires_grad_()
        with torch.enable_grad(), pair.precision():
            output = compute(side, pair.given, leaf)
        arriving = _arriving(output)
        (gradient,) = torch.autograd.grad(output, leaf, arriving)
    except (NotImplementedError, RuntimeError) as error:
        return Outcome(raised=said(error)), "", None
    bound = gradient_bound(side, pair.given, arriving)
    return Outcome(gradient.to_dense()), str(gradient.layout).removeprefix("torch."), bound


def _arriving(output: torch.Tensor) -> torch.Tensor:
    """Return positive numbers, so that no product with a zero is a negative zero."""
    generator = torch.Generator("cpu").manual_seed(0)  # of its own: the caller's stays as it is
    numbers = torch.rand(output.shape, generator=generator, device="cpu") + 0.5
    return numbers.to(output.device, output.dtype)


def _option(name: str, advice: str, seen: str, **mended: Any) -> Trial:
    """Make a cause of what some layers have and what changes nothing but their gradients."""

    def trial(pair: Pair) -> list[Remedy]:
        sides = [s for s in pair.sides if any(getattr(s, k) != v for k, v in mended.items())]
        text = seen.format(called(sides), " and ".join(str(side.padding_idx) for side in sides))
        return [Remedy(name, advice, setting(**mended), text)] if sides else []

    return trial


CAUSES = (
    _option(
        "frozen",
        "call weight.requires_grad_(), or make the layer with from_pretrained(..., freeze=False)",
        "no gradient reaches {0}",
        trained=True,
    ),
    _option(
        "padding_idx",
        "make the layer without padding_idx, or zero the row's gradient in both",
        "no gradient reaches row {1} of {0}",
        padding_idx=None,
    ),
    _option(
        "scale_grad_by_freq",
        "make the layer with scale_grad_by_freq=False",
        "the gradient of a row is divided by how often its id comes in {0}",
        by_frequency=False,
    ),
    _option(
        "sparse gradient",
        "make the layer with sparse=False, or call weight.grad.to_dense() before you compare",
        "only the rows that were read are in the gradient of {0}",
        sparse=False,
    ),
)
