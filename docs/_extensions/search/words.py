"""How versions of torch word the errors of the symptom pages, recorded by ``nox -s wordings``."""

import json
import re
from pathlib import Path
from typing import Any


def same_words(found: str, expected: str) -> bool:
    """Compare two messages whole, numbers and addresses aside; ``…`` stands for any text."""
    parts = (re.escape(_plain(part)) for part in expected.split("…"))
    return re.fullmatch(".*".join(parts), _plain(found), re.DOTALL) is not None


def _plain(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+|\d+", "0", text)


def recordings(docs: Path) -> list[dict[str, Any]]:
    """Give the recorded files, the oldest torch first."""
    found = []
    for path in (docs / "wordings").glob("*.json"):
        found.append(json.loads(path.read_text("utf-8")) | {"path": path})
    return sorted(found, key=lambda recording: release(recording["torch"]))


def release(version: str) -> tuple[int, ...]:
    """Give the numbers of a version, by which it sorts, without the device it was built for."""
    return tuple(int(number) for number in version.partition("+")[0].split("."))


def spans(code: str, expected: str, recorded: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Give since, until and words of each wording of a cell, among the versions it was tried with.

    Words that are the expected ones are given as expected.
    """
    found: list[tuple[str, str, str]] = []
    for recording in recorded:
        if code not in recording["said"]:
            continue
        said = recording["said"][code]
        said = expected if expected and same_words(said, expected) else said
        version = recording["torch"].partition("+")[0]
        if found and same_words(said, found[-1][2]):
            found[-1] = (found[-1][0], version, found[-1][2])
        else:
            found.append((version, version, said))
    return found
