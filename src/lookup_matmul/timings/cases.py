"""The cases of a sweep: what is measured, with which sizes, ids, dtypes and caches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import torch

FORWARD = (
    "lookup",
    "index_select",
    "one-hot built and multiplied",
    "multiplication alone",
    "compiled one-hot",
    "sparse product",
)
BACKWARD = (
    "lookup",
    "lookup, deterministic",
    "lookup, sparse gradient",
    "index_add",
    "index_add, deterministic",
    "multiplication alone",
)
BAGS = (
    "embedding bag",
    "embedding bag, without weights",
    "sparse product",
    "multiplication alone",
)
# Where the precision of products makes a difference, and what they are compared with.
PRODUCTS = ("lookup", "one-hot built and multiplied", "multiplication alone")
# tf32 stands for float32 tables whose products the GPU may round to ten bits after the point.
DTYPES = {
    "float32": torch.float32,
    "tf32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}

UNIFORM, DRAWS = ("uniform",), ("uniform", "zipf", "equal")
FLOAT32, HOT, CACHES = ("float32",), ("hot",), ("hot", "cold")
POWERS = (16, 64, 256, 1024, 4096, 2**14, 2**16, 2**18, 2**20)
# Each part is a product of: vocabulary sizes, dimensions, (ids, bags), draws, dtypes, caches;
# no bags means that every id stands for itself.
Axes: TypeAlias = list[tuple[tuple[Any, ...], ...]]
QUICK_AXES: Axes = [
    ((64, 4096), (64,), ((1024, 0),), ("uniform", "zipf"), FLOAT32, CACHES),
    ((4096,), (64,), ((1024, 64),), ("zipf",), FLOAT32, CACHES),
]
CPU_AXES: Axes = [
    (
        (16, 100, 256, 4096, 50_257),
        (64, 256),
        ((256, 0), (1024, 0), (4096, 0)),
        UNIFORM,
        FLOAT32,
        CACHES,
    ),
    ((100, 50_257), (256,), ((4096, 0),), DRAWS, FLOAT32, HOT),
    ((100,), (100,), ((10_000, 0),), DRAWS, FLOAT32, HOT),
    ((1000, 50_257), (128,), ((10_240, 1024), (102_400, 1024)), ("zipf",), FLOAT32, CACHES),
]
GPU_AXES: Axes = [
    (
        (*POWERS, 50_257),
        (256,),
        ((1, 0), (1024, 0), (2**15, 0), (2**20, 0)),
        UNIFORM,
        tuple(DTYPES),
        CACHES,
    ),
    ((64, 2**14, 2**20), (64, 1024, 4096), ((1024, 0), (2**18, 0)), DRAWS, FLOAT32, CACHES),
    # Widths around those whose rows begin at a multiple of 16 bytes.
    ((2**20,), (31, 33, 64, 65, 100, 127, 128, 129), ((2**18, 0),), UNIFORM, FLOAT32, ("cold",)),
    ((100,), (100,), ((10_000, 0),), DRAWS, FLOAT32, HOT),
    (
        (50_000, 10_000_000),
        (128,),
        tuple((bags * n, bags) for bags in (1024, 2**14, 2**16) for n in (10, 50, 200)),
        ("zipf",),
        ("float32", "bfloat16"),
        CACHES,
    ),
]


class Case(NamedTuple):
    """One measurement to be made, in the words of the recording.

    Attributes
    ----------
    form : str
        One of ``FORWARD`` or ``BACKWARD``, or of ``BAGS`` where there are bags.
    direction : str
        ``"forward"`` or ``"backward"``.
    vocab_size, dim, ids : int
        Shape of the table, and how many ids, those of all bags together.
    draw : str
        ``"uniform"``, ``"zipf"`` or ``"equal"``: how the ids are drawn.
    dtype : str
        Name of the table's dtype.
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


def forms_of(direction: str, bags: int) -> tuple[str, ...]:
    """Name the forms that compute one thing.

    Parameters
    ----------
    direction : str
        ``"forward"`` or ``"backward"``.
    bags : int
        The number of bags, or 0.

    Returns
    -------
    tuple
        Empty for the backward pass of bags, which is not measured.

    Examples
    --------
    >>> forms_of("forward", bags=64)[0]
    'embedding bag'
    """
    if bags:
        return BAGS if direction == "forward" else ()
    return FORWARD if direction == "forward" else BACKWARD


def sweep(*, quick: bool, cuda: bool) -> Iterator[Case]:
    """List the cases of a machine, small ones first.

    Parameters
    ----------
    quick : bool
        A few cases that show that everything works, instead of all.
    cuda : bool
        The sizes of a GPU instead of a CPU's.

    Yields
    ------
    Case
        Forward and backward, in every form; those that share their inputs stand together.

    Examples
    --------
    >>> next(sweep(quick=True, cuda=False))
    Case(form='lookup', direction='forward', vocab_size=64, dim=64, ids=1024, draw='uniform', \
dtype='float32', cache='hot', bags=0)
    """
    axes = GPU_AXES if cuda else CPU_AXES
    if quick:
        axes = QUICK_AXES
    seen = dict.fromkeys(sizes for part in axes for sizes in product(*part))
    for sizes in sorted(seen, key=lambda sizes: sizes[0] * sizes[1] * sizes[2][0]):
        vocab_size, dim, (ids, bags), draw, dtype, cache = sizes
        for direction in ("forward", "backward"):
            for form in forms_of(direction, bags):
                case = Case(form, direction, vocab_size, dim, ids, draw, dtype, cache, bags)
                if _worth_measuring(case):
                    yield case


def _worth_measuring(case: Case) -> bool:
    if case.direction == "backward" and case.cache == "cold":
        return False  # a gradient comes right after what it is the gradient of
    if case.dtype in ("tf32", "float16") and case.form not in PRODUCTS:
        return False  # as with float32 and with bfloat16
    if case.form == "compiled one-hot":
        # Compiling takes seconds for each shape: only where a product could keep up with a lookup.
        narrow = case.vocab_size <= 4096 and case.dim == 256
        usual = case.draw == "uniform" and case.dtype in ("float32", "bfloat16")
        return narrow and usual and case.cache == "hot"
    return True
