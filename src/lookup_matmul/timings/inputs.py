"""What the forms of one computation share: ids, table, weights of entries, arriving gradient."""

from __future__ import annotations

from typing import NamedTuple

import torch

from lookup_matmul.timings.cases import DTYPES, Case


class Inputs(NamedTuple):
    """The tensors that all forms of a group compute with.

    Attributes
    ----------
    ids : torch.Tensor
        Shape (ids,), int64; those of a bag stand together.
    weight : torch.Tensor
        The table, shape (vocab_size, dim), normally distributed.
    values : torch.Tensor
        Shape (ids,): the weight of each entry of a bag, from U(0, 1); empty without bags.
    arriving : torch.Tensor
        Shape (ids, dim), normally distributed: the gradient that arrives; empty forwards.
    stored_error : float
        By how much the table's dtype changed the numbers drawn in float32, at most.
    """

    ids: torch.Tensor
    weight: torch.Tensor
    values: torch.Tensor
    arriving: torch.Tensor
    stored_error: float = 0.0


def draw_ids(draw: str, count: int, vocab_size: int, seed: int = 0) -> torch.Tensor:
    """Draw ids on the CPU.

    Parameters
    ----------
    draw : str
        ``"uniform"``; ``"zipf"``, where the k-th most frequent id, whichever that is, has a
        chance proportional to 1/k; or ``"equal"``, one id again and again.
    count, vocab_size : int
        How many, and below what.
    seed : int
        Of the generator.

    Returns
    -------
    torch.Tensor
        Shape (count,), int64.

    Raises
    ------
    ValueError
        If ``draw`` is none of the three.

    Examples
    --------
    >>> draw_ids("equal", 3, 10).unique().numel()
    1
    """
    generator = torch.Generator().manual_seed(seed)
    if draw == "uniform":
        return torch.randint(vocab_size, (count,), generator=generator)
    if draw == "equal":
        return torch.randint(vocab_size, (1,), generator=generator).repeat(count)
    if draw == "zipf":
        order = torch.randperm(vocab_size, generator=generator)
        reached = (1 / torch.arange(1, vocab_size + 1, dtype=torch.float64)).cumsum(0)
        drawn = torch.rand(count, generator=generator, dtype=torch.float64) * reached[-1]
        return order[torch.searchsorted(reached, drawn).clamp_(max=vocab_size - 1)]
    raise ValueError(f"draw is {draw!r}, expected 'uniform', 'zipf' or 'equal'.")


def draw_inputs(case: Case, ids: torch.Tensor, device: str) -> Inputs:
    """Draw what a case computes with, on the device to be measured.

    Parameters
    ----------
    case : Case
        The case; its form does not matter.
    ids : torch.Tensor
        As :func:`draw_ids` gives them.
    device : str
        ``"cpu"`` or ``"cuda"``.

    Returns
    -------
    Inputs
        In the dtype of the case.

    Examples
    --------
    >>> case = Case("lookup", "backward", 4, 5, 3, "uniform", "bfloat16", "hot")
    >>> inputs = draw_inputs(case, torch.tensor([2, 3, 1]), "cpu")
    >>> inputs.weight.dtype, tuple(inputs.values.shape), tuple(inputs.arriving.shape)
    (torch.bfloat16, (0,), (3, 5))
    """
    generator = torch.Generator(device).manual_seed(1)
    dtype = DTYPES[case.dtype]

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, device=device)

    entries = case.ids if case.bags else 0
    values = torch.rand(entries, generator=generator, device=device).to(dtype)
    arriving = normal(case.ids if case.direction == "backward" else 0, case.dim).to(dtype)
    drawn = normal(case.vocab_size, case.dim)
    weight = drawn.to(dtype)
    rounded = 0.0 if weight is drawn else float((weight - drawn).abs().max())
    return Inputs(ids.to(device), weight, values, arriving, rounded)
