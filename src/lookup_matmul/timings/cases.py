"""What is measured, in the order of what it tells, and the inputs that all forms of it share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import torch

BUILT = "one-hot built and multiplied"
FORWARD = (
    "lookup", "one-hot built", BUILT, "multiplication alone", "compiled one-hot", "sparse product",
)  # fmt: skip
BAGS = ("embedding bag", "embedding bag, without weights", "sparse product", "multiplication alone")
BACKWARD = (
    "lookup", "lookup, deterministic", "lookup, sparse gradient", "lookup, sparse and coalesced",
    "index_add", "multiplication alone",
)  # fmt: skip
STEP = ("SGD, dense", "SGD, sparse", "Adam, dense", "SparseAdam")
RATE = 1e-3  # of learning, in steps of optimisers
# tf32 stands for float32 tables whose products the GPU may round to ten bits after the point.
DTYPES = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16}
DTYPES["float16"] = torch.float16


class Case(NamedTuple):
    """One measurement to be made, in the words of the recording.

    Attributes
    ----------
    form : str
        Which way of computing it; ``lookup_matmul.timings.cases`` lists those of each direction.
    direction : str
        ``"forward"``, ``"backward"`` to the table's gradient, or ``"step"`` of an optimiser.
    vocab_size, dim, ids : int
        Shape of the table, and how many ids, those of all bags together.
    draw : str
        ``"uniform"``, ``"zipf"`` or ``"equal"``: how the ids are drawn.
    dtype : str
        ``"float32"``, ``"tf32"``, ``"bfloat16"`` or ``"float16"``.
    cache : str
        ``"hot"``: called again and again; ``"cold"``: after other data went through the caches.
    bags : int
        How many bags share the ids evenly; 0 if every id stands for itself.
    """

    form: str
    direction: str
    vocab_size: int
    dim: int
    ids: int
    draw: str
    dtype: str
    cache: str
    bags: int = 0


# Tables by embedding dimension, vocabulary sizes of each: GPT-2's, Llama 3's, a recommender's.
GPT, LLAMA, ITEMS = {768: [50_257]}, {4096: [128_256]}, {128: [10**7]}
REAL = GPT | LLAMA | ITEMS
ALL, TWO, ONE = tuple(DTYPES), ("float32", "bfloat16"), ("float32",)
HOT, COLD, CACHES = ("hot",), ("cold",), ("hot", "cold")
UNIFORM, ZIPF, DRAWS = ("uniform",), ("zipf",), ("uniform", "zipf", "equal")
# What each part of a sweep is the product of: direction, tables, numbers of ids for each number
# of bags (for 0 in all, otherwise in each bag), draws, dtypes and caches. Before a line ``...``
# stands a point for each figure.
Axes: TypeAlias = list[tuple[Any, ...]]
QUICK: Axes = [
    ("forward", {64: [64, 4096]}, {0: [1024]}, UNIFORM, ONE, CACHES),
    ("backward", {64: [4096]}, {0: [1024]}, ZIPF, ONE, HOT),
    ("step", {64: [4096]}, {0: [1024]}, ZIPF, ONE, HOT),
    ("forward", {64: [4096]}, {64: [16]}, ZIPF, ONE, COLD),
]
CPU: Axes = [
    ("forward", GPT, {0: [256, 4096]}, UNIFORM, ONE, CACHES),
    ("forward", {256: [16, 256, 4096, 50_257]}, {0: [256, 4096]}, UNIFORM, ONE, CACHES),
    ("backward", GPT | {100: [100]}, {0: [10_000]}, DRAWS, ONE, HOT),
    ("step", GPT | {256: [4096]}, {0: [4096]}, UNIFORM, ONE, HOT),
    ("forward", {128: [50_257]}, {1024: [50]}, ZIPF, ONE, CACHES),
    # ...
    ("forward", {256: [64, 1024, 2**14]}, {0: [16, 1024]}, UNIFORM, ONE, CACHES),
    ("forward", {64: [16, 256, 4096, 50_257]}, {0: [1, 64, 4096]}, UNIFORM, ONE, CACHES),
    ("backward", {256: [100, 4096, 50_257]}, {0: [256, 4096]}, DRAWS, ONE, HOT),
    ("forward", {128: [10**6]}, {1024: [10, 100]}, ZIPF, ONE, CACHES),
]
GPU: Axes = [
    ("forward", REAL, {0: [8192]}, UNIFORM, ALL, CACHES),
    ("forward", {256: [64, 256, 1024, 4096]}, {0: [64, 2**16]}, UNIFORM, ALL, HOT),
    ("backward", GPT | {100: [100]}, {0: [10_000]}, DRAWS, ONE, HOT),
    ("step", GPT | LLAMA, {0: [8192]}, UNIFORM, ONE, HOT),
    ("forward", ITEMS, {4096: [50]}, ZIPF, TWO, COLD),
    ("forward", {d: [2**20] for d in (16, 64, 256, 1024)}, {0: [2**18]}, UNIFORM, ONE, COLD),
    # ...
    ("forward", {256: [16, 300, 512, 2**14, 50_257]}, {0: [64, 2**16]}, UNIFORM, ALL, HOT),
    ("forward", {256: [16, 64, 256, 1024, 4096]}, {0: [1024, 8192]}, UNIFORM, ALL, HOT),
    ("forward", {128: [16, 64, 300, 1024, 4096]}, {0: [2**16]}, UNIFORM, ALL, HOT),
    ("backward", REAL, {0: [8192, 2**16]}, DRAWS, TWO, HOT),
    ("step", REAL, {0: [2**16]}, DRAWS, ONE, HOT),
    ("forward", REAL, {0: [64, 2**16]}, DRAWS, TWO, CACHES),
    # Rows that begin at a multiple of 16 bytes and rows that do not; and more bags.
    ("forward", {d: [2**20] for d in (31, 33, 65, 127, 129)}, {0: [2**18]}, UNIFORM, ONE, COLD),
    ("forward", {128: [50_257, 10**7]}, {2**14: [10, 50, 200]}, ZIPF, TWO, CACHES),
]


def sweep(*, quick: bool = False, cuda: bool = False) -> Iterator[Case]:
    """List the cases of a machine in order of value: each figure first, then more points to it.

    Parameters
    ----------
    quick : bool
        A few cases that show that everything works, instead of all.
    cuda : bool
        The sizes and precisions of a GPU instead of a CPU's.

    Yields
    ------
    Case
        Those that share their inputs, and are measured in turns, stand together.

    Examples
    --------
    >>> next(sweep(cuda=True))[:5]
    ('lookup', 'forward', 50257, 768, 8192)
    """
    seen: dict[Case, None] = {}
    for direction, tables, counts, *rest in QUICK if quick else GPU if cuda else CPU:
        shapes = [(rows, dim) for dim, sizes in tables.items() for rows in sizes]
        ids_bags = [(n * max(bags, 1), bags) for bags, each in counts.items() for n in each]
        for shape, (ids, bags), how in product(shapes, ids_bags, product(*rest)):
            forms = forms_of(direction, bags)
            cases = (Case._make((form, direction, *shape, ids, *how, bags)) for form in forms)
            seen |= dict.fromkeys(case for case in cases if _tells(case))
    yield from seen


def forms_of(direction: str, bags: int) -> tuple[str, ...]:
    """Name the forms that compute one thing."""
    return {"forward": BAGS if bags else FORWARD, "backward": BACKWARD, "step": STEP}[direction]


def _tells(case: Case) -> bool:
    """Leave out what says the same as another dtype, and most of what takes seconds to compile."""
    if case.form == "compiled one-hot":
        told = case.dim == 256 and case.vocab_size in (64, 300, 1024) and case.ids >= 4096
        return told and case.dtype in TWO and case.cache == "hot"
    products = case.form in ("lookup", BUILT, "multiplication alone")
    return products or case.dtype in TWO


class Inputs(NamedTuple):
    """What all forms of a group compute with: ids, table, weights of entries, arriving gradient."""

    ids: torch.Tensor  # (ids,), int64; those of a bag stand together
    weight: torch.Tensor  # (vocab_size, dim)
    values: torch.Tensor  # (ids,), or empty without bags
    arriving: torch.Tensor  # (ids, dim), or empty in the forward direction


def draw_ids(draw: str, count: int, vocab_size: int) -> torch.Tensor:
    """Draw ids on the CPU.

    Parameters
    ----------
    draw : str
        ``"uniform"``; ``"zipf"``, where the k-th most frequent id, whichever that is, has a
        chance proportional to 1/k; or ``"equal"``, one id again and again.
    count, vocab_size : int
        How many, and below what.

    Returns
    -------
    torch.Tensor
        Shape (count,), int64, always the same.

    Examples
    --------
    >>> draw_ids("equal", 3, 10).unique().numel()
    1
    """
    generator = torch.Generator().manual_seed(0)
    if draw == "zipf":
        order, reached = _zipf(vocab_size)
        drawn = torch.rand(count, generator=generator, dtype=torch.float64) * reached[-1]
        return order[torch.searchsorted(reached, drawn).clamp_(max=vocab_size - 1)]
    if draw not in ("uniform", "equal"):
        raise ValueError(f"draw is {draw!r}, expected 'uniform', 'zipf' or 'equal'.")
    ids = torch.randint(vocab_size, (count if draw == "uniform" else 1,), generator=generator)
    return ids.expand(count).contiguous()


@lru_cache(maxsize=1)
def _zipf(vocab_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    order = torch.randperm(vocab_size, generator=torch.Generator().manual_seed(1))
    return order, (1 / torch.arange(1, vocab_size + 1, dtype=torch.float64)).cumsum(0)


def draw_inputs(case: Case, ids: torch.Tensor, device: str) -> Inputs:
    """Draw the table and what arrives from N(0, 1), and weights of entries from U(0, 1)."""
    generator = torch.Generator(device).manual_seed(1)
    arrive, entries = case.ids * (case.direction != "forward"), case.ids * (case.bags > 0)
    drawn = (
        torch.randn(case.vocab_size, case.dim, generator=generator, device=device),
        torch.rand(entries, generator=generator, device=device),
        torch.randn(arrive, case.dim, generator=generator, device=device),
    )
    return Inputs(ids.to(device), *(tensor.to(DTYPES[case.dtype]) for tensor in drawn))
