"""The cases of a sweep: inputs made once, and every form of one computation on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import torch

from lookup_matmul.forms import lookup, one_hot, one_hot_matmul
from lookup_matmul.timings.cost import Cost, Sizes, lookup_cost, one_hot_cost, product_cost

FORWARD = ("lookup", "index_select", "one-hot built and multiplied", "multiplication alone")
BACKWARD = (
    "lookup",
    "lookup, deterministic",
    "lookup, sparse gradient",
    "multiplication alone",
)
# tf32 stands for float32 tables whose products the GPU may round to ten bits after the point.
DTYPES = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}

# Each part is a product of: vocabulary sizes, dimensions, numbers of ids, draws, dtypes, caches.
UNIFORM, DRAWS, CACHES = ("uniform",), ("uniform", "zipf", "equal"), ("hot", "cold")
Axes: TypeAlias = list[tuple[tuple[Any, ...], ...]]
QUICK_AXES: Axes = [((64, 4096), (64,), (1024,), ("uniform", "zipf"), ("float32",), CACHES)]
CPU_AXES: Axes = [
    ((16, 256, 4096, 50_257), (64, 256), (256, 4096), UNIFORM, ("float32",), CACHES),
    ((100, 50_257), (256,), (1024, 10_000), DRAWS, ("float32",), ("hot",)),
]
GPU_AXES: Axes = [
    (
        (*(2**k for k in range(4, 21, 2)), 50_257),
        (256,),
        (1, 1024, 2**15, 2**20),
        UNIFORM,
        ("float32", "tf32", "bfloat16", "float16"),
        CACHES,
    ),
    ((64, 2**14, 2**20), (64, 1024, 4096), (1024, 2**18), DRAWS, ("float32",), CACHES),
    ((100,), (100,), (10_000,), DRAWS, ("float32",), ("hot",)),
]


class Case(NamedTuple):
    """One measurement to be made, in the words of the recording.

    Attributes
    ----------
    form : str
        One of ``FORWARD`` or ``BACKWARD``.
    direction : str
        ``"forward"`` or ``"backward"``.
    vocab_size, dim, ids : int
        Shape of the table, and how many ids.
    draw : str
        ``"uniform"``, ``"zipf"`` or ``"equal"``: how the ids are drawn.
    dtype : str
        Name of the table's dtype.
    cache : str
        ``"hot"``: called again and again; ``"cold"``: after other data went through the caches.
    """

    form: str
    direction: str
    vocab_size: int
    dim: int
    ids: int
    draw: str
    dtype: str
    cache: str


def sweep(*, quick: bool, cuda: bool) -> Iterator[Case]:
    """List the cases of a machine, small ones first.

    Parameters
    ----------
    quick : bool
        A dozen cases that show that everything works, instead of all.
    cuda : bool
        The sizes of a GPU instead of a CPU's.

    Yields
    ------
    Case
        Forward and backward, in every form.

    Examples
    --------
    >>> next(sweep(quick=True, cuda=False))
    Case(form='lookup', direction='forward', vocab_size=64, dim=64, ids=1024, draw='uniform', \
dtype='float32', cache='hot')
    """
    axes = GPU_AXES if cuda else CPU_AXES
    if quick:
        axes = QUICK_AXES
    seen = dict.fromkeys(sizes for part in axes for sizes in product(*part))
    for sizes in sorted(seen, key=lambda sizes: sizes[0] * sizes[2] * sizes[1]):
        for direction, forms in (("forward", FORWARD), ("backward", BACKWARD)):
            yield from (Case(form, direction, *sizes) for form in forms)


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
        # One row for each id, as it arrives, beside a copy of the ids: nothing is added up.
        moved = 2 * case.ids * (8 + case.dim * itemsize)
        return Cost(0, moved, moved, moved, 0)
    if case.form in ("lookup", "lookup, deterministic", "index_select"):
        return lookup_cost(sizes, backward=backward)
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
