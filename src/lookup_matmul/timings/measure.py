"""Measure cases that share their inputs side by side, each checked before it is timed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from lookup_matmul.memory import peak_bytes
from lookup_matmul.timings.cases import DTYPES, Case
from lookup_matmul.timings.clock import (
    Watch,
    cuda_stopwatch,
    launch_s,
    stopwatch,
    time_side_by_side,
)
from lookup_matmul.timings.contenders import Contender, contender
from lookup_matmul.timings.inputs import Inputs, draw_ids, draw_inputs
from lookup_matmul.timings.limits import over_limit, predicted_case_s
from lookup_matmul.timings.machine import free_bytes, precision_of
from lookup_matmul.timings.oracle import largest_error, repeats_bitwise
from lookup_matmul.timings.text import plain

FLUSHED_BYTES = 2**28  # more than the last-level cache of most machines
PATIENCE_S = 0.25  # a call predicted to take longer is left out


def measure_cases(
    cases: Iterable[Case], *, ceilings: dict[str, Any], device: str, rounds: int = 9
) -> list[dict[str, Any]]:
    """Measure cases, those side by side that differ in their form only.

    Parameters
    ----------
    cases, ceilings, device, rounds
        As for :func:`measure_group`.

    Returns
    -------
    list
        A dictionary for each case, group after group.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> cases = [case, case._replace(ids=2), case._replace(form="index_select")]
    >>> ceilings = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e9}}
    >>> results = measure_cases(cases, ceilings=ceilings, device="cpu", rounds=3)
    >>> [(result["form"], result["ids"]) for result in results]
    [('lookup', 3), ('index_select', 3), ('lookup', 2)]
    """
    groups: dict[tuple[Any, ...], list[Case]] = {}
    for case in cases:
        groups.setdefault(case[1:], []).append(case)
    return [
        result
        for group in groups.values()
        for result in measure_group(group, ceilings=ceilings, device=device, rounds=rounds)
    ]


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
        A form that does not fit, that torch lacks, or that computes something else than its
        definition says, is not timed: its member ``skipped`` says why.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> ceilings = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e9}}
    >>> measure_group([case], ceilings=ceilings, device="cpu", rounds=3)[0]["peak_bytes"]
    60
    """
    first = cases[0]
    ids = draw_ids(first.draw, first.ids, first.vocab_size)
    distinct = int(torch.bincount(ids).count_nonzero())
    asked = {
        case: {
            **case._asdict(),
            "distinct": distinct,
            "predicted_s": predicted_case_s(case, distinct, ceilings),
        }
        for case in cases
    }
    skipped = {
        case: reason
        for case, question in asked.items()
        if (reason := _too_much(case, question["predicted_s"], device))
    }
    measured: dict[Case, dict[str, Any]] = {}
    if fitting := [case for case in cases if case not in skipped]:
        inputs = draw_inputs(first, ids, device)
        with precision_of(first.dtype):
            calls, errors, refused = _checked(fitting, inputs)
            skipped |= refused
            watch = watch or (cuda_stopwatch if device == "cuda" else stopwatch)
            measured = _measure(calls, inputs.weight.device, first.cache == "cold", rounds, watch)
        for case, result in measured.items():
            said, possible = over_limit(case, asked[case] | result, ceilings)
            if not possible:
                skipped[case] = f"the clock gave an impossible time, {said}"
            result |= {"max_error": errors[case], "stored_error": inputs.stored_error}
            result["reason"] = said or None
    return [
        asked[case] | ({"skipped": skipped[case]} if case in skipped else measured[case])
        for case in cases
    ]


def _checked(
    cases: list[Case], inputs: Inputs
) -> tuple[dict[Case, Contender], dict[Case, float], dict[Case, str]]:
    """Sort out a form that torch lacks or that is wrong: no reason to lose the others."""
    calls, errors, refused = {}, {}, {}
    for case in cases:
        try:
            call = contender(case, inputs)
            errors[case] = largest_error(case, inputs, call())
            calls[case] = call
        except (RuntimeError, AssertionError) as error:
            refused[case] = f"{type(error).__name__}: {plain(str(error))}"
    return calls, errors, refused


def _measure(
    calls: dict[Case, Contender], device: torch.device, cold: bool, rounds: int, watch: Watch
) -> dict[Case, dict[str, Any]]:
    on_gpu = device.type == "cuda"
    scratch = torch.empty(FLUSHED_BYTES if cold else 0, dtype=torch.uint8, device=device)
    times = time_side_by_side(
        {case.form: call for case, call in calls.items()},
        rounds=rounds,
        block_s=0.005,
        most_calls=100 if on_gpu else 10**6,
        prepare=scratch.bitwise_not_ if cold else None,
        watch=watch,
    )
    return {
        case: times[case.form]._asdict()
        | {
            "launch_s": launch_s(call) if on_gpu else None,
            "peak_bytes": peak_bytes(call, device),
            "repeats_bitwise": repeats_bitwise(call),
        }
        for case, call in calls.items()
    }


def _too_much(case: Case, seconds: float, device: str) -> str:
    itemsize = DTYPES[case.dtype].itemsize
    drawn = case.vocab_size * case.dim * (4 + itemsize)  # in float32, then in the dtype
    results = max(case.vocab_size, case.ids) * case.dim * itemsize
    # The encoding exists for several forms of the group at once.
    matrix = (case.bags or case.ids) * case.vocab_size * itemsize if "mult" in case.form else 0
    needed = drawn + 4 * results + 3 * matrix
    if needed > 0.8 * (free := free_bytes(device)):
        return f"needs {needed / 1e9:.1f} GB of the {free / 1e9:.1f} GB that are free"
    if seconds > PATIENCE_S:
        return f"predicted to take {seconds:.1f} s for one call, more than {PATIENCE_S} s"
    return ""
