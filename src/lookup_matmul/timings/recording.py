"""Recordings of measurements: one JSON file for each machine, refused unless it is sound."""

import json
import math
import os
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import fastjsonschema

from lookup_matmul.timings.cases import BACKWARD, FORWARD, Case
from lookup_matmul.timings.contenders import case_cost
from lookup_matmul.timings.schema import SCHEMA, VERSION

Recording = dict[str, Any]
_validate = fastjsonschema.compile(SCHEMA)


def checksum(recording: Recording) -> str:
    """Digest everything but the member ``checksum``, whatever the order and the spaces.

    Parameters
    ----------
    recording : dict
        The recording.

    Returns
    -------
    str
        SHA-256, 64 hexadecimal digits.

    Examples
    --------
    >>> checksum({"a": 1, "b": 2}) == checksum({"b": 2, "a": 1, "checksum": "any"})
    True
    """
    content = {name: value for name, value in recording.items() if name != "checksum"}
    return sha256(json.dumps(content, sort_keys=True, allow_nan=False).encode()).hexdigest()


def write_recording(path: Path, recording: Recording) -> None:
    """Write a recording in one go, so that a reader or a kill never meets half of one.

    Parameters
    ----------
    path : pathlib.Path
        Where to; its folder is made.
    recording : dict
        Without its checksum, which is added.

    Raises
    ------
    ValueError
        If it is not sound; then the file stays as it was.

    Examples
    --------
    >>> write_recording(Path("x.json"), {"version": 1})
    Traceback (most recent call last):
    ...
    ValueError: x.json: data must contain ['cases', 'ceilings', 'complete', 'provenance'] \
properties. Record again with nox -s timings, or take the file from its source.
    """
    recording = recording | {"checksum": checksum(recording)}
    check_recording(path, recording)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        json.dump(recording, file, indent=1, allow_nan=False)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def read_recording(path: Path) -> Recording:
    """Read a recording and refuse it unless it is sound.

    Parameters
    ----------
    path : pathlib.Path
        A file that :func:`write_recording` wrote.

    Returns
    -------
    dict
        As it was written.

    Raises
    ------
    ValueError
        Naming the file, the field and the remedy.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "cut.json")
    >>> _ = path.write_text('{"version": 1, "cas')
    >>> try:
    ...     read_recording(path)
    ... except ValueError as error:
    ...     print(str(error).partition("cut.json: ")[2])
    the file is not JSON: Unterminated string starting at: line 1 column 16 (char 15). \
Record again with nox -s timings, or take the file from its source.
    """
    try:
        recording = json.loads(
            path.read_text("utf-8"),
            parse_constant=lambda name: _refuse(path, f"{name} is no number"),
        )
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        _refuse(path, f"the file is not JSON: {error}")
    check_recording(path, recording)
    return dict(recording)


def check_recording(path: Path, recording: Recording) -> None:
    """Raise unless a recording has the form of the schema, possible numbers, and its checksum.

    Parameters
    ----------
    path : pathlib.Path
        Named in the message.
    recording : dict
        What is to be checked.

    Raises
    ------
    ValueError
        Naming the file, the field and the remedy.

    Examples
    --------
    >>> check_recording(Path("x.json"), {"version": 2})
    Traceback (most recent call last):
    ...
    ValueError: x.json: version is 2, expected 1. \
Record again with nox -s timings, or take the file from its source.
    """
    if isinstance(recording, dict) and recording.get("version", VERSION) != VERSION:
        _refuse(path, f"version is {recording['version']!r}, expected {VERSION}")
    try:
        _validate(recording)
    except fastjsonschema.JsonSchemaValueException as error:
        _refuse(path, error.message)
    _check_provenance(path, recording["provenance"])
    asked = set()
    for k, result in enumerate(recording["cases"]):
        case = Case(*(result[name] for name in Case._fields))
        if case in asked:
            _refuse(path, f"data.cases[{k}] is {case}, which was there before")
        asked.add(case)
        _check_case(path, f"data.cases[{k}]", case, result, recording["ceilings"])
    if checksum(recording) != recording["checksum"]:
        _refuse(path, "checksum does not match: the file was edited")


def over_limit(case: Case, result: dict[str, Any], ceilings: dict[str, Any]) -> str:
    """Say which of the machine's ceilings a time would break; empty if none.

    Parameters
    ----------
    case : Case
        The case.
    result : dict
        With ``distinct`` and ``median_s``.
    ceilings : dict
        As :func:`measure_ceilings` gives them.

    Returns
    -------
    str
        The two numbers, for people.

    Examples
    --------
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> ceilings = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e9}}
    >>> over_limit(case, {"distinct": 2, "median_s": 1e-9}, ceilings)
    '124 GB/s of compulsory bytes, where a copy reaches 1 GB/s'
    """
    cost, seconds = case_cost(case, result["distinct"]), result["median_s"]
    moved, copied = cost.compulsory_bytes / seconds, ceilings["copy_bytes_per_s"]
    if moved > copied:
        limit = f"{copied / 1e9:.3g} GB/s"
        return f"{moved / 1e9:.3g} GB/s of compulsory bytes, where a copy reaches {limit}"
    computed = cost.operations / seconds
    reached = ceilings["operations_per_s"].get(case.dtype, math.inf)
    if computed > reached:
        return f"{computed / 1e9:.3g} GFLOP/s, where a large product reaches {reached / 1e9:.3g}"
    return ""


def _check_provenance(path: Path, provenance: dict[str, Any]) -> None:
    for name in ("driver", "cuda"):
        if (provenance[name] is None) != (provenance["kind"] == "cpu"):
            kind, value = provenance["kind"], provenance[name]
            _refuse(path, f"data.provenance.{name} is {value!r} on kind {kind!r}")


def _check_case(
    path: Path, place: str, case: Case, result: dict[str, Any], ceilings: dict[str, Any]
) -> None:
    if case.form not in (FORWARD if case.direction == "forward" else BACKWARD):
        _refuse(path, f"{place}.form is {case.form!r}, which has no {case.direction} pass here")
    if result["distinct"] > min(case.ids, case.vocab_size):
        _refuse(path, f"{place}.distinct is {result['distinct']}, more than ids or rows")
    if "skipped" in result:
        return
    for name in ("low_s", "median_s", "high_s", "max_error", "predicted_s"):
        if not math.isfinite(result[name]):
            _refuse(path, f"{place}.{name} is {result[name]}, expected a finite number")
    if not result["low_s"] <= result["median_s"] <= result["high_s"]:
        _refuse(path, f"{place}.median_s is not between its quartiles")
    if (too_fast := over_limit(case, result, ceilings)) and result["reason"] is None:
        _refuse(path, f"{place}.median_s means {too_fast}, and no reason is given")


def _refuse(path: Path, fault: str) -> NoReturn:
    remedy = "Record again with nox -s timings, or take the file from its source."
    raise ValueError(f"{path}: {fault}. {remedy}") from None
