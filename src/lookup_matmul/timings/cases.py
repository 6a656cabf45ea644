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
    "sparse product",
)
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
