"""Error messages of the symptom pages that ``nox -s wordings`` recorded, and their comparison."""

import json
import re
from pathlib import Path
from typing import Any

from packaging.version import Version

NO_ERROR = "no error"  # in a recording, of a cell that raised none


def same_message(message: str, expected: str) -> bool:
    """Return whether two messages match; digits and addresses may differ, and ``…`` is any text."""
    pattern = _build_pattern(_mask_numbers(expected))
    return re.fullmatch(pattern, _mask_numbers(message), re.DOTALL) is not None


def begins_like(message: str, expected: str) -> bool:
    """Return whether a message begins as expected, with the same digits; ``…`` is any text."""
    return re.match(_build_pattern(expected), message, re.DOTALL) is not None


def _build_pattern(expected: str) -> str:
    return ".*".join(map(re.escape, expected.split("…")))


def _mask_numbers(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+|\d+", "0", text)


def read_recordings(docs: Path) -> list[dict[str, Any]]:
    """Return the recordings in ``docs/wordings``, ordered by their torch version."""
    paths = (docs / "wordings").glob("*.json")
    recordings = [json.loads(path.read_text("utf-8")) | {"path": path} for path in paths]
    return sorted(recordings, key=lambda recording: Version(recording["torch"]))


def read_wordings(docs: Path, torch: str) -> dict[str, str]:
    """Return the recorded messages of a torch by code, or none of the pinned one.

    Pages state the messages of the pinned torch themselves.
    """
    version = Version(torch).public
    pins = docs.with_name("constraints.txt").read_text("utf-8").splitlines()
    path = docs / "wordings" / f"torch-{version}.json"
    if f"torch=={version}" in pins or not path.exists():
        return {}
    messages: dict[str, str] = json.loads(path.read_text("utf-8"))["messages"]
    return messages
