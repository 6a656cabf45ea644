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

from lookup_matmul.timings.cases import DTYPES, Case, draw_ids, forms_of
from lookup_matmul.timings.ceilings import predicted_s
from lookup_matmul.timings.oracle import error_bounds

MARGIN = 3.0  # by which a time may beat what the fastest quartiles of the ceilings allow
SLOWEST = 1000.0  # times the prediction: more is not believed
DRIFT = 5.0  # between the best quartiles of a ceiling at the start, in the middle, at the end
DRAWN_AGAIN = 2**21  # ids and rows up to which ids are drawn again on reading
REMEDY = "Record again with python -m lookup_matmul.timings, or take the file from its source."
# Pages show text that a stranger may have written: no markup, no controls, no hidden marks.
REFUSED = r"<>{}|`\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff"  # noqa: E501
PLAIN, RELEASE = f"[^{REFUSED}]{{1,300}}", r"[0-9]+(\.[0-9]+)+[A-Za-z0-9.+_-]{0,40}"
COUNT, SECONDS, PRICE, RATE = range(1, 2**62), (1e-12, 1e5), 3 * [(0, 1e3)], 3 * [(1e3, 1e18)]

# A text's pattern, a whole number's range, a number's ends, a type; (None, x) for x or null;
# [x] for a list, [x, x, x] for ascending numbers; ``...`` stands for members of any plain name.
ORIGIN = dict.fromkeys(("device", "cpu", "command"), PLAIN) | {
    **dict.fromkeys(("driver", "cuda", "triton"), (None, RELEASE)),
    "kind": "cpu|cuda",
    "device_memory_bytes": COUNT,
    "torch": RELEASE,
    "threads": range(1, 4096),
    "date": "20[0-9]{2}-[0-9]{2}-[0-9]{2}",
    "commit": "[0-9a-f]{40}(-changed)?",
    "quick": bool,
}
CEILINGS = {
    "fixed_s": {"hot": {...: PRICE}, "cold": {...: PRICE}},
    "row_s": {"hot": {...: PRICE}, "cold": {...: PRICE}},
    "bandwidth": [{"working_set": COUNT, "bytes_per_s": RATE}],
    "first_touch": [{"allocated": COUNT, "s_per_byte": PRICE}],
    "rate": {...: {"random": RATE, "zeros": RATE}},
}
ASKED = dict.fromkeys(("vocab_size", "dim", "ids", "distinct"), COUNT) | {
    **dict.fromkeys(("form", "direction"), PLAIN),
    "bags": range(2**62),
    "draw": "uniform|zipf|equal",
    "dtype": "|".join(DTYPES),
    "cache": "hot|cold",
    "predicted_s": SECONDS,
}
KINDS = "does not fit|takes too long|not in torch|wrong result|impossible time"
SKIPPED = ASKED | {"skipped": {"kind": KINDS, "says": PLAIN}}
MEASURED = ASKED | {
    **dict.fromkeys(("median_s", "low_s", "high_s"), SECONDS),
    **dict.fromkeys(("max_error", "relative_error", "error_bound"), (0, 1e300)),
    "rounds": range(3, 10**6),
    "calls": COUNT,
    "launch_s": (None, SECONDS),
    "clock_hz": (None, (1e6, 1e11)),
    "peak_bytes": range(2**62),
    "repeats_bitwise": bool,
}
FORM = {
    "version": range(2, 3),
    "complete": bool,
    "provenance": ORIGIN,
    "ceilings": [CEILINGS],
    "behaviour": {...: {...: PLAIN}},
    "cases": [{...: object}],
    "checksum": "[0-9a-f]{64}",
}


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


def plain(text: str) -> str:
    """Write the first line of a message as a recording may hold it, with marks that look alike."""
    line = next(iter(text.strip().splitlines()), "no word")
    return re.sub(f"[{REFUSED}]", "?", line.translate(str.maketrans("<>{}|`", "‹›()/'")))[:200]


def check_recording(recording: Any) -> None:
    """Raise, with the field and what was expected of it, unless a recording is sound."""
    if isinstance(recording, dict) and "version" in recording:
        check_form("data.version", recording["version"], FORM["version"])
    check_form("data", recording, FORM)
    check_origin(recording["provenance"])
    sets, least = recording["ceilings"], 2 if recording["complete"] else 1
    _expect(len(sets) >= least, "data.ceilings", len(sets), f"{least} sets: at start, at end")
    fastest, asked = fastest_of(recording), set()
    for k, result in enumerate(recording["cases"]):
        case = check_result(f"data.cases[{k}]", result, recording, fastest)
        _expect(case not in asked, f"data.cases[{k}]", case, "a case that was not there before")
        asked.add(case)
    said = recording["checksum"]
    _expect(checksum(recording) == said, "data.checksum", said, "another: the file was edited")


def check_result(place: str, result: Any, recording: dict[str, Any], fastest: Any) -> Case:
    """Raise unless a case is one of ours, predicted as the model does, correct and possible."""
    check_form(place, result, SKIPPED if "skipped" in result else MEASURED)
    case = Case(*(result[name] for name in Case._fields))
    forms, distinct = forms_of(case.direction, case.bags), result["distinct"]
    drawn, most = _drawn(case.draw, case.ids, case.vocab_size)
    checks = [
        ("form", case.form in forms, f"one of {', '.join(forms)}"),
        ("ids", case.ids % max(case.bags, 1) == 0, f"a multiple of the {case.bags} bags"),
        ("distinct", drawn in (0, distinct), f"{drawn}, found by drawing the ids again"),
        ("distinct", distinct <= min(case.ids, case.vocab_size), "at most the ids and the rows"),
    ]
    _expect_all(place, result, checks)
    try:
        predicted = predicted_s(case, distinct, recording["ceilings"][0])
        told = result["predicted_s"]
        right = isclose(told, predicted, rel_tol=1e-6)
        _expect(right, f"{place}.predicted_s", told, f"{predicted:.6g}")
        if "skipped" not in result:
            check_speed(place, result, fastest)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{place} needs a ceiling that is not there: {error}") from None
    if "skipped" not in result:
        bound, in_norm = error_bounds(case, most or case.ids)
        memory, kind = (recording["provenance"][n] for n in ("device_memory_bytes", "kind"))
        checks = [
            ("error_bound", result["error_bound"] <= bound, f"{bound:.3g} or less"),
            ("max_error", result["max_error"] <= 10 * case.ids * bound, "a rounding of its sums"),
            ("relative_error", result["relative_error"] <= in_norm, f"{in_norm:.3g} or less"),
            ("peak_bytes", result["peak_bytes"] <= memory, f"at most {memory}, all there are"),
            ("launch_s", kind == "cuda" or result["launch_s"] is None, "null on a CPU"),
            ("clock_hz", (kind == "cpu") == (result["clock_hz"] is None), "null on a CPU only"),
        ]
        _expect_all(place, result, checks)
    return case


def check_speed(place: str, result: dict[str, Any], fastest: Any) -> None:
    """Raise unless a time is between its quartiles, allowed by the ceilings, and not absurd."""
    case = Case(*(result[name] for name in Case._fields))
    floor = predicted_s(case, result["distinct"], fastest) / MARGIN
    low, median, high = (result[name] for name in ("low_s", "median_s", "high_s"))
    most = SLOWEST * result["predicted_s"]
    checks = [
        ("median_s", low <= median <= high, "a time between low_s and high_s"),
        ("low_s", low >= floor, f"{floor:.3g} or more, by the ceilings of the same run"),
        ("median_s", median <= most, f"{most:.3g} or less"),
    ]
    _expect_all(place, result, checks)


@cache
def _drawn(draw: str, ids: int, vocab_size: int) -> tuple[int, int]:
    """Count distinct ids, and how often the most frequent comes; zeros if drawing takes long."""
    if max(ids, vocab_size) > DRAWN_AGAIN:
        return 0, 0
    counts = draw_ids(draw, ids, vocab_size).bincount()
    return int(counts.count_nonzero()), int(counts.max())


def check_form(place: str, value: Any, form: Any) -> None:
    """Compare a value with what the tables above ask for."""
    if isinstance(form, dict):
        _expect(isinstance(value, dict), place, value, "an object")
        for name in [*(form.keys() - {...}), *value]:
            check_form(f"the name of a member of {place}", name, PLAIN)
            if name not in value:
                raise ValueError(f"{place}.{name} is missing")
            _expect(name in form or ... in form, f"{place}.{name}", value[name], "no such member")
            check_form(f"{place}.{name}", value[name], form.get(name, form.get(...)))
    elif isinstance(form, list):
        _expect(isinstance(value, list), place, value, "a list")
        for k, element in enumerate(value):
            check_form(f"{place}[{k}]", element, form[0])
        ascending = len(form) == 1 or (len(value) == len(form) and value == sorted(value))
        _expect(ascending, place, value, f"{len(form)} numbers, low, median and high")
    elif isinstance(form, str):
        right = isinstance(value, str) and re.fullmatch(form, value)
        words = "1 to 300 characters without < > { } | ` and controls" if form == PLAIN else form
        _expect(bool(right), place, value, words)
    elif isinstance(form, range):
        words = f"a whole number from {form.start} to {form.stop - 1}"
        _expect(type(value) is int and value in form, place, value, words)
    elif isinstance(form, tuple) and form[0] is None:
        if value is not None:
            check_form(place, value, form[1])
    elif isinstance(form, tuple):
        right = type(value) in (int, float) and form[0] <= value <= form[1]
        _expect(right, place, value, f"a number from {form[0]:g} to {form[1]:g}")
    else:
        _expect(isinstance(value, form), place, value, "true or false")


def check_origin(origin: dict[str, Any]) -> None:
    """Raise unless the day has been, and a GPU and only a GPU has a driver."""
    check_form("data.provenance", origin, ORIGIN)
    try:
        been = date.fromisoformat(origin["date"]) <= datetime.now(UTC).date()
    except ValueError:
        been = False
    on_cpu = origin["kind"] == "cpu"
    checks = [(n, (origin[n] is None) == on_cpu, "null on a CPU only") for n in ("driver", "cuda")]
    checks.append(("date", been, "a day that has been"))
    command = "lookup_matmul.timings" in origin["command"]
    checks.append(("command", command, "python -m lookup_matmul.timings, with its options"))
    _expect_all("data.provenance", origin, checks)


def fastest_of(recording: dict[str, Any]) -> Any:
    """Join the ceilings of a recording: of each, the quartile that allows most."""
    sets = recording["ceilings"]
    # The few rounds of a trial may all meet a busy machine.
    return _joined(
        "data.ceilings", sets, float("inf") if recording["provenance"]["quick"] else DRIFT
    )


def _joined(place: str, sets: list[Any], drift: float) -> Any:
    first = sets[0]
    if isinstance(first, dict):
        alike = all(each.keys() == first.keys() for each in sets)
        _expect(alike, place, list(first), "the same members in each set")
        return {n: _joined(f"{place}.{n}", [each[n] for each in sets], drift) for n in first}
    if isinstance(first, list) and (not first or isinstance(first[0], dict)):
        _expect(len({len(each) for each in sets}) == 1, place, len(first), "as many in each set")
        return [_joined(f"{place}[{k}]", [s[k] for s in sets], drift) for k in range(len(first))]
    if isinstance(first, int):
        _expect(len(set(sets)) == 1, place, sets, "the same in each set")
        return first
    rates = ".rate." in place or place.endswith("bytes_per_s")
    found = sorted(each[2] if rates else each[0] for each in sets)
    # What is told from differences may be zero by chance.
    steady = found[-1] <= drift * found[0] or ".row_s." in place or place.endswith("s_per_byte")
    _expect(steady, place, found, f"about the same: up to a factor of {drift:g} is believed")
    return 3 * [found[-1] if rates else found[0]]


def _expect_all(place: str, found: dict[str, Any], checks: list[tuple[str, bool, str]]) -> None:
    for name, right, expected in checks:
        _expect(right, f"{place}.{name}", found[name], expected)


def _expect(right: bool, place: str, value: object, expected: str) -> None:
    if not right:
        raise ValueError(f"{place} is {value!a:.60}, expected {expected}")
