"""Recordings of machines, checked when they are read, and their text on pages."""

import json
import re
from math import inf
from pathlib import Path
from typing import Any

from lookup_matmul.costs.count import BAG, COMPILED, COMPILED_LOOKUP, CSR, ONE_HOT, PRODUCT, Case

REMEDY = "Record again with python -m lookup_matmul.costs, or copy the file from its source."
Fields = dict[str, Any]  # names and types
PROVENANCE: Fields = dict.fromkeys(("kind", "device", "torch", "python", "date"), str)
PROVENANCE |= dict.fromkeys(("driver", "cuda", "triton", "package"), str | None)
PROVENANCE |= {"threads": int, "quick": bool}
SPREAD: Fields = dict.fromkeys(("low_s", "median_s", "high_s"), float)
FORMS = ("lookup", ONE_HOT, PRODUCT, COMPILED, COMPILED_LOOKUP, BAG, CSR)
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
Times = tuple[float, float, float]  # low, median and high


def read_recordings(folder: str | Path) -> dict[str, dict[str, Any]]:
    """Return the recordings of a folder by the names of their files, those of GPUs first.

    Raise ValueError with the file, the field and the remedy for a malformed file.

    >>> read_recordings("no such folder")
    {}
    """
    recordings = {}
    for path in sorted(Path(folder).glob("*.json")):
        try:
            recordings[path.stem] = json.loads(path.read_text("utf-8"))
            check_recording(recordings[path.stem])
        except (OSError, ValueError) as error:
            raise ValueError(f"{path}: {error}. {REMEDY}") from None
    return dict(sorted(recordings.items(), key=lambda item: item[1]["provenance"]["kind"] == "cpu"))


def check_recording(recording: Any) -> None:
    """Raise ValueError with the name of the field unless a recording is well-formed."""
    _check_fields("", recording, {"complete": bool, "provenance": dict, "cases": list})
    _check_fields("provenance.", recording["provenance"], PROVENANCE)
    for k, case in enumerate(recording["cases"]):
        place = f"cases[{k}]."
        _check_fields(place, case, Case.__annotations__)
        if case["form"] not in FORMS:
            raise ValueError(f"{place}form is {case['form']!r:.60}, expected a form of Case")
        if "skipped" in case:
            _check_fields(place, case, {"skipped": str})
            continue
        _check_fields(place, case, {"largest_error": float})
        for member, spread in (place, case), (f"{place}graph.", case.get("graph", case)):
            _check_fields(member, spread, SPREAD)
            low, median, high = (spread[name] for name in SPREAD)
            if not 0 < low <= median <= high < inf:  # false for NaN, too
                raise ValueError(f"{member}median_s is {median}, expected from {low} to {high}")


def _check_fields(place: str, parent: Any, fields: Fields) -> None:
    for name, kind in fields.items():
        value = parent.get(name, "missing") if isinstance(parent, dict) else "missing"
        if value == "missing" or not isinstance(value, kind):
            expected = getattr(kind, "__name__", kind)
            raise ValueError(f"{place}{name} is {value!r:.60}, expected {expected}")


def describe(recording: dict[str, Any]) -> str:
    """Return the machine, the versions and the date of a recording as one line of Markdown.

    >>> origin = {"kind": "cuda", "device": "A GPU", "driver": "1.2", "cuda": "13.0",
    ...           "torch": "2.13.0", "triton": None, "date": "2026-01-31", "quick": False}
    >>> describe({"provenance": origin, "complete": True})
    'A GPU, driver 1.2, CUDA 13.0, torch 2.13.0, 2026-01-31'
    """
    origin = recording["provenance"]
    labels = {"device": "", "driver": "driver ", "cuda": "CUDA ", "torch": "torch "}
    labels |= {"triton": "Triton "}
    parts = [label + escaped(origin[name]) for name, label in labels.items() if origin[name]]
    parts += [f"threads: {origin['threads']}"] if origin["kind"] == "cpu" else []
    parts.append(escaped(origin["date"]))
    if origin["quick"]:
        parts.append("a trial with few rounds")
    if not recording["complete"]:
        parts.append("incomplete")
    return ", ".join(parts)


def vocabulary_curves(
    recording: dict[str, Any], **sizes: object
) -> tuple[list[int], dict[str, list[Times]]]:
    """Return vocabulary sizes, and the times of each form there as (low, median, high) in µs.

    ``sizes`` are fields that all cases share, such as ``dim``. Forms that lack a vocabulary size of
    the lookup are left out. Times are those of CUDA graphs if all cases have them.

    >>> case = {"form": "lookup", "vocab_size": 2, "low_s": 1e-6, "median_s": 2e-6, "high_s": 3e-6}
    >>> vocabulary_curves({"cases": [case]}, form="lookup")
    ([2], {'lookup': [(1.0, 2.0, 3.0)]})
    """
    cases = [c for c in recording["cases"] if "skipped" not in c and sizes.items() <= c.items()]
    graphs = all("graph" in case for case in cases)
    times: dict[str, dict[int, Times]] = {}
    for case in sorted(cases, key=lambda case: case["vocab_size"]):
        low, median, high = (1e6 * (case["graph"] if graphs else case)[name] for name in SPREAD)
        times.setdefault(case["form"], {})[case["vocab_size"]] = low, median, high
    rows = times.get("lookup", {}).keys()
    curves = {form: [at[V] for V in rows] for form, at in times.items() if at.keys() >= rows}
    return [*rows], curves


def in_unit(seconds: float) -> str:
    """Return a time, in seconds, as text with three digits and a unit.

    >>> in_unit(0.000205), in_unit(0.0123), in_unit(0.9996), in_unit(0)
    ('205 µs', '12.3 ms', '1.00 s', '0 s')
    """
    if seconds == 0:
        return "0 s"
    rounded = float(f"{seconds:.3g}")  # first, or 0.9996 s would be 1000 ms
    unit = next((unit for unit, size in UNITS.items() if rounded >= size), "ns")
    value = float(f"{rounded / UNITS[unit]:.3g}")
    return f"{value:#.3g}".rstrip(".") + f" {unit}" if value < 1000 else f"{value:.0f} {unit}"


def escaped(text: str) -> str:
    r"""Return text on one line, escaped such that Markdown shows it unchanged.

    >>> print(escaped("NVIDIA H200 ![](https://example.org) <script> 0|1"))
    NVIDIA H200 \!\[\](https://example.org) \<script\> 0\|1
    """
    return re.sub(r"[\\`*_{}\[\]<>|~$!&^]", r"\\\g<0>", " ".join(text.split()))
