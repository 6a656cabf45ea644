"""Measure cases that share their inputs side by side, each checked before it is timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import torch

from lookup_matmul.memory import peak_bytes
from lookup_matmul.timings import clock, cuda
from lookup_matmul.timings.cases import DTYPES, Case, Inputs, draw_ids, draw_inputs
from lookup_matmul.timings.ceilings import predicted_s
from lookup_matmul.timings.contenders import contender
from lookup_matmul.timings.machine import free_bytes, precision_of
from lookup_matmul.timings.oracle import check_result, repeats_bitwise

PATIENCE_S = 0.25  # a call predicted to take longer is left out


class DeviceLost(RuntimeError):  # noqa: N818 - what happened, as in torch and Python
    """The device answers no more after an error; only a new process can go on."""


def measure_cases(
    cases: Iterable[Case],
    *,
    ceilings: dict[str, Any],
    device: str,
    rounds: int = 9,
    patience_s: float = PATIENCE_S,
) -> list[dict[str, Any]]:
    """Measure cases, those in turns and with the same inputs that differ in their form only.

    Parameters
    ----------
    cases : collections.abc.Iterable
        The cases; those that share their inputs stand together.
    ceilings : dict
        As :func:`measure_ceilings` gives them.
    device : str
        ``"cpu"`` or ``"cuda"``.
    rounds : int
        How often each has its turn.
    patience_s : float
        Seconds; a case predicted to take longer for one call is skipped.

    Returns
    -------
    list
        A dictionary for each case: the case, its ``distinct`` ids and ``predicted_s``;
        then ``skipped``, which says why it was not timed, or the members of :class:`Spread`,
        ``max_error``, ``relative_error`` (in norm), ``error_bound`` (of each element),
        ``peak_bytes``, ``repeats_bitwise``, and on CUDA ``clock_hz`` and ``launch_s``, the
        processor's time to ask for a call, where ``median_s`` is without it.

    Raises
    ------
    DeviceLost
        If an error leaves the GPU unusable for this process.

    Examples
    --------
    >>> from lookup_matmul.timings import measure_ceilings
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> ceilings = measure_ceilings("cpu", quick=True)
    >>> measure_cases([case], ceilings=ceilings, device="cpu", rounds=3)[0]["peak_bytes"]
    60
    """
    groups = (list(group) for _, group in groupby(cases, key=lambda case: case[1:]))
    return [
        result
        for group in groups
        for result in measure_group(group, ceilings, device, rounds, patience_s)
    ]


def measure_group(
    cases: list[Case],
    ceilings: dict[str, Any],
    device: str,
    rounds: int = 9,
    patience_s: float = PATIENCE_S,
) -> list[dict[str, Any]]:
    """Measure cases that differ in their form only."""
    first = cases[0]
    ids = draw_ids(first.draw, first.ids, first.vocab_size)
    distinct = int(torch.bincount(ids).count_nonzero())
    results: dict[Case, dict[str, Any]] = {}
    for case in cases:
        predicted = predicted_s(case, distinct, ceilings)
        asked = case._asdict() | {"distinct": distinct, "predicted_s": predicted}
        results[case] = asked | _too_much(case, predicted, device, patience_s)
    calls: dict[Case, clock.Call] = {}
    if left := [case for case in cases if "skipped" not in results[case]]:
        with precision_of(first.dtype):
            drawn = _tried(lambda: {"inputs": draw_inputs(first, ids, device)}, device)
            for case in left:
                work = lambda case=case: _checked(case, drawn["inputs"], calls)  # noqa: E731
                results[case] |= drawn if "skipped" in drawn else _tried(work, device)
            times = _tried(lambda: _timed(calls, device, rounds), device)
        for case in calls:
            results[case] |= times if "skipped" in times else times[case]
    return list(results.values())


def _checked(case: Case, inputs: Inputs, calls: dict[Case, clock.Call]) -> dict[str, Any]:
    """Make a call and see that its result is right; only then is it among those to be timed."""
    call = contender(case, inputs)
    errors = check_result(case, inputs, call())
    # The next step of an optimiser gives another table, the same step of a new one does not.
    repeated = repeats_bitwise(
        (lambda: contender(case, inputs)()) if case.direction == "step" else call
    )
    calls[case] = call
    return errors | {"repeats_bitwise": repeated}


def _timed(calls: dict[Case, clock.Call], device: str, rounds: int) -> dict[Any, Any]:
    on_gpu, cold = device == "cuda", any(case.cache == "cold" for case in calls)
    # A graph holds a hundred calls; an event tells half a microsecond, little of fifty.
    options: dict[str, Any] = {
        "most_calls": 100,
        "prepared_calls": 50,
        "watch": cuda.cuda_stopwatch,
    }
    clock_hz = cuda.cuda_clock_hz() if on_gpu else None
    times = clock.time_side_by_side(
        {case.form: call for case, call in calls.items()},
        rounds=rounds,
        block_s=0.005,
        prepare=clock.flush(device) if cold else None,
        **(options if on_gpu else {}),
    )
    return {
        case: times[case.form]._asdict()
        | {"launch_s": cuda.launch_s(call) if on_gpu else None, "clock_hz": clock_hz}
        | {"peak_bytes": peak_bytes(call, device)}
        for case, call in calls.items()
    }


def _tried(work: Callable[[], dict[Any, Any]], device: str) -> dict[Any, Any]:
    """Give what work gives, or why it gives nothing; a lack of memory is tried twice."""
    for last in (False, True):
        try:
            return work()
        except (RuntimeError, AssertionError, TimeoutError) as error:
            kinds = {AssertionError: "wrong result", TimeoutError: "takes too long"}
            lacking = isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)
            kind = "does not fit" if lacking else kinds.get(type(error), "not in torch")
            said = {"kind": kind, "says": f"{type(error).__name__}: {error}"}
        try:  # not above, where the error still holds the tensors of the call
            if device == "cuda":
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
        except RuntimeError as error:
            raise DeviceLost(f"the GPU answers no more: {error}; start again to go on.") from error
        if last or not lacking:
            break
    return {"skipped": said}


def _too_much(case: Case, seconds: float, device: str, patience_s: float) -> dict[str, Any]:
    """Say why a case is not even tried."""
    itemsize, step = DTYPES[case.dtype].itemsize, case.direction == "step"
    table, rows = (n * case.dim * itemsize for n in (case.vocab_size, case.ids))
    encoding = (case.bags or case.ids) * case.vocab_size * itemsize
    # Encodings of several forms exist at once, and so do tables and states of all optimisers.
    encodings = 4 if "one-hot" in case.form or "multiplication" in case.form else 0
    needed = table * (14 if step else 3) + 4 * max(
        rows, 0 if case.direction == "forward" else table
    )
    needed += encodings * encoding
    if needed > 0.8 * (free := free_bytes(device)):
        says = f"needs {needed / 1e9:.1f} GB of the {free / 1e9:.1f} GB that are free"
        return {"skipped": {"kind": "does not fit", "says": says}}
    says = f"predicted to take {seconds:.1f} s for one call, more than {patience_s} s"
    return {"skipped": {"kind": "takes too long", "says": says}} if seconds > patience_s else {}
