"""Measure cases that share their inputs side by side, each checked before it is timed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from lookup_matmul.memory import peak_bytes
from lookup_matmul.rounding import rounding_bound
from lookup_matmul.timings.cases import DTYPES, Case
from lookup_matmul.timings.clock import (
    Watch,
    check_results,
    cuda_stopwatch,
    stopwatch,
    time_side_by_side,
)
from lookup_matmul.timings.contenders import case_cost, contender, draw_ids, expected_result
from lookup_matmul.timings.cost import predicted_s
from lookup_matmul.timings.machine import free_bytes, precision_of
from lookup_matmul.timings.recording import over_limit

FLUSHED_BYTES = 2**27  # more than any last-level cache that is common
PATIENCE_S = 0.25  # a call predicted to take longer is left out


def measure_group(
    cases: list[Case],
    *,
    ceilings: dict[str, Any],
    device: str,
    rounds: int = 9,
    watch: Watch | None = None,
) -> list[dict[str, Any]]:
    """Measure cases that differ in their form only, side by side on one set of inputs.

    Parameters
    ----------
    cases : list
        The cases.
    ceilings : dict
        As :func:`measure_ceilings` gives them.
    device : str
        ``"cpu"`` or ``"cuda"``.
    rounds : int
        How often each has its turn.
    watch : collections.abc.Callable, optional
        Another clock, for tests.

    Returns
    -------
    list
        A dictionary for each case, as the schema of a recording asks.

    Raises
    ------
    AssertionError
        If a form computes something else than its definition says; then nothing is timed.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> ceilings = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e9}}
    >>> measure_group([case], ceilings=ceilings, device="cpu", rounds=3)[0]["peak_bytes"]
    60
    """
    first = cases[0]
    ids = draw_ids(first.draw, first.ids, first.vocab_size)
    asked = {case: _ask(case, int(torch.bincount(ids).count_nonzero()), ceilings) for case in cases}
    results = []
    fitting = []
    for case, question in asked.items():
        if reason := _too_much(case, question["predicted_s"], device):
            results.append(question | {"skipped": reason})
        else:
            fitting.append(case)
    if not fitting:
        return results
    ids = ids.to(device)
    generator = torch.Generator(device).manual_seed(1)
    weight = torch.randn(first.vocab_size, first.dim, generator=generator, device=device)
    weight = weight.to(DTYPES[first.dtype])
    calls = {}
    for case in fitting:
        call = contender(case, ids, weight)
        try:
            call()
            calls[case] = call
        except NotImplementedError as error:  # torch lacks some forms in some dtypes
            results.append(asked[case] | {"skipped": f"torch says: {error}"})
    if not calls:
        return results
    with precision_of(first.dtype):
        return results + _measure(calls, asked, ids, weight, ceilings, rounds, watch)


def _measure(
    forms: dict[Case, Callable[[], torch.Tensor]],
    asked: dict[Case, dict[str, Any]],
    ids: torch.Tensor,
    weight: torch.Tensor,
    ceilings: dict[str, Any],
    rounds: int,
    watch: Watch | None,
) -> list[dict[str, Any]]:
    first, device = next(iter(forms)), weight.device.type
    calls = {case.form: call for case, call in forms.items()}
    errors = _errors(first, calls, ids, weight)
    scratch = torch.empty(
        FLUSHED_BYTES if first.cache == "cold" else 0, dtype=torch.uint8, device=device
    )
    times = time_side_by_side(
        calls,
        rounds=rounds,
        block_s=0.005,
        prepare=scratch.bitwise_not_ if first.cache == "cold" else None,
        watch=watch or (cuda_stopwatch if device == "cuda" else stopwatch),
    )
    results = []
    for case in forms:
        measured = times[case.form]._asdict() | {
            "peak_bytes": peak_bytes(calls[case.form], device),
            "max_error": errors[case.form],
        }
        too_fast = over_limit(case, asked[case] | measured, ceilings)
        reason = f"{too_fast}: {_why(case, too_fast)}" if too_fast else None
        results.append(asked[case] | measured | {"reason": reason})
    return results


def _why(case: Case, too_fast: str) -> str:
    if "FLOP" in too_fast:
        return "the ceiling is that of a square product, and this one has another shape"
    if case.cache == "hot":
        return "what is used again stays in a cache"
    return "inputs were flushed, and what is written may stay in a cache"


def _ask(case: Case, distinct: int, ceilings: dict[str, Any]) -> dict[str, Any]:
    rates = ceilings["operations_per_s"]
    rate = rates.get(case.dtype, rates["float32"])
    seconds = predicted_s(case_cost(case, distinct), ceilings["copy_bytes_per_s"], rate)
    return {**case._asdict(), "distinct": distinct, "predicted_s": seconds}


def _too_much(case: Case, seconds: float, device: str) -> str:
    itemsize = DTYPES[case.dtype].itemsize
    table, rows = (n * case.dim * itemsize for n in (case.vocab_size, case.ids))
    matrix = case.ids * case.vocab_size * itemsize if "mult" in case.form else 0
    # Checking in float64 takes a table and rows of eight bytes for each element, twice.
    needed = 2 * matrix + (table + rows) * (1 + 16 // itemsize)
    if needed > 0.8 * (free := free_bytes(device)):
        return f"needs {needed / 1e9:.1f} GB of the {free / 1e9:.1f} GB that are free"
    if seconds > PATIENCE_S:
        return f"predicted to take {seconds:.1f} s for one call, more than {PATIENCE_S} s"
    return ""


def _errors(
    case: Case,
    calls: dict[str, Callable[[], torch.Tensor]],
    ids: torch.Tensor,
    weight: torch.Tensor,
) -> dict[str, float]:
    """Check each form against its definition, and give its largest error."""
    expected = expected_result(case, ids, weight)
    results = {form: call().to_dense() for form, call in calls.items()}
    most = int(torch.bincount(ids).max())
    # Half precisions stop growing once a term is under half a unit: off by all of it at most.
    exact = case.dtype in ("float32", "tf32")
    share = rounding_bound(most, torch.float32) if exact else 1.0
    bound = share * expected if case.direction == "backward" else torch.zeros(())
    if case.direction == "forward" and case.dtype == "tf32":
        bound = expected.abs() * 2.0**-10  # a table rounded to ten bits after the point
    check_results(
        {form: partial(torch.Tensor.clone, r) for form, r in results.items()}, expected, bound
    )
    return {form: float((r.double() - expected).abs().max()) for form, r in results.items()}
