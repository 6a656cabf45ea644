"""Recordings of measurements: one JSON file for each machine, refused unless it is sound."""

import json
import os
import re
from datetime import UTC, date, datetime
from functools import cache
from hashlib import sha256
from math import isclose
from pathlib import Path
from typing import Any
from uuid import uuid4

from lookup_matmul.timings.cases import Case, draw_ids, forms_of
from lookup_matmul.timings.ceilings import predicted_s
from lookup_matmul.timings.oracle import error_bounds
from lookup_matmul.timings.schema import (
    FORM,
    MEASURED,
    ORIGIN,
    SKIPPED,
    check_form,
    expect,
    expect_all,
)

MARGIN = 3.0  # by which a time may beat what the best quartiles of the ceilings allow
SLOWEST = 1000.0  # times the prediction: more is not believed
DRIFT = 5.0  # between what the ceilings at the start, in the middle and at the end allow
DRAWN_AGAIN = 2**21  # ids and rows up to which ids are drawn again on reading
REMEDY = "Record again with python -m lookup_matmul.timings, or take the file from its source."


class ImpossibleTimeError(ValueError):
    """A time that the ceilings of the same run do not allow."""


def read_recordings(folder: Path) -> dict[str, dict[str, Any]]:
    """Read all recordings of a folder, by the names of their files, those of GPUs first.

    Raises
    ------
    ValueError
        If one is not sound in form, origin, arithmetic or speed: names file, field and remedy.

    Examples
    --------
    >>> read_recordings(Path("no such folder"))
    {}
    """
    read = {path.stem: read_recording(path) for path in sorted(folder.glob("*.json"))}
    return dict(sorted(read.items(), key=lambda item: item[1]["provenance"]["kind"] == "cpu"))


def read_recording(path: Path) -> dict[str, Any]:
    """Read one recording and refuse it unless it is sound."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", path.stem):
        raise ValueError(
            f"{str(path)!a}: the name of the file is {path.stem!a:.60}, expected at most 80 "
            "letters, digits, dots, dashes and underscores, since pages show it; rename the file."
        )
    try:
        recording: dict[str, Any] = json.loads(path.read_text("utf-8"))
        check_recording(recording)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path}: the file is not JSON: {error}. {REMEDY}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}. {REMEDY}") from None
    return recording


def write_recording(path: Path, recording: dict[str, Any]) -> None:
    """Write with a checksum and in one go, so that nobody, not even after a kill, meets half."""
    head = {name: value for name, value in recording.items() if name != "cases"}
    head["checksum"] = checksum(recording)
    cases = ",\n".join(json.dumps(case, allow_nan=False) for case in recording["cases"])
    partial = path.with_name(f".{path.stem}-{uuid4().hex}.partial")
    try:
        with partial.open("x", encoding="utf-8") as file:
            file.write(f'{json.dumps(head, allow_nan=False)[:-1]},\n"cases": [\n{cases}\n]}}\n')
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def checksum(recording: dict[str, Any]) -> str:
    """Digest everything but the member ``checksum``, whatever the order and the spaces."""
    content = {name: value for name, value in recording.items() if name != "checksum"}
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_recording(recording: Any) -> None:
    """Raise, with the field and what was expected of it, unless a recording is sound."""
    if isinstance(recording, dict) and "version" in recording:
        check_form("data.version", recording["version"], FORM["version"])
    check_form("data", recording, FORM)
    check_origin(recording["provenance"])
    sets, least = recording["ceilings"], 2 if recording["complete"] else 1
    expect(len(sets) >= least, "data.ceilings", len(sets), f"{least} sets: at start, at end")
    asked: set[Case] = set()
    for k, result in enumerate(recording["cases"]):
        case, allowed = check_result(f"data.cases[{k}]", result, recording)
        expect(case not in asked, f"data.cases[{k}]", case, "a case that was not there before")
        asked.add(case)
        alike = max(allowed) <= DRIFT * min(allowed) or recording["provenance"]["quick"]
        expect(alike, "data.ceilings", allowed, f"like times for data.cases[{k}] from each set")
    said = recording["checksum"]
    expect(checksum(recording) == said, "data.checksum", said, "another: the file was edited")


def check_result(place: str, result: Any, recording: dict[str, Any]) -> tuple[Case, list[float]]:
    """Raise unless a case is ours, predicted by the model, correct and possible.

    Gives the case, and the seconds that the best quartiles of each set of ceilings allow.
    """
    measured = "skipped" not in result
    check_form(place, result, MEASURED if measured else SKIPPED)
    case = Case(*(result[name] for name in Case._fields))
    forms, distinct = forms_of(case.direction, case.bags), result["distinct"]
    drawn, most = _drawn(case.draw, case.ids, case.vocab_size)
    told, sets = result["predicted_s"], recording["ceilings"]
    checks = [
        ("form", case.form in forms, f"one of {', '.join(forms)}"),
        ("ids", case.ids % max(case.bags, 1) == 0, f"a multiple of the {case.bags} bags"),
        ("distinct", drawn in (0, distinct), f"{drawn}, found by drawing the ids again"),
        ("distinct", distinct <= min(case.ids, case.vocab_size), "at most the ids and the rows"),
    ]
    expect_all(place, result, checks)
    try:
        predicted = predicted_s(case, distinct, sets[0])
        allowed = [predicted_s(case, distinct, best) for best in map(_best, sets)]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{place} needs a ceiling that is not there: {error}") from None
    checks = [("predicted_s", isclose(told, predicted, rel_tol=1e-6), f"{predicted:.6g}")]
    if measured:
        bound, in_norm = error_bounds(case, most or case.ids)
        memory, kind = (recording["provenance"][n] for n in ("device_memory_bytes", "kind"))
        low, median, high = (result[name] for name in ("low_s", "median_s", "high_s"))
        checks += [
            ("median_s", low <= median <= high, "a time between low_s and high_s"),
            ("error_bound", result["error_bound"] <= bound, f"{bound:.3g} or less"),
            ("max_error", result["max_error"] <= 10 * case.ids * bound, "a rounding of its sums"),
            ("relative_error", result["relative_error"] <= in_norm, f"{in_norm:.3g} or less"),
            ("peak_bytes", result["peak_bytes"] <= memory, f"at most {memory}, all there are"),
            ("launch_s", kind == "cuda" or result["launch_s"] is None, "null on a CPU"),
            ("clock_hz", (kind == "cpu") == (result["clock_hz"] is None), "null on a CPU only"),
        ]
    expect_all(place, result, checks)
    least, most_s = min(allowed) / MARGIN, SLOWEST * predicted
    if measured and not least <= low <= median <= most_s:
        said = f"{median:.3g}, low_s {low:.3g}, expected {least:.3g} to {most_s:.3g}"
        raise ImpossibleTimeError(f"{place}.median_s is {said}, by the ceilings of the same run")
    return case, allowed


@cache
def _drawn(draw: str, ids: int, vocab_size: int) -> tuple[int, int]:
    """Count distinct ids, and how often the most frequent comes; zeros if drawing takes long."""
    if max(ids, vocab_size) > DRAWN_AGAIN:
        return 0, 0
    counts = draw_ids(draw, ids, vocab_size).bincount()
    return int(counts.count_nonzero()), int(counts.max())


def _best(limits: Any, name: str = "") -> Any:
    """Put in the place of quartiles the one that allows most."""
    if isinstance(limits, dict):
        return {inner: _best(value, inner) for inner, value in limits.items()}
    if isinstance(limits, list) and limits and not isinstance(limits[0], dict):
        return 3 * [limits[2 if name in ("bytes_per_s", "random", "zeros") else 0]]
    return list(map(_best, limits)) if isinstance(limits, list) else limits


def check_origin(origin: dict[str, Any]) -> None:
    """Raise unless a run can be told from others: where, when, with what, by which command."""
    check_form("data.provenance", origin, ORIGIN)
    try:
        been = date.fromisoformat(origin["date"]) <= datetime.now(UTC).date()
    except ValueError:
        been = False
    on_cpu, command = origin["kind"] == "cpu", "python -m lookup_matmul.timings"
    checks = [(n, (origin[n] is None) == on_cpu, "null on a CPU only") for n in ("driver", "cuda")]
    checks += [
        ("date", been, "a day that has been"),
        ("command", command in origin["command"], command),
    ]
    expect_all("data.provenance", origin, checks)
