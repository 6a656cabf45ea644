"""Recordings of measurements: one JSON file for each machine, refused unless it is sound."""

import json
import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from functools import cache
from hashlib import sha256
from math import isclose
from pathlib import Path
from typing import Any

from lookup_matmul.costs.cases import DTYPES, Case, draw_ids, error_bounds
from lookup_matmul.costs.contenders import forms_of
from lookup_matmul.costs.markdown import PLAIN
from lookup_matmul.costs.plain_data import check_form, expect, write_whole
from lookup_matmul.costs.predict import predicted_s

MARGIN = 3.0  # by which a time may beat what the best quartiles of the ceilings allow
SLOWEST = 1000.0  # times the prediction: more is not believed
DRIFT = 5.0  # between what the ceilings at the start, in the middle and at the end allow
DRAWN_AGAIN = 2**21  # ids and rows up to which ids are drawn again on reading
COMMAND = "python -m lookup_matmul.costs"
REMEDY = f"Record again with {COMMAND}, or take the file from its source."

# The form of a recording, in the notation of check_form.
RELEASE = r"[0-9]+(\.[0-9]+)+[A-Za-z0-9.+_-]{0,40}"
COUNT, NATURAL, SECONDS = range(1, 2**62), range(2**62), (1e-12, 1e5)
PRICE, RATE = 3 * [(0, 1e3)], 3 * [(1e3, 1e18)]
ORIGIN = dict.fromkeys(("device", "cpu", "command"), PLAIN) | {
    **dict.fromkeys(("driver", "cuda", "triton"), (None, RELEASE)),
    **{"kind": "cpu|cuda", "torch": RELEASE, "date": "20[0-9]{2}-[0-9]{2}-[0-9]{2}"},
    **{"device_memory_bytes": COUNT, "threads": range(1, 4096), "quick": bool},
    "commit": "[0-9a-f]{40}(-changed)?",
}
PRICES = {"hot": {...: PRICE}, "cold": {...: PRICE}}
CEILINGS = {
    **{"fixed_s": PRICES, "row_s": PRICES, "rate": {...: {"random": RATE, "zeros": RATE}}},
    "bandwidth": [{"working_set": COUNT, "bytes_per_s": RATE}],
    "first_touch": [{"allocated": COUNT, "s_per_byte": PRICE}],
}
ASKED = dict.fromkeys(("vocab_size", "dim", "ids", "distinct"), COUNT) | {
    **{"form": PLAIN, "direction": "forward|backward|step", "draw": "uniform|zipf|equal"},
    **{"dtype": "|".join(DTYPES), "cache": "hot|cold", "bags": NATURAL, "predicted_s": SECONDS},
}
KINDS = "does not fit|takes too long|not in torch|wrong result|impossible time"
SKIPPED = ASKED | {"skipped": {"kind": KINDS, "says": PLAIN}}
MEASURED = ASKED | dict.fromkeys(("median_s", "low_s", "high_s"), SECONDS) | {
    **dict.fromkeys(("max_error", "relative_error", "error_bound"), (0, 1e300)),
    **{"launch_s": (None, SECONDS), "clock_hz": (None, (1e6, 1e11)), "repeats_bitwise": bool},
    **{"rounds": range(3, 10**6), "calls": COUNT, "peak_bytes": NATURAL},
}  # fmt: skip
FORM = {"version": range(2, 3), "complete": bool, "checksum": "[0-9a-f]{64}"} | {
    **{"provenance": ORIGIN, "ceilings": [CEILINGS], "behaviour": {...: {...: PLAIN}}},
    "cases": [{...: object}],
}


class ImpossibleTimeError(ValueError):
    """A time that the ceilings of the same run do not allow."""


def read_recordings(folder: str | Path) -> dict[str, dict[str, Any]]:
    """Read all recordings of a folder, by the names of their files, those of GPUs first.

    One not sound in form, origin, arithmetic or speed is a ValueError: file, field and remedy.
    So is a file in the place of the folder; a folder that is not there holds no recordings.

    Examples
    --------
    >>> read_recordings("no such folder")
    {}
    """
    if (folder := Path(folder)).is_file():
        raise ValueError(f"{folder} is a file, expected a folder of recordings; pass its parent.")
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
    except (ValueError, RecursionError) as error:
        unread = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, RecursionError))
        raise ValueError(f"{path}: {'the file is not JSON: ' * unread}{error}. {REMEDY}") from None
    return recording


def write_recording(path: Path, recording: dict[str, Any]) -> None:
    """Write with a checksum, and a line for each case."""
    head = recording | {"checksum": checksum(recording)}
    cases = ",\n".join(json.dumps(case, allow_nan=False) for case in head.pop("cases"))
    start = json.dumps(head, allow_nan=False)[:-1]
    write_whole(path, f'{start},\n"cases": [\n{cases}\n]}}\n')


def checksum(recording: dict[str, Any]) -> str:
    """Digest everything but the member ``checksum``, whatever the order and the spaces."""
    content = {name: value for name, value in recording.items() if name != "checksum"}
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_recording(recording: Any) -> None:
    """Raise, with the field and what was expected of it, unless a recording is sound."""
    check_form("data", recording, FORM)
    check_origin(recording["provenance"])
    sets, least = recording["ceilings"], 2 if recording["complete"] else 1
    expect(len(sets) >= least, "data.ceilings", len(sets), f"{least} sets: at start, at end")
    asked: set[Case] = set()
    for k, result in enumerate(recording["cases"]):
        place = f"data.cases[{k}]"
        case, allowed = check_result(place, result, recording)
        expect(case not in asked, place, case, "a case that was not there before")
        asked.add(case)
        alike = max(allowed) <= DRIFT * min(allowed) or recording["provenance"]["quick"]
        expect(alike, "data.ceilings", allowed, f"like times for {place} from each set")
    said = recording["checksum"]
    expect(checksum(recording) == said, "data.checksum", said, "another: the file was edited")


def check_origin(origin: dict[str, Any]) -> None:
    """Raise unless a run can be told from others: where, when, with what, by which command."""
    check_form("data.provenance", origin, ORIGIN)
    for name in ("driver", "cuda"):
        right = (origin[name] is None) == (origin["kind"] == "cpu")
        expect(right, f"data.provenance.{name}", origin[name], "null on a CPU only")
    try:
        been = date.fromisoformat(origin["date"]) <= datetime.now(UTC).date()
    except ValueError:
        been = False
    expect(been, "data.provenance.date", origin["date"], "a day that has been")


def check_result(place: str, result: Any, recording: dict[str, Any]) -> tuple[Case, list[float]]:
    """Give a case and the seconds that each set of ceilings allows, or raise if it is not sound."""

    def demand(name: str, right: bool, expected: str) -> None:
        expect(right, f"{place}.{name}", result[name], expected)

    measured = "skipped" not in result
    check_form(place, result, MEASURED if measured else SKIPPED)
    case = Case(*(result[name] for name in Case._fields))
    forms, distinct = forms_of(case.direction, case.bags), result["distinct"]
    drawn, most = _drawn(case.draw, case.ids, case.vocab_size)
    demand("form", case.form in forms, f"one of {', '.join(forms)}")
    demand("ids", case.ids % max(case.bags, 1) == 0, f"a multiple of the {case.bags} bags")
    demand("distinct", drawn in (0, distinct), f"{drawn}, found by drawing the ids again")
    demand("distinct", distinct <= min(case.ids, case.vocab_size), "at most the ids and the rows")
    sets, told = recording["ceilings"], result["predicted_s"]
    try:
        predicted = predicted_s(case, distinct, sets[0])
        allowed = [predicted_s(case, distinct, limits, best=True) for limits in sets]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{place} needs a ceiling that is not there: {error}") from None
    demand("predicted_s", isclose(told, predicted, rel_tol=1e-6), f"{predicted:.6g}")
    if not measured:
        return case, allowed
    bound, in_norm = error_bounds(case, most or case.ids)
    memory, kind = (recording["provenance"][name] for name in ("device_memory_bytes", "kind"))
    low, median, high = (result[name] for name in ("low_s", "median_s", "high_s"))
    demand("median_s", low <= median <= high, "a time between low_s and high_s")
    demand("error_bound", result["error_bound"] <= bound, f"{bound:.3g} or less")
    demand("max_error", result["max_error"] <= 10 * case.ids * bound, "a rounding of its sums")
    demand("relative_error", result["relative_error"] <= in_norm, f"{in_norm:.3g} or less")
    demand("peak_bytes", result["peak_bytes"] <= memory, f"at most {memory}, all there are")
    demand("launch_s", kind == "cuda" or result["launch_s"] is None, "null on a CPU")
    demand("clock_hz", (kind == "cpu") == (result["clock_hz"] is None), "null on a CPU only")
    least, most_s = min(allowed) / MARGIN, SLOWEST * predicted
    if not least <= low <= median <= most_s:
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


def select(cases: Iterable[dict[str, Any]], **fixed: object) -> list[dict[str, Any]]:
    """Pick the measured cases with these members, by vocabulary size, then by number of ids.

    Examples
    --------
    >>> select([{"ids": 1, "vocab_size": 4}, {"ids": 1, "vocab_size": 8, "skipped": {}}], ids=1)
    [{'ids': 1, 'vocab_size': 4}]
    """
    fitting = (case for case in cases if "skipped" not in case and fixed.items() <= case.items())
    return sorted(fitting, key=lambda case: (case["vocab_size"], case["ids"]))
