"""Recordings of measurements: one JSON file for each machine, refused unless it is sound."""

import json
import os
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

import fastjsonschema

from lookup_matmul.timings.cases import Case, forms_of
from lookup_matmul.timings.limits import over_limit
from lookup_matmul.timings.schema import SCHEMA, VERSION
from lookup_matmul.timings.text import PLAIN, PLAIN_IN_WORDS

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
    """Write a recording in one go, so that nobody ever meets half of one.

    Neither a reader nor a kill does, nor another writer: each writes a file of its own,
    which then takes the name; the last one stays.

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
    ValueError: x.json: data must contain ['behaviour', 'cases', 'ceilings', 'complete', \
'provenance'] properties. Record again with nox -s timings, or take the file from its source.
    """
    _check_numbers(path, "data", recording)
    recording = recording | {"checksum": checksum(recording)}
    check_recording(path, recording)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.stem}-{uuid4().hex}.partial")
    try:
        with partial.open("x", encoding="utf-8") as file:
            json.dump(recording, file, indent=1, allow_nan=False)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


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
        recording = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
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
    _check_numbers(path, "data", recording)
    try:
        _validate(recording)
    except fastjsonschema.JsonSchemaValueException as error:
        if error.rule_definition == PLAIN:
            _refuse(path, f"{error.name} is {error.value!a:.60}, expected {PLAIN_IN_WORDS}")
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


def _check_numbers(path: Path, place: str, value: object) -> None:
    """Refuse what JSON's grammar or Python's reader let through: NaN, infinities, huge integers."""
    if isinstance(value, dict | list):
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            inner = f"{place}.{name}" if isinstance(value, dict) else f"{place}[{name}]"
            _check_numbers(path, inner, member)
    elif isinstance(value, int | float) and not abs(value) < 2.0**63:
        _refuse(path, f"{place} is {value!r:.30}, expected a finite number below 2**63")


def _check_provenance(path: Path, provenance: dict[str, Any]) -> None:
    try:
        date.fromisoformat(provenance["date"])
    except ValueError:
        _refuse(path, f"data.provenance.date is {provenance['date']!r}, expected a day that exists")
    for name in ("driver", "cuda"):
        if (provenance[name] is None) != (provenance["kind"] == "cpu"):
            kind, value = provenance["kind"], provenance[name]
            _refuse(path, f"data.provenance.{name} is {value!r} on kind {kind!r}")


def _check_case(
    path: Path, place: str, case: Case, result: dict[str, Any], ceilings: dict[str, Any]
) -> None:
    if case.form not in forms_of(case.direction, case.bags):
        bags = " of bags" if case.bags else ""
        _refuse(path, f"{place}.form is {case.form!r}, which has no {case.direction} pass{bags}")
    if case.bags and case.ids % case.bags:
        _refuse(path, f"{place}.ids is {case.ids}, expected a multiple of the {case.bags} bags")
    if result["distinct"] > min(case.ids, case.vocab_size):
        _refuse(path, f"{place}.distinct is {result['distinct']}, more than ids or rows")
    if "skipped" in result:
        return
    if not result["low_s"] <= result["median_s"] <= result["high_s"]:
        _refuse(path, f"{place}.median_s is not between its quartiles")
    too_fast, possible = over_limit(case, result, ceilings)
    if too_fast and (result["reason"] is None or not possible):
        given = "is not possible" if result["reason"] else "has no reason given"
        _refuse(path, f"{place}.median_s means {too_fast}; this {given}")


def _refuse(path: Path, fault: str) -> NoReturn:
    remedy = "Record again with nox -s timings, or take the file from its source."
    raise ValueError(f"{path}: {fault}. {remedy}") from None
