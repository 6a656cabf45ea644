"""Every form of one computation, ready to be called on shared inputs, and its definition."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import torch

from lookup_matmul.forms import lookup, one_hot, one_hot_matmul
from lookup_matmul.timings.cases import DTYPES, Case
from lookup_matmul.timings.cost import (
    Cost,
    Sizes,
    bag_cost,
    lookup_cost,
    one_hot_cost,
    product_cost,
)


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
        chances = 1 / torch.arange(1, vocab_size + 1, dtype=torch.float64)
        return order[torch.multinomial(chances, count, replacement=True, generator=generator)]
    raise ValueError(f"draw is {draw!r}, expected 'uniform', 'zipf' or 'equal'.")


def case_cost(case: Case, distinct: int) -> Cost:
    """Count what a case has to do.

    Parameters
    ----------
    case : Case
        The case.
    distinct : int
        How many different ids were drawn.

    Returns
    -------
    Cost
        By the model of its form.

    Examples
    --------
    >>> case = Case("one-hot built and multiplied", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> case_cost(case, distinct=2).allocated_bytes
    108
    """
    itemsize = DTYPES[case.dtype].itemsize
    sizes = Sizes(case.vocab_size, case.dim, case.ids, distinct, itemsize)
    backward = case.direction == "backward"
    if case.form == "lookup, sparse gradient":
        return Cost(0, 0, 0, 0, 0)  # the ids and the rows that arrive, as they are, under one name
    if case.form in ("lookup", "lookup, deterministic", "index_select"):
        return lookup_cost(sizes, backward=backward)
    if case.form == "sparse product":
        return bag_cost(sizes._replace(bags=case.ids))
    alone = product_cost(sizes, backward=backward)
    return one_hot_cost(sizes) + alone if case.form == "one-hot built and multiplied" else alone


def contender(case: Case, ids: torch.Tensor, weight: torch.Tensor) -> Callable[[], torch.Tensor]:
    """Make the call of a case; what it does not count has been done before.

    Parameters
    ----------
    case : Case
        The case.
    ids, weight : torch.Tensor
        Shapes (ids,) and (vocab_size, dim), on the device to be measured.

    Returns
    -------
    collections.abc.Callable
        Gives the rows, or the gradient of the table for a gradient of ones times 1/8.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> contender(case, torch.tensor([2, 3, 1]), torch.ones(4, 5))().shape
    torch.Size([3, 5])
    """
    if case.direction == "forward":
        if case.form == "multiplication alone":
            encoding = one_hot(ids, case.vocab_size, dtype=weight.dtype)
            return lambda: encoding @ weight
        if case.form == "sparse product":
            ends = torch.arange(case.ids + 1, device=ids.device)
            ones = torch.ones(case.ids, dtype=weight.dtype, device=ids.device)
            shape = (case.ids, case.vocab_size)
            with warnings.catch_warnings(action="ignore"):  # the layout is called a beta version
                rows = torch.sparse_csr_tensor(ends, ids, ones, shape, check_invariants=True)
            return lambda: rows @ weight
        return {
            "lookup": lambda: lookup(ids, weight, check=False),
            "index_select": lambda: weight.index_select(0, ids),
            "one-hot built and multiplied": lambda: one_hot_matmul(ids, weight, check=False),
        }[case.form]
    arriving = torch.full((case.ids, case.dim), 0.125, dtype=weight.dtype, device=weight.device)
    if case.form == "multiplication alone":
        transposed = one_hot(ids, case.vocab_size, dtype=weight.dtype).T
        return lambda: transposed @ arriving
    leaf = weight.detach().requires_grad_()
    sparse = case.form == "lookup, sparse gradient"
    rows = torch.nn.functional.embedding(ids, leaf, sparse=sparse)

    def gradient() -> torch.Tensor:
        return torch.autograd.grad(rows, leaf, arriving, retain_graph=True)[0]

    def deterministic() -> torch.Tensor:
        before = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(True)
        try:
            return gradient()
        finally:
            torch.use_deterministic_algorithms(before)

    return deterministic if case.form == "lookup, deterministic" else gradient


def expected_result(case: Case, ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Compute what a case should give by its definition, in float64.

    Parameters
    ----------
    case : Case
        The case.
    ids, weight : torch.Tensor
        As for :func:`contender`.

    Returns
    -------
    torch.Tensor
        The rows picked, or the number of each id's occurrences times 1/8 in each column.

    Examples
    --------
    >>> case = Case("lookup", "backward", 3, 2, 3, "uniform", "float32", "hot")
    >>> expected_result(case, torch.tensor([2, 2, 1]), torch.ones(3, 2)).tolist()
    [[0.0, 0.0], [0.125, 0.125], [0.25, 0.25]]
    """
    if case.direction == "forward":
        return weight.double()[ids]
    counts = torch.bincount(ids, minlength=case.vocab_size).double()
    return (counts * 0.125).unsqueeze(1).expand(case.vocab_size, case.dim)
