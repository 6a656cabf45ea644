"""Measure cases that share their inputs side by side, each checked before it is timed."""

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any

import torch

from lookup_matmul.costs import clock
from lookup_matmul.costs.cases import (
    DTYPES,
    Case,
    check_case,
    check_result,
    sample_ids,
    sample_inputs,
)
from lookup_matmul.costs.contenders import contender
from lookup_matmul.costs.count import kernels
from lookup_matmul.costs.machine import check_device
from lookup_matmul.costs.memory import free_bytes, peak_bytes
from lookup_matmul.costs.predict import predicted_s
from lookup_matmul.equality.assertions import repeats_bitwise
from lookup_matmul.equality.rounding import precision_of


class DeviceLost(RuntimeError):  # noqa: N818 - what happened, as in torch and Python
    """The device answers no more after an error; only a new process can go on."""


def measure_cases(
    cases: Iterable[Case],
    *,
    ceilings: dict[str, Any],
    device: str,
    rounds: int = 9,
    patience_s: float = 0.25,
) -> list[dict[str, Any]]:
    """Measure cases, those in turns and with the same inputs that differ in their form only.

    Cases that share their inputs stand together; one predicted to take more than ``patience_s``
    seconds for one call is skipped. The ceilings are as :func:`measure_ceilings` gives them, the
    device is ``"cpu"`` or ``"cuda"``, and another, or one that is not there, is a ValueError, as is
    an unknown direction, draw, dtype, cache or form; an error that leaves a GPU unusable is a
    RuntimeError.
    Returns a dictionary for each case: the case, its ``distinct`` ids and ``predicted_s``; then
    ``skipped``, which says why it was not timed, or the members of :class:`Spread`,
    ``max_error``, ``relative_error`` (in norm), ``error_bound`` (of each element),
    ``peak_bytes``, ``repeats_bitwise``, and on CUDA ``clock_hz`` and ``launch_s``, the
    processor's time to ask for a call, where ``median_s`` is without it.

    Examples
    --------
    >>> from lookup_matmul.costs import measure_ceilings
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> ceilings = measure_ceilings("cpu", quick=True)
    >>> measure_cases([case], ceilings=ceilings, device="cpu", rounds=3)[0]["peak_bytes"]
    60
    """
    check_device(device)
    results: list[dict[str, Any]] = []
    for _, group in groupby(cases, key=lambda case: case[1:]):
        together, calls = list(group), dict[Case, clock.Call]()
        check_case(first := together[0])
        ids = sample_ids(first.draw, first.ids, first.vocab_size)
        distinct = int(torch.bincount(ids).count_nonzero())
        limits = (distinct, ceilings, device, patience_s)
        found = {case: _foreseen(case, *limits) for case in together}
        left = [case for case in together if "skipped" not in found[case]]
        with precision_of(first.dtype):
            inputs = _tried(device, sample_inputs, first, ids, device) if left else {}
            for case in left:
                none = isinstance(inputs, dict)
                found[case] |= inputs if none else _tried(device, _checked, case, inputs, calls)
            times = _tried(device, _timed, calls, device, rounds)
        for case in calls:
            found[case] |= times if "skipped" in times else times[case]
        results += found.values()
    return results


def _foreseen(
    case: Case, distinct: int, ceilings: dict[str, Any], device: str, patience_s: float
) -> dict[str, Any]:
    """Return what is asked for and predicted, and why a case is not even tried."""
    seconds, table = predicted_s(case, distinct, ceilings), case.vocab_size * case.dim
    found = case._asdict() | {"distinct": distinct, "predicted_s": seconds}
    table *= DTYPES[case.dtype].itemsize
    held = max((kernel.working_set for kernel in kernels(case, distinct)), default=2 * table)
    # Tables of several kinds exist at once, and what several forms and the check make of them.
    needed = 3 * table + 4 * held
    if needed > 0.8 * (free := free_bytes(device)):
        says = f"needs {needed / 1e9:.1f} GB of the {free / 1e9:.1f} GB that are free"
        return found | {"skipped": {"kind": "does not fit", "says": says}}
    says = f"predicted to take {seconds:.1f} s for one call, more than {patience_s} s"
    late = {"skipped": {"kind": "takes too long", "says": says}}
    return found | (late if seconds > patience_s else {})


def _checked(case: Case, inputs: Any, calls: dict[Case, clock.Call]) -> dict[str, Any]:
    """Call a form and check its result; only a right one is among the calls to be timed."""
    call = contender(case, inputs)
    errors = check_result(case, inputs, call())
    errors["repeats_bitwise"] = repeats_bitwise(call)
    calls[case] = call
    return errors


def _timed(calls: dict[Case, clock.Call], device: str, rounds: int) -> dict[Any, Any]:
    """Time calls in turns; on a GPU, kept busy before, with its clock rate and the launches."""
    on_gpu, cold = device == "cuda", any(case.cache == "cold" for case in calls)
    clock_hz, prepare = on_gpu and clock.cuda_clock_hz(), clock.flush(device) if cold else None
    options: Any = {"rounds": rounds, "block_s": 5e-3, "prepare": prepare, "device": device}
    times, found = clock.time_side_by_side(calls, **options), {}
    for case, call in calls.items():
        launch_s, peak = on_gpu and clock.launch_s(call), peak_bytes(call, device)
        more = {"launch_s": launch_s or None, "clock_hz": clock_hz or None, "peak_bytes": peak}
        found[case] = times[case]._asdict() | more
    return found


def _tried(device: str, work: Callable[..., Any], *given: Any, tries: int = 2) -> Any:
    """Return what work returns, or why it fails; a lack of memory is tried twice."""
    try:
        return work(*given)
    except (RuntimeError, AssertionError, TimeoutError) as error:
        kinds = {AssertionError: "wrong result", TimeoutError: "takes too long"}
        lacking = isinstance(error, torch.OutOfMemoryError) or "allocate memory" in str(error)
        kind = "does not fit" if lacking else kinds.get(type(error), "not in torch")
        first = next(iter(str(error).strip().splitlines()), "")[:200]
        said = {"skipped": {"kind": kind, "says": f"{type(error).__name__}: {first}"}}
    try:  # not above, where the error still holds the tensors of the call
        if device == "cuda":
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
    except RuntimeError as error:
        raise DeviceLost(f"the GPU answers no more: {error}; start again to go on.") from error
    return _tried(device, work, *given, tries=tries - 1) if lacking and tries > 1 else said
