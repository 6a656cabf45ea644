"""Recordings of measurements: one JSON file for each machine, checked when it is read."""

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lookup_matmul.costs.cases import Case
from lookup_matmul.costs.markdown import escaped
from lookup_matmul.costs.predict import predicted_s

SCHEMA = Path(__file__).with_name("recording.toml")
FACTOR = 1.01  # between a prediction and what the ceilings of the same file give
DRIFT = 5.0  # between what the ceilings at the start, in the middle and at the end allow
COMMAND = "python -m lookup_matmul.costs"
REMEDY = f"Record again with {COMMAND}, or take the file from its source."


def read_recordings(folder: str | Path) -> dict[str, dict[str, Any]]:
    """Return all recordings of a folder, by the names of their files, those of GPUs first.

    One not sound in form or arithmetic is a ValueError: file, field and remedy; a folder that is
    not there holds none. The form is checked by the package jsonschema, which comes with Jupyter.

    Examples
    --------
    >>> read_recordings("no such folder")
    {}
    """
    read = {path.stem: read_recording(path) for path in sorted(Path(folder).glob("*.json"))}
    return dict(sorted(read.items(), key=lambda item: item[1]["provenance"]["kind"] == "cpu"))


def read_recording(path: Path, *, form: bool = True) -> dict[str, Any]:
    """Return one recording; a machine that only measures has no jsonschema to check its form."""
    try:
        recording: dict[str, Any] = json.loads(path.read_text("utf-8"), parse_constant=_no_number)
        if form:
            check_form(recording)
        check_arithmetic(recording)
    except (OSError, ValueError, LookupError, TypeError) as error:
        unread = isinstance(error, json.JSONDecodeError | UnicodeDecodeError)
        said = str(error) if isinstance(error, OSError | ValueError) else repr(error)
        raise ValueError(f"{path}: {'the file is not JSON: ' * unread}{said}. {REMEDY}") from None
    return recording


def _no_number(name: str) -> float:
    raise ValueError(f"{name} stands in the place of a number")


def check_form(recording: Any) -> None:
    """Raise ValueError, with the place, unless a recording fits ``recording.toml``."""
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

    validator = Draft202012Validator(tomllib.loads(SCHEMA.read_text("utf-8")))
    if error := best_match(validator.iter_errors(recording)):
        raise ValueError(f"{error.json_path}: {error.message:.200}")


def check_arithmetic(recording: dict[str, Any]) -> None:
    """Raise ValueError unless times are in order and predictions follow from the ceilings."""
    if recording["complete"] and not recording["cases"]:
        raise ValueError("complete is true, and there are no cases")
    seen: set[Case] = set()
    for k, result in enumerate(recording["cases"]):
        case = Case(*(result[name] for name in Case._fields))
        try:
            given = [predicted_s(case, result["distinct"], at) for at in recording["ceilings"]]
        except (KeyError, ValueError) as error:
            lacks = "it needs a ceiling that is not there, " * isinstance(error, KeyError)
            raise ValueError(f"cases[{k}]: {lacks}{error}") from None
        told = result["predicted_s"]
        times = [result.get(name, 0) for name in ("low_s", "median_s", "high_s")]
        fault = ""
        if case in seen:
            fault = "stands there before"
        elif times != sorted(times):
            fault = f"has times {times}, expected low_s <= median_s <= high_s"
        elif not given[0] / FACTOR <= told <= given[0] * FACTOR:
            fault = f"has predicted_s {told:.6g}, expected {given[0]:.6g} by its ceilings"
        elif not recording["provenance"]["quick"] and max(given) > DRIFT * min(given):
            fault = f"is predicted to take {given} s by the ceilings of one run, expected the like"
        if fault:
            raise ValueError(f"cases[{k}] {fault}")
        seen.add(case)


def describe(recording: dict[str, Any]) -> str:
    """Return where a recording comes from and what it lacks, a line of Markdown without markup.

    Examples
    --------
    >>> origin = {"device": "A device", "driver": "1.2", "cuda": "13.0", "torch": "2.13.0",
    ...           "date": "2026-01-31", "commit": 4 * "0123456789", "quick": False}
    >>> describe({"provenance": origin, "complete": True})
    'A device, driver 1.2, CUDA 13.0, torch 2.13.0, recorded on 2026-01-31 at commit 0123456'
    """
    origin = recording["provenance"]
    names = {"device": "", "driver": "driver ", "cuda": "CUDA ", "torch": "torch "}
    said = [words + escaped(origin[name]) for name, words in names.items() if origin[name]]
    changed = ", changed since" if origin["commit"].endswith("-changed") else ""
    said.append(f"recorded on {origin['date']} at commit {origin['commit'][:7]}{changed}")
    lacks = "; a trial with few rounds" if origin["quick"] else ""
    return ", ".join(said) + lacks + ("" if recording["complete"] else "; not complete")


def select(cases: Iterable[dict[str, Any]], **fixed: object) -> list[dict[str, Any]]:
    """Return the measured cases with these members, by vocabulary size, then by number of ids.

    Examples
    --------
    >>> select([{"ids": 1, "vocab_size": 4}, {"ids": 1, "vocab_size": 8, "skipped": {}}], ids=1)
    [{'ids': 1, 'vocab_size': 4}]
    """
    fitting = (case for case in cases if "skipped" not in case and fixed.items() <= case.items())
    return sorted(fitting, key=lambda case: (case["vocab_size"], case["ids"]))
