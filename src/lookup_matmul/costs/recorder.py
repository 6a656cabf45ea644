"""Measure a sweep into a recording, which is kept on disk all along and can be resumed."""

import json
import time
import tomllib
from collections.abc import Iterable, Iterator
from itertools import groupby, product
from pathlib import Path
from typing import Any

from lookup_matmul.costs.cases import Case
from lookup_matmul.costs.contenders import ALONE, BUILT, COMPILED, forms_of
from lookup_matmul.costs.machine import provenance
from lookup_matmul.costs.measure import measure_cases
from lookup_matmul.costs.predict import measure_ceilings
from lookup_matmul.costs.recordings import check_arithmetic, read_recording

LEAST_S = 20.0  # kept of the given minutes for what is measured at the end
TRIES = 3  # to measure ceilings that are like those at the start


def sweep(name: str) -> Iterator[Case]:
    """Yield the cases of a sweep in order of value, those that share their inputs together."""
    seen: dict[Case, None] = {}
    for part in tomllib.loads(Path(__file__).with_name("sweeps.toml").read_text("utf-8"))[name]:
        bags, axes = part.get("bags", 0), ("tables", "ids", "draws", "dtypes", "caches")
        for (rows, dim), ids, *how in product(*(part[axis] for axis in axes)):
            for form in forms_of(part["direction"], bags):
                case = Case._make((form, part["direction"], rows, dim, ids, *how, bags))
                seen |= {case: None} if _tells(case) else {}
    yield from seen


def _tells(case: Case) -> bool:
    """Leave out what says the same as another dtype, and most of what takes seconds to compile."""
    if case.form == COMPILED:
        told = case.dim == 256 and case.vocab_size in (64, 300, 1024) and case.ids >= 4096
        return told and case.dtype in ("float32", "bfloat16") and case.cache == "hot"
    return case.form in ("lookup", BUILT, ALONE) or case.dtype in ("float32", "bfloat16")


def record(
    path: str | Path,
    cases: Iterable[Case],
    *,
    device: str,
    command: str,
    commit: str | None = None,
    quick: bool = False,
    minutes: float | None = None,
) -> dict[str, Any]:
    """Measure what the recording at ``path`` lacks; after each group of cases it is on disk.

    Cases that share their inputs stand together. Device, command and commit are as for
    :func:`provenance`; quick, there are few rounds and small ceilings.
    After so many minutes it ends with the group in progress; ``complete`` tells if cases are left.
    An unknown origin and a file not sound or of another machine are a ValueError before anything
    is measured.

    Examples
    --------
    >>> record("mine.json", [], device="tpu", command="python -m lookup_matmul.costs")
    Traceback (most recent call last):
        ...
    ValueError: device is 'tpu', expected 'cpu' or 'cuda'; measure on one of them.
    """
    from tqdm import tqdm

    begun, rounds, path = time.monotonic(), 3 if quick else 9, Path(path)
    origin = provenance(device, command, commit) | {"quick": quick}  # before a folder is made
    path.parent.mkdir(parents=True, exist_ok=True)
    recording = _begin(path, origin)
    done = {Case(*(result[name] for name in Case._fields)) for result in recording["cases"]}
    left = (case for case in cases if case not in done)
    groups = [list(group) for _, group in groupby(left, lambda case: case[1:])]
    if not groups and recording["complete"]:
        return recording
    recording["complete"] = False
    if not recording["ceilings"]:
        _add_ceilings(recording)
    write_recording(path, recording)
    now = time.monotonic()  # at the end, ceilings are measured once more
    given_s = 60 * minutes if minutes is not None else float("inf")
    end = begun + given_s - max(now - begun, LEAST_S)
    for k, group in enumerate(bar := tqdm(groups)):
        if (now := time.monotonic()) > end:
            break
        if len(recording["ceilings"]) == 1 and (2 * k > len(groups) or 2 * now > begun + end):
            _add_ceilings(recording)
        bar.set_description_str("V={2:,} d={3:,} ids={4:,}".format(*group[0]))
        first = recording["ceilings"][0]
        found = measure_cases(group, ceilings=first, device=device, rounds=rounds)
        recording["cases"] += found
        write_recording(path, recording)
    _add_ceilings(recording)
    recording["complete"] = now <= end
    write_recording(path, recording)
    return recording


def _begin(path: Path, origin: dict[str, Any]) -> dict[str, Any]:
    """Return what is there, if it is of the same machine and versions, or begin anew."""
    if not path.exists():
        new = {"version": 2, "complete": False, "provenance": origin}
        return new | {"ceilings": [], "cases": []}
    recording = read_recording(path, form=False)
    for name, before in recording["provenance"].items():
        if origin[name] != before and name not in ("date", "command"):
            now = f"{path}: provenance.{name} is {before!r}, and now it is {origin[name]!r}"
            raise ValueError(f"{now}; move the file away to record anew.")
    return recording


def _add_ceilings(recording: dict[str, Any]) -> None:
    """Add a set of ceilings, measured again if a busy machine had others than before."""
    origin, before = recording["provenance"], recording["ceilings"]
    for _ in range(TRIES):
        new = measure_ceilings(origin["kind"], quick=origin["quick"])
        try:
            check_arithmetic(recording | {"ceilings": [*before, new]})
        except ValueError as error:
            said = error
        else:
            before.append(new)
            return
    raise ValueError(f"{said}. The machine seems busy: run it again later to go on.")


def write_recording(path: Path, recording: dict[str, Any]) -> None:
    """Write a recording in one go, a line for each case; nobody, even after a kill, meets half."""
    head = {name: value for name, value in recording.items() if name != "cases"}
    cases = ",\n".join(json.dumps(case, allow_nan=False) for case in recording["cases"])
    start = json.dumps(head, allow_nan=False)[:-1]
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(f'{start},\n"cases": [\n{cases}\n]}}\n', "utf-8")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
