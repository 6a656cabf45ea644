"""A case to be measured: the inputs that all its forms share, and what must come out of them."""

from math import sqrt
from typing import Any, NamedTuple

import torch

from lookup_matmul.equality.assertions import assert_within
from lookup_matmul.equality.rounding import rounding_bound

AT_ONCE = 2**25  # elements in float64 at a time, so that checking fits wherever measuring does
DTYPES = {"float32": torch.float32, "tf32": torch.float32}
DTYPES |= {"bfloat16": torch.bfloat16, "float16": torch.float16}
KNOWN = {
    "direction": ("forward", "backward"),
    "draw": ("uniform", "zipf", "equal"),
    "dtype": (*DTYPES,),
    "cache": ("hot", "cold"),
}


class Case(NamedTuple):
    """One measurement to be made: a form of a computation, and the size of its inputs.

    ``form`` is how it is computed, such as ``"lookup"``; ``direction`` is ``"forward"``, or
    ``"backward"`` to the table's gradient. The table has ``vocab_size`` rows and ``dim`` columns;
    ``ids`` are looked up, drawn as ``draw`` says, see :func:`sample_ids`. ``dtype`` is
    ``"float32"``, ``"bfloat16"``, ``"float16"``, or ``"tf32"``: float32 tables that a GPU may round
    to ten bits after the point before it multiplies. ``cache`` is ``"hot"`` for a call again and
    again, ``"cold"`` for one after other data went through the caches. So many ``bags`` share the
    ids evenly; 0 is a row of its own for each id.
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


class Inputs(NamedTuple):
    """What all forms of a case compute with."""

    ids: torch.Tensor  # (ids,), int64; those of a bag stand together
    weight: torch.Tensor  # (vocab_size, dim)
    values: torch.Tensor  # of entries: (ids,), or empty without bags
    arriving: torch.Tensor  # gradient: (ids, dim), or empty in the forward direction
    bags: int = 0


def check_case(case: Case) -> None:
    """Raise ValueError unless direction, draw, dtype and cache are among those there are."""
    for name, known in KNOWN.items():
        if (value := getattr(case, name)) not in known:
            raise ValueError(f"{name} is {value!r}, expected one of {', '.join(known)}.")


def sample_ids(draw: str, count: int, vocab_size: int) -> torch.Tensor:
    """Return so many ids below ``vocab_size`` on the CPU: int64, shape (count,), always the same.

    They are drawn ``"uniform"``; ``"zipf"``, where the k-th most frequent id, whichever that is,
    has a chance proportional to 1/k; or ``"equal"``, one id again and again.

    Examples
    --------
    >>> sample_ids("equal", 3, 10).unique().numel()
    1
    """
    generator = torch.Generator().manual_seed(0)
    if draw == "zipf":
        order = torch.randperm(vocab_size, generator=torch.Generator().manual_seed(1))
        reached = (1 / torch.arange(1, vocab_size + 1, dtype=torch.float64)).cumsum(0)
        heights = torch.rand(count, generator=generator, dtype=torch.float64) * reached[-1]
        return order[torch.searchsorted(reached, heights).clamp_(max=vocab_size - 1)]
    drawn = {"uniform": count, "equal": 1}[draw]
    ids = torch.randint(vocab_size, (drawn,), generator=generator)
    return ids.expand(count).contiguous()


def sample_inputs(case: Case, ids: torch.Tensor, device: str) -> Inputs:
    """Sample the table and what arrives from N(0, 1), and values of entries from U(0, 1)."""
    options: Any = {"generator": torch.Generator(device).manual_seed(1), "device": device}
    weight = torch.randn(case.vocab_size, case.dim, **options)
    values = torch.rand(case.ids * (case.bags > 0), **options)
    arriving = torch.randn(case.ids * (case.direction != "forward"), case.dim, **options)
    weight, values, arriving = (a.to(DTYPES[case.dtype]) for a in (weight, values, arriving))
    return Inputs(ids.to(device), weight, values, arriving, case.bags)


def check_result(case: Case, inputs: Inputs, result: torch.Tensor) -> dict[str, float]:
    """Return the errors of a result; raise AssertionError unless rounding explains them.

    The bound of each element lets zeros pass where a sum of many half-precision numbers may stop
    growing; the error in norm does not: it stays below a half, and zeros are off by 1.
    """
    bound, in_norm = error_bounds(case, int(torch.bincount(inputs.ids).max()))
    step = max(1, AT_ONCE // max(1, len(result := result.to_dense())))
    worst, off, whole = 0.0, 0.0, 0.0
    for begin in range(0, result.shape[1], step):
        found = result[:, begin : begin + step]
        expected, size = expected_columns(case, inputs, slice(begin, begin + step))
        assert_within(found, expected, bound * size)
        difference = found.double() - expected
        worst = max(worst, float(difference.abs().max()))
        off += float(difference.square().sum())
        whole += float(expected.square().sum())
    relative = sqrt(off / whole) if whole else 0.0
    if relative > in_norm:
        raise AssertionError(f"off by {relative:.2g} in norm, expected at most {in_norm:.2g}.")
    return {"max_error": worst, "relative_error": relative, "error_bound": bound}


def expected_columns(case: Case, inputs: Inputs, columns: slice) -> tuple[torch.Tensor, ...]:
    """Return columns of what a case gives, and of the sums of absolute terms, in float64."""
    if case.form == "one-hot built":
        places = torch.arange(case.vocab_size, device=inputs.ids.device)[columns]
        ones = (inputs.ids.unsqueeze(1) == places).double()
        return ones, ones
    if case.direction == "forward":
        rows = inputs.weight[:, columns][inputs.ids].double()
        if case.bags and case.form != "embedding bag, without weights":
            rows *= inputs.values.double().unsqueeze(1)
        rows = rows.view(case.bags or case.ids, -1, rows.shape[1])
        return rows.sum(1), rows.abs().sum(1)
    arriving = inputs.arriving[:, columns].double()
    zeros = torch.zeros_like(inputs.weight[:, columns], dtype=torch.float64)
    return tuple(zeros.index_add(0, inputs.ids, terms) for terms in (arriving, arriving.abs()))


def error_bounds(case: Case, most: int) -> tuple[float, float]:
    """Return bounds of the error: of each element relative to its size, and in norm.

    ``most`` is how often the most frequent id comes. In norm, which zeros never meet, the roundings
    of a sum of random terms add up like a random walk, of which four times the length are allowed.
    """
    dtype, terms = DTYPES[case.dtype], case.ids // case.bags + 1 if case.bags else 1
    if case.direction != "forward":
        terms = most
    roundoff = torch.finfo(dtype).eps / 2
    share = rounding_bound(terms, dtype) if 2 * (terms - 1) * roundoff < 1 else 1.0
    rounded = 2.0**-10 if case.dtype == "tf32" else 0.0  # to ten bits after the point
    return min(1.0, share + rounded), min(0.5, 4 * roundoff * sqrt(terms) + rounded)
