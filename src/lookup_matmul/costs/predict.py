"""What the machine can do at most, measured on the spot, and the time that a case then takes."""

from functools import partial
from math import inf, log
from typing import Any

import numpy as np
import torch

from lookup_matmul.costs.cases import DTYPES, Case, sample_ids, sample_inputs
from lookup_matmul.costs.clock import Call, flush, time_side_by_side
from lookup_matmul.costs.contenders import ALONE, COMPILED, contender, forms_of
from lookup_matmul.costs.count import kernels
from lookup_matmul.costs.machine import check_device
from lookup_matmul.equality.rounding import precision_of

FEW, MANY = 2, 1024  # ids for the price of a call, of which torch would not sort one, and of each
# All other forms handle ids one by one, at a price for each, besides the bytes of its row.
AS_A_WHOLE = (ALONE, "lookup, sparse gradient")


def measure_ceilings(device: str, *, quick: bool = False) -> dict[str, Any]:
    """Measure the price of each form's calls, of bytes at each working set, and of operations.

    On ``"cpu"`` or ``"cuda"``; quick, with fewer sizes and rounds. Three numbers are quartiles.
    ``fixed_s``: of hot and of cold calls, seconds of each form for two ids and rows of one number;
    ``row_s``: for each row of a cache line, where rows are handled one by one. ``bandwidth``:
    bytes read and written in a second by copies, by ``working_set``. ``first_touch``: seconds by
    which a byte of new memory takes longer to fill than one of old, by ``allocated``. ``rate``:
    operations in a second of square products of random numbers, by dtype.
    Another device, or one that is not there, is a ValueError.

    Examples
    --------
    >>> sorted(measure_ceilings("cpu", quick=True))
    ['bandwidth', 'first_touch', 'fixed_s', 'rate', 'row_s']
    """
    check_device(device)
    (hot, hot_row), (cold, cold_row) = (_prices(device, heat, quick) for heat in ("hot", "cold"))
    return {
        "fixed_s": {"hot": hot, "cold": cold},
        "row_s": {"hot": hot_row, "cold": cold_row},
        "bandwidth": _bandwidth(device, quick),
        "first_touch": _first_touch(quick) if device == "cpu" else [],  # CUDA's memory is kept
        "rate": _rate(device, quick),
    }


def predicted_s(case: Case, distinct: int, ceilings: Any) -> float:
    """Predict the seconds of a case: the price of its calls, and of what each kernel has to do.

    A kernel takes the longest of bytes / bandwidth and operations / rate, as in the roofline of
    Williams, Waterman and Patterson, CACM 52 (2009), besides the first touch of new memory.
    The bandwidth is that of the call's working set, cold that of the largest measured; a dtype
    without a rate has float32's, and a form whose calls have no price is a KeyError;
    an unknown direction, draw, dtype, cache or form is a ValueError.

    Examples
    --------
    >>> case, price = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot"), [1e-6] * 3
    >>> limits = {"fixed_s": {"hot": {"forward lookup": price}}, "row_s": {"hot": {}}}
    >>> limits |= {"bandwidth": [{"working_set": 9, "bytes_per_s": [124e6] * 3}]}
    >>> limits |= {"first_touch": [], "rate": {"float32": {"random": [1e9] * 3}}}
    >>> predicted_s(case, 2, limits)
    2e-06
    """
    counted, form, rate = kernels(case, distinct), key_of(case), ceilings["rate"]
    fixed, rows = (ceilings[price][case.cache] for price in ("fixed_s", "row_s"))
    # A compiler takes seconds, so its calls are taken to cost what those of its product do.
    seconds = fixed[form.replace(COMPILED, ALONE)][1]
    seconds += case.ids * rows.get(form, 3 * [0])[1]
    speeds = [(p["working_set"], p["bytes_per_s"][1]) for p in ceilings["bandwidth"]]
    touches = [(p["allocated"], p["s_per_byte"][1]) for p in ceilings["first_touch"]]
    for kernel in counted:
        level = kernel.working_set if case.cache == "hot" else inf
        computing = kernel.operations / rate.get(case.dtype, rate["float32"])["random"][1]
        seconds += max(kernel.bytes / _between(speeds, level), computing)
        if touches:
            seconds += kernel.allocated_bytes * _between(touches, kernel.allocated_bytes)
    return float(seconds)


def key_of(case: Case) -> str:
    """Return the name of a form among the fixed costs."""
    return f"{'bags' if case.bags else case.direction} {case.form}"


def _between(points: list[tuple[int, float]], at: float) -> float:
    """Read a curve, straight between its points over the logarithm, constant beyond its ends."""
    x, y = zip(*points, strict=True)
    return float(np.interp(log(max(at, 1)), np.log(x), y))


def _prices(device: str, cache: str, quick: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Time few ids and many in each form; cold, each of these is a line anywhere in memory."""
    calls: dict[tuple[str, int], Call] = {}
    # A backward pass comes right after the forward pass, so it is never cold.
    kinds = [("forward", 0), ("forward", 1), ("backward", 0)]
    for direction, bags in kinds if cache == "hot" else kinds[:2]:
        for form in forms_of(direction, bags):
            for ids in () if form == COMPILED else (FEW,) if form in AS_A_WHOLE else (FEW, MANY):
                rows, dim = (MANY if cache == "hot" else 64 * MANY), 16
                if ids == FEW or "built" in form:  # of whose encoding only the ones are wanted
                    rows, dim = FEW, 1
                sizes = (rows, dim, ids, "uniform", "float32", cache, bags and -(-ids // 8))
                case, sample = Case(form, direction, *sizes), sample_ids("uniform", ids, rows)
                calls[key_of(case), ids] = contender(case, sample_inputs(case, sample, device))
    rounds = (5 if cache == "hot" else 3) if quick else 9
    prepare = flush(device) if cache == "cold" else None
    times = time_side_by_side(calls, rounds=rounds, block_s=1e-3, prepare=prepare, device=device)
    triples = {call: sorted(times[call][:3]) for call in calls}
    fixed = {form: triple for (form, ids), triple in triples.items() if ids == FEW}
    return fixed, {
        form: [max(s - fixed[form][1], 0) / MANY for s in triple]
        for (form, ids), triple in triples.items()
        if ids == MANY
    }


def _bandwidth(device: str, quick: bool) -> list[dict[str, Any]]:
    largest = 32 if device == "cuda" else 27 if quick else 29
    sizes = [2**k for k in range(15, largest + 1, 2 if quick else 1)]
    old, new = (torch.ones(sizes[-1] // 8, device=device) for _ in range(2))
    copies = {size: partial(new[: size // 8].copy_, old[: size // 8]) for size in (8, *sizes)}
    times = time_side_by_side(copies, rounds=5, block_s=2e-3, device=device)
    speeds = {size: _per_s(size, times[size], times[8].median_s) for size in sizes}
    return [{"working_set": size, "bytes_per_s": speed} for size, speed in speeds.items()]


def _first_touch(quick: bool) -> list[dict[str, Any]]:
    """Fill new memory and old; above 32 MB glibc hands out pages that the system has to clear."""
    curve = []
    for size in (2**20, 2**24, 2**25 - 2**16, 2**25 + 2**16) + (() if quick else (2**27,)):
        old = torch.zeros(size // 4)
        fills: dict[str, Call] = {"new": partial(torch.zeros, size // 4), "old": old.zero_}
        times = time_side_by_side(fills, rounds=3 if quick else 9, block_s=1e-3)
        more = [max(s - times["old"].median_s, 0) / size for s in sorted(times["new"][:3])]
        curve.append({"allocated": size, "s_per_byte": more})
    return curve


def _rate(device: str, quick: bool) -> dict[str, Any]:
    rate, side = {}, 8192 if device == "cuda" else 512 if quick else 1024
    for name in DTYPES if device == "cuda" else ("float32",):
        random = torch.randn(side, side, device=device).to(DTYPES[name])
        square = {"square": partial(random.mm, random)}
        with precision_of(name):
            times = time_side_by_side(square, rounds=5, block_s=0.01, device=device)
        rate[name] = {"random": _per_s(2 * side**3, times["square"])}
    return rate


def _per_s(amount: float, times: tuple[Any, ...], price_s: float = 0.0) -> list[float]:
    """Divide by the time without the price of a call, of which a tenth is left at least."""
    return [amount / max(s - price_s, s / 10) for s in sorted(times[:3], reverse=True)]
