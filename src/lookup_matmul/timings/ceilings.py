"""What the machine can do at most, measured on the spot, and the time that a case then takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import inf, log
from typing import Any

import torch

from lookup_matmul.timings.cases import DTYPES, Case, draw_ids, draw_inputs, forms_of
from lookup_matmul.timings.clock import Call, Spread, flush, time_side_by_side
from lookup_matmul.timings.contenders import contender
from lookup_matmul.timings.cost import parts
from lookup_matmul.timings.cuda import cuda_stopwatch
from lookup_matmul.timings.machine import precision_of

# Ids for the price of a call (torch neither sorts nor adds up a single one), and of each.
FEW, MANY = 2, 1024
# All other forms handle ids one by one, at a price for each, besides the bytes of its row.
AS_A_WHOLE = ("multiplication alone", "lookup, sparse gradient", "SGD, dense", "Adam, dense")


def measure_ceilings(device: str, *, quick: bool = False) -> dict[str, Any]:
    """Measure the price of each form's calls, of bytes at each working set, and of operations.

    Parameters
    ----------
    device : str
        ``"cpu"`` or ``"cuda"``.
    quick : bool
        Fewer sizes and rounds.

    Returns
    -------
    dict
        Three numbers are quartiles over rounds. ``fixed_s``: of hot and of cold calls, seconds of
        each form for two ids and rows of one number; ``row_s``: for each row of a cache line,
        where rows are handled one by one. ``bandwidth``: bytes read and written in a second by
        copies, by ``working_set``. ``first_touch``: seconds by which a byte of new memory takes
        longer to fill than one of old, by ``allocated``. ``rate``: operations in a second by
        dtype, of square products of random numbers and of zeros; and ``"divisions"``.

    Examples
    --------
    >>> sorted(measure_ceilings("cpu", quick=True))
    ['bandwidth', 'first_touch', 'fixed_s', 'rate', 'row_s']
    """
    prices = {cache: _prices(device, cache, quick) for cache in ("hot", "cold")}
    return {
        "fixed_s": {cache: fixed for cache, (fixed, _) in prices.items()},
        "row_s": {cache: row for cache, (_, row) in prices.items()},
        "bandwidth": _bandwidth(device, quick),
        "first_touch": _first_touch(quick) if device == "cpu" else [],  # CUDA's memory is kept
        "rate": _rate(device, quick),
    }


def predicted_s(case: Case, distinct: int, ceilings: dict[str, Any]) -> float:
    """Predict the seconds of a case: the price of its calls, and of what each kernel has to do.

    A kernel takes the longest of bytes / bandwidth and operations / rate, as in the roofline of
    Williams, Waterman and Patterson, CACM 52 (2009), besides the first touch of new memory.
    Hot, the bandwidth is that of the call's working set; cold, that of the largest measured.

    Parameters
    ----------
    case, distinct
        As for :func:`parts`.
    ceilings : dict
        As :func:`measure_ceilings` gives them; without a rate for the dtype, float32's counts.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> case, prices = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot"), [1e-6] * 3
    >>> predicted_s(case, 2, {
    ...     "fixed_s": {"hot": {"forward lookup": prices}}, "row_s": {"hot": {}},
    ...     "bandwidth": [{"working_set": 2**20, "bytes_per_s": [124e6] * 3}], "first_touch": [],
    ...     "rate": {"float32": {"random": [1e9] * 3}},
    ... })
    2e-06
    """
    form, rate = key_of(case), ceilings["rate"]
    fixed, row = (ceilings[price][case.cache] for price in ("fixed_s", "row_s"))
    # A compiler takes seconds, so its calls are taken to cost what those of its product do.
    seconds = fixed[form.replace("compiled one-hot", "multiplication alone")][1]
    seconds += (distinct if case.direction == "step" else case.ids) * row.get(form, [0, 0])[1]
    for part in parts(case, distinct):
        level = part.working_set if case.cache == "hot" else inf
        limits = [
            part.bytes / _between(ceilings["bandwidth"], "working_set", level),
            part.operations / rate.get(case.dtype, rate["float32"])["random"][1],
            part.divisions and part.divisions / rate["divisions"]["random"][1],
        ]
        touched = _between(ceilings["first_touch"], "allocated", part.allocated_bytes)
        seconds += max(limits) + part.allocated_bytes * touched
    return float(seconds)


def key_of(case: Case) -> str:
    """Name a form among the fixed costs."""
    return f"{'bags' if case.bags else case.direction} {case.form}"


def _between(curve: list[dict[str, Any]], over: str, at: float) -> float:
    """Read a curve, straight between its points over the logarithm, constant beyond its ends."""
    points = [(p[over], *(y[1] for name, y in p.items() if name != over)) for p in curve]
    x, y = points[0] if points else (1, 0.0)
    for next_x, next_y in points[1:]:
        if x < at < next_x:
            return float(y + (next_y - y) * log(at / x) / log(next_x / x))
        x, y = (x, y) if at <= x else (next_x, next_y)
    return float(y)


def _prices(device: str, cache: str, quick: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Time few ids and many in each form; cold, each of these is a line anywhere in memory."""
    calls: dict[tuple[str, int], Call] = {}
    for direction, bags in (("forward", 0), ("forward", 1), ("backward", 0), ("step", 0)):
        for form in forms_of(direction, bags):
            # A backward pass comes right after the forward pass, so it is never cold.
            if form == "compiled one-hot" or (cache == "cold" and direction != "forward"):
                continue
            for ids in (FEW,) if form in AS_A_WHOLE else (FEW, MANY):
                rows, dim = (MANY if cache == "hot" else 64 * MANY), 16
                if ids == FEW or "built" in form:  # of whose encoding only the ones are wanted
                    rows, dim = FEW, 1
                sizes = (rows, dim, ids, "uniform", "float32", cache, bags and -(-ids // 8))
                case, drawn = Case(form, direction, *sizes), draw_ids("uniform", ids, rows)
                calls[key_of(case), ids] = contender(case, draw_inputs(case, drawn, device))
    prepare = flush(device) if cache == "cold" else None
    times = _timed(calls, device, (3 if cache == "cold" else 5) if quick else 9, 0.001, prepare)
    fixed = {form: _triple(time) for (form, ids), time in times.items() if ids == FEW}
    return fixed, {
        form: [max(s - fixed[form][1], 0) / MANY for s in _triple(time)]
        for (form, ids), time in times.items()
        if ids == MANY
    }


def _bandwidth(device: str, quick: bool) -> list[dict[str, Any]]:
    largest = 32 if device == "cuda" else 27 if quick else 29
    sizes = [2**k for k in range(15, largest + 1, 2 if quick else 1)]
    source, target = (torch.ones(sizes[-1] // 8, device=device) for _ in range(2))
    halves = {size: (source[: size // 8], target[: size // 8]) for size in (8, *sizes)}
    copies = {size: partial(new.copy_, old) for size, (old, new) in halves.items()}
    times = _timed(copies, device, 5, 0.002)
    price = times[8].median_s
    return [{"working_set": s, "bytes_per_s": _per_s(s, times[s], price)} for s in sizes]


def _first_touch(quick: bool) -> list[dict[str, Any]]:
    """Fill new memory and old; above 32 MB glibc hands out pages that the system has to clear."""
    curve = []
    for size in (2**20, 2**24, 2**25 - 2**16, 2**25 + 2**16) + (() if quick else (2**27,)):
        old = torch.zeros(size // 4)
        fills: dict[str, Call] = {"new": partial(torch.zeros, size // 4), "old": old.zero_}
        times = _timed(fills, "cpu", 3 if quick else 9, 0.001)
        more = [max(s - times["old"].median_s, 0) / size for s in _triple(times["new"])]
        curve.append({"allocated": size, "s_per_byte": more})
    return curve


def _rate(device: str, quick: bool) -> dict[str, Any]:
    rate, side = {}, 8192 if device == "cuda" else 512 if quick else 1024
    for name in DTYPES if device == "cuda" else ("float32",):
        random = torch.randn(side, side, device=device).to(DTYPES[name])
        zeros = torch.zeros_like(random)
        squares = {"random": partial(random.mm, random), "zeros": partial(zeros.mm, zeros)}
        with precision_of(name):
            times = _timed(squares, device, 5, 0.01)
        rate[name] = {kind: _per_s(2 * side**3, time) for kind, time in times.items()}
    few = torch.rand(2**13, device=device)
    roots: dict[str, Call] = {"random": few.sqrt, "zeros": (few * 0).sqrt, "": few[0].sqrt}
    times = _timed(roots, device, 5, 0.001)
    price = times.pop("").median_s
    return rate | {"divisions": {k: _per_s(len(few), time, price) for k, time in times.items()}}


def _timed(
    calls: Mapping[Any, Call], device: str, rounds: int, block_s: float, prepare: Call | None = None
) -> dict[Any, Spread]:
    cuda: Any = {"watch": cuda_stopwatch, "prepared_calls": 50} if device == "cuda" else {}
    return time_side_by_side(calls, rounds=rounds, block_s=block_s, prepare=prepare, **cuda)


def _triple(times: Spread) -> list[float]:
    return [times.low_s, times.median_s, times.high_s]


def _per_s(amount: float, times: Spread, price_s: float = 0.0) -> list[float]:
    """Divide by the time without the price of a call, of which a tenth is left at least."""
    return [amount / max(s - price_s, s / 10) for s in reversed(_triple(times))]
