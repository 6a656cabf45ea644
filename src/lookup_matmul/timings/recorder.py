"""Measure a sweep into a recording, which is kept on disk all along and can be resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lookup_matmul.timings.behaviour import behaviour
from lookup_matmul.timings.cases import Case
from lookup_matmul.timings.limits import predicted_case_s
from lookup_matmul.timings.lock import only_writer
from lookup_matmul.timings.machine import measure_ceilings, provenance
from lookup_matmul.timings.measure import PATIENCE_S, measure_group
from lookup_matmul.timings.recording import Recording, read_recording, write_recording
from lookup_matmul.timings.schema import VERSION

SAVE_EVERY_S = 2.0
SAME_AS_BEFORE = (
    "kind",
    "device",
    "driver",
    "cuda",
    "torch",
    "triton",
    "cpu",
    "threads",
    "command",
    "commit",
    "quick",
)


def record(
    path: Path,
    cases: Iterable[Case],
    *,
    device: str,
    command: str,
    quick: bool = False,
    commit: str | None = None,
    measure: Callable[..., list[dict[str, Any]]] | None = None,
) -> Recording:
    """Measure what a recording lacks, and keep it on disk all along.

    Parameters
    ----------
    path : pathlib.Path
        The recording; what it holds already is not measured again.
    cases : collections.abc.Iterable
        The cases; those that share their inputs stand together.
    device : str
        ``"cpu"`` or ``"cuda"``.
    command : str
        The command that measures, for the provenance.
    quick : bool
        Fewer rounds, smaller ceilings.
    commit : str, optional
        Where the package is not in a clone, the commit that it was taken from.
    measure : collections.abc.Callable, optional
        Instead of :func:`measure_group`, for tests.

    Returns
    -------
    dict
        The complete recording.

    Raises
    ------
    ValueError
        If the file at ``path`` is not sound, or comes from another machine or other versions,
        or somebody else is recording into it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mine.json")
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> made = {"device": "cpu", "command": "an example", "quick": True, "commit": 40 * "0"}
    >>> recording = record(path, [case], **made)
    >>> recording["complete"], recording["cases"][0]["max_error"]
    (True, 0.0)
    """
    with only_writer(path):
        origin = provenance(device, command, quick=quick, commit=commit)
        measure = measure or partial(measure_group, device=device, rounds=3 if quick else 9)
        return _record(path, list(cases), origin, measure)


def _record(
    path: Path,
    wanted: list[Case],
    origin: dict[str, Any],
    measure: Callable[..., list[dict[str, Any]]],
) -> Recording:
    device, quick = origin["kind"], origin["quick"]
    recording = _resume(path, origin) or {
        "version": VERSION,
        "complete": False,
        "provenance": origin,
        "ceilings": measure_ceilings(device, quick=quick),
        "behaviour": behaviour(device, quick=quick),
        "cases": [],
    }
    write_recording(path, recording)  # so that missing provenance is told before the sweep
    done = {Case(*(result[name] for name in Case._fields)) for result in recording["cases"]}
    efforts = {case: _effort(case, recording["ceilings"]) for case in wanted}
    saved_at = time.monotonic()
    form = "{percentage:3.0f}% |{bar}| {elapsed} passed, about {remaining} left, {desc}"
    with tqdm(total=sum(efforts.values()), bar_format=form) as bar:
        bar.update(sum(efforts[case] for case in done & set(wanted)))
        try:
            for key, group in groupby(wanted, key=lambda case: case[1:]):
                missing = [case for case in group if case not in done]
                bar.set_description_str(f"V={key[1]:,} d={key[2]} ids={key[3]:,}")
                if missing:
                    recording["cases"] += measure(missing, ceilings=recording["ceilings"])
                if time.monotonic() - saved_at > SAVE_EVERY_S:
                    write_recording(path, recording)
                    saved_at = time.monotonic()
                bar.update(sum(efforts[case] for case in missing))
            recording["complete"] = True
        finally:
            write_recording(path, recording)
    return recording


def _effort(case: Case, ceilings: dict[str, Any]) -> int:
    """Estimate the milliseconds that a case takes, so that the time left is more than a guess."""
    seconds = predicted_case_s(case, min(case.ids, case.vocab_size), ceilings)
    if seconds > PATIENCE_S:
        return 0
    compiling_s = 5.0 if case.form == "compiled one-hot" else 0.0
    return round(1e3 * (0.1 + 25 * seconds + compiling_s))


def _resume(path: Path, origin: dict[str, Any]) -> Recording | None:
    if not path.exists():
        return None
    recording = read_recording(path)
    for name in SAME_AS_BEFORE:
        before, now = recording["provenance"][name], origin[name]
        if before != now:
            raise ValueError(
                f"{path}: data.provenance.{name} is {before!r}, and now it is {now!r}; "
                "move the file away to record anew."
            )
    return recording
