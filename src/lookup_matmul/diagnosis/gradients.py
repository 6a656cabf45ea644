"""Whether two tables receive the same gradient, and why not."""

from __future__ import annotations

from dataclasses import replace

import torch

from lookup_matmul.diagnosis.agreement import DIFFERENT, Agreement, agree
from lookup_matmul.diagnosis.bounds import gradient_bound
from lookup_matmul.diagnosis.causes_of_layers import on_both
from lookup_matmul.diagnosis.layers import Side
from lookup_matmul.diagnosis.runs import Outcome, Pair, compute, precision, said, table_as_read
from lookup_matmul.diagnosis.search import Remedy


def gradients_agree(pair: Pair) -> Agreement:
    """Compare the gradients that the two tables receive for one arriving gradient."""
    found = [_gradient(pair, side) for side in pair.sides]
    (first, kind), (second, other) = ((gradient, layout) for gradient, layout, _ in found)
    a, b = first.output, second.output
    if a is None or b is None:
        return agree(first, second)
    rows = min(len(a), len(b))  # rows that only one table has were not asked for
    bounds = [bound[:rows] for _, _, bound in found if bound is not None]
    same = bounds[0].shape == bounds[1].shape
    agreement = agree(Outcome(a[:rows]), Outcome(b[:rows]), bounds[0] + bounds[1] if same else 0.0)
    if kind == other:
        return agreement
    reason = f"layout {kind} in a, {other} in b; {agreement.reason}".rstrip("; ")
    return replace(agreement, verdict=DIFFERENT, reason=reason)


def _gradient(pair: Pair, side: Side) -> tuple[Outcome, str, torch.Tensor | None]:
    if not side.trained:
        return Outcome(raised="has no gradient: its table does not require one"), "", None
    try:
        leaf = table_as_read(side, pair.feed).clone().requires_grad_()
        with torch.enable_grad(), precision(pair):
            output = compute(side, pair.feed, leaf)
        arriving = _arriving(output)
        (gradient,) = torch.autograd.grad(output, leaf, arriving)
    except (NotImplementedError, RuntimeError) as error:
        return Outcome(raised=said(error)), "", None
    bound = gradient_bound(side, pair.feed, arriving)
    return Outcome(gradient.to_dense()), str(gradient.layout).removeprefix("torch."), bound


def _arriving(output: torch.Tensor) -> torch.Tensor:
    """Give positive numbers, so that no product with a zero is a negative zero."""
    generator = torch.Generator("cpu").manual_seed(0)  # of its own: the caller's stays as it is
    numbers = torch.rand(output.shape, generator=generator, device="cpu") + 0.5
    return numbers.to(output.device, output.dtype)


def frozen(pair: Pair) -> list[Remedy]:
    """Let each table require a gradient."""
    still = [side for side in pair.sides if not side.trained]
    if not still:
        return []
    text = "no gradient reaches " + " and ".join(side.called for side in still)
    advice = (
        "call weight.requires_grad_(), or make the layer with from_pretrained(..., freeze=False)"
    )
    change = on_both(lambda side: replace(side, trained=True))
    return [Remedy("frozen", advice, change, lambda _: text)]


def scaled(pair: Pair) -> list[Remedy]:
    """Do not divide by how often an id comes."""
    dividing = [side for side in pair.sides if side.by_frequency]
    if not dividing:
        return []
    text = " and ".join(side.called for side in dividing)
    text += f" divide{'s' * (len(dividing) == 1)} by how often each id comes"
    change = on_both(lambda side: replace(side, by_frequency=False))
    advice = "make the layer with scale_grad_by_freq=False"
    return [Remedy("scale_grad_by_freq", advice, change, lambda _: text)]


def sparse(pair: Pair) -> list[Remedy]:
    """Ask for dense gradients."""
    thin = [side for side in pair.sides if side.sparse]
    if not thin:
        return []
    text = "only the rows that were read are in the gradient of "
    text += " and ".join(side.called for side in thin)
    change = on_both(lambda side: replace(side, sparse=False))
    advice = "make the layer with sparse=False, or call weight.grad.to_dense() before you compare"
    return [Remedy("sparse gradient", advice, change, lambda _: text)]


def padded(pair: Pair) -> list[Remedy]:
    """Let the padding row receive its gradient."""
    without = [side for side in pair.sides if side.padding_idx is not None]
    if not without:
        return []
    rows = " and ".join(f"row {s.padding_idx} of {s.called}" for s in without)
    text = f"no gradient reaches {rows}"
    change = on_both(lambda side: replace(side, padding_idx=None))
    advice = "make the layer without padding_idx, or zero the row's gradient in both"
    return [Remedy("padding_idx", advice, change, lambda _: text)]


CAUSES = (frozen, padded, scaled, sparse)
