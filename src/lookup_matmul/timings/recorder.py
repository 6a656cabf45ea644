"""Measure a sweep into a recording, which is kept on disk all along and can be resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lookup_matmul.timings.cases import Case
from lookup_matmul.timings.machine import measure_ceilings, provenance
from lookup_matmul.timings.measure import measure_group
from lookup_matmul.timings.recording import Recording, read_recording, write_recording
from lookup_matmul.timings.schema import VERSION

SAVE_EVERY_S = 2.0
SAME_AS_BEFORE = ("kind", "device", "driver", "cuda", "torch", "cpu", "threads", "commit")


def record(
    path: Path,
    cases: Iterable[Case],
    *,
    device: str,
    command: str,
    quick: bool = False,
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
    measure : collections.abc.Callable, optional
        Instead of :func:`measure_group`, for tests.

    Returns
    -------
    dict
        The complete recording.

    Raises
    ------
    ValueError
        If the file at ``path`` is not sound, or comes from another machine or other versions.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "mine.json")
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> recording = record(path, [case], device="cpu", command="doctest", quick=True)
    >>> recording["complete"], recording["cases"][0]["max_error"]
    (True, 0.0)
    """
    origin = provenance(device, command)
    recording = _resume(path, origin) or {
        "version": VERSION,
        "complete": False,
        "provenance": origin,
        "ceilings": measure_ceilings(device, quick=quick),
        "cases": [],
    }
    measure = measure or partial(measure_group, device=device, rounds=3 if quick else 9)
    wanted = list(cases)
    done = {Case(*(result[name] for name in Case._fields)) for result in recording["cases"]}
    saved_at = time.monotonic()
    with tqdm(total=len(wanted), initial=len(done & set(wanted)), unit="case") as bar:
        for key, group in groupby(wanted, key=lambda case: case[1:]):
            missing = [case for case in group if case not in done]
            bar.set_postfix_str(f"V={key[1]:,} d={key[2]} ids={key[3]:,}")
            if missing:
                recording["cases"] += measure(missing, ceilings=recording["ceilings"])
            if time.monotonic() - saved_at > SAVE_EVERY_S:
                write_recording(path, recording)
                saved_at = time.monotonic()
            bar.update(len(missing))
    recording["complete"] = True
    write_recording(path, recording)
    return recording


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
