"""Measure a sweep into a recording, which is kept on disk all along and can be resumed."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lookup_matmul.timings.behaviour import behaviour
from lookup_matmul.timings.cases import Case
from lookup_matmul.timings.ceilings import measure_ceilings
from lookup_matmul.timings.machine import provenance
from lookup_matmul.timings.measure import measure_group
from lookup_matmul.timings.recording import (
    ImpossibleTimeError,
    check_origin,
    check_recording,
    check_result,
    checksum,
    read_recording,
    write_recording,
)
from lookup_matmul.timings.schema import plain

LEAST_S = 20.0  # kept of the given minutes for what is measured at the end
TRIES = 3  # to measure ceilings that are like those at the start
MAY_CHANGE = ("date", "command")  # between runs that fill one recording


def record(
    path: Path,
    cases: Iterable[Case],
    *,
    device: str,
    command: str,
    commit: str | None = None,
    quick: bool = False,
    minutes: float | None = None,
    measure: Callable[..., list[dict[str, Any]]] | None = None,
) -> dict[str, Any]:
    """Measure what the recording at ``path`` lacks; after each group of cases it is on disk.

    Parameters
    ----------
    path, cases : pathlib.Path and collections.abc.Iterable
        The recording, if there is one yet; cases that share their inputs stand together.
    device, command, commit : str
        ``"cpu"`` or ``"cuda"``, and what the provenance says; without a commit, git is asked.
    quick : bool
        A trial: few rounds, ceilings of small sizes, nothing odd tried.
    minutes : float, optional
        When to end, after the group in progress, with what was measured by then.
    measure : collections.abc.Callable, optional
        Instead of :func:`measure_cases`, from a group of cases and ``ceilings``; for tests.

    Returns
    -------
    dict
        The recording, whose member ``complete`` tells whether cases are left.

    Raises
    ------
    ValueError
        Before anything is measured: the origin is not known, the file is not sound or comes
        from another machine or version, or another run is at work in its folder.
    DeviceLost
        The device answers no more; what was measured is on disk.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mine.json")
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> made = {"device": "cpu", "command": "python -m lookup_matmul.timings", "commit": 40 * "0"}
    >>> record(path, [case], quick=True, **made)["complete"]
    True
    """
    begun = time.monotonic()
    measure = measure or partial(measure_group, device=device, rounds=3 if quick else 9)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _only_writer(path.parent):
        recording = _begin(path, provenance(device, command, commit) | {"quick": quick})
        ceilings = recording["ceilings"]
        if not ceilings:
            _add_ceilings(recording)
            recording["behaviour"] = {} if quick else behaviour(device)
        done = {Case(*(result[name] for name in Case._fields)) for result in recording["cases"]}
        by_inputs = groupby((case for case in cases if case not in done), lambda case: case[1:])
        groups = [list(group) for _, group in by_inputs]
        if recording["complete"] and not groups:
            return recording
        recording["complete"] = False
        write_recording(path, recording)
        now = time.monotonic()  # at the end, ceilings are measured once more
        end = begun + 60 * minutes - max(now - begun, LEAST_S) if minutes else float("inf")
        for k, group in enumerate(bar := tqdm(groups)):
            if (now := time.monotonic()) > end:
                break
            if len(ceilings) == 1 and (2 * k > len(groups) or 2 * now > begun + end):
                _add_ceilings(recording)
            bar.set_description_str("V={2:,} d={3:,} ids={4:,}".format(*group[0]))
            found = measure(group, ceilings=ceilings[0])
            recording["cases"] += [_believed(result, recording) for result in found]
            write_recording(path, recording)
        _add_ceilings(recording)
        recording["complete"] = now <= end
        write_recording(path, recording)
        return read_recording(path)


def _begin(path: Path, origin: dict[str, Any]) -> dict[str, Any]:
    """Read what is there, if it is of the same machine and versions, or begin anew."""
    check_origin(origin)
    if not path.exists():
        new = {"version": 2, "complete": False, "provenance": origin, "ceilings": []}
        return new | {"behaviour": {}, "cases": []}
    recording = read_recording(path)
    for name, before in recording["provenance"].items():
        if name not in MAY_CHANGE and origin[name] != before:
            raise ValueError(
                f"{path}: data.provenance.{name} is {before!r}, and now it is "
                f"{origin[name]!r}; move the file away to record anew."
            )
    return recording


def _add_ceilings(recording: dict[str, Any]) -> None:
    """Add a set of ceilings, measured again if a busy machine had others than before."""
    origin, before = recording["provenance"], recording["ceilings"]
    for _ in range(TRIES):
        new = measure_ceilings(origin["kind"], quick=origin["quick"])
        tried = recording | {"ceilings": [*before, new]}
        try:
            check_recording(tried | {"checksum": checksum(tried)})
            before.append(new)
            return
        except ValueError as error:
            said = error
    raise ValueError(f"{said}. The machine seems busy: run it again later to go on.")


def _believed(result: dict[str, Any], recording: dict[str, Any]) -> dict[str, Any]:
    """Keep a time that a reader would accept, and of any other only why there is none."""
    asked = {name: result[name] for name in (*Case._fields, "distinct", "predicted_s")}
    if "skipped" in result:
        says = plain(result["skipped"]["says"])
        return asked | {"skipped": {"kind": result["skipped"]["kind"], "says": says}}
    try:
        check_result("the case", result, recording)
    except ImpossibleTimeError as error:
        return asked | {"skipped": {"kind": "impossible time", "says": plain(str(error))}}
    return result


@contextmanager
def _only_writer(folder: Path) -> Iterator[None]:
    """Refuse a second run in the folder; the system gives the lock free with the process."""
    try:
        import fcntl
    except ImportError:  # Windows has no such lock
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ValueError(
            f"{folder}: another run is recording into this folder, expected one at a time; "
            "wait for its end, or choose another folder with --out."
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)
