"""How versions of torch word the errors of the symptom pages, recorded by ``nox -s wordings``."""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes


def same_words(found: str, expected: str) -> bool:
    """Compare two messages whole, numbers and addresses aside; ``…`` stands for any text."""
    parts = (re.escape(_plain(part)) for part in expected.split("…"))
    return re.fullmatch(".*".join(parts), _plain(found), re.DOTALL) is not None


def _plain(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+|\d+", "0", text)


def recordings(docs: Path) -> list[dict[str, Any]]:
    """Return the recorded files, the oldest torch first."""
    found = []
    for path in (docs / "wordings").glob("*.json"):
        found.append(json.loads(path.read_text("utf-8")) | {"path": path})
    return sorted(found, key=lambda recording: release(recording["torch"]))


def release(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, by which it sorts, without the device it was built for."""
    return tuple(int(number) for number in version.partition("+")[0].split("."))


def spans(code: str, expected: str, recorded: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return the versions that were tried, and the words, of each wording of a cell.

    Words that are the expected ones are given as expected.
    """
    found: list[tuple[str, str]] = []
    for recording in recorded:
        if code not in recording["said"]:
            continue
        said = recording["said"][code]
        said = expected if expected and same_words(said, expected) else said
        version = recording["torch"].partition("+")[0]
        if found and same_words(said, found[-1][1]):
            found[-1] = (f"{found[-1][0]}, {version}", found[-1][1])
        else:
            found.append((version, said))
    return found


def words_of(cell: nodes.Element, recorded: list[dict[str, Any]]) -> list[str]:
    """Return what a cell's error says, in every version, and write it under the cell."""
    metadata = cell["cell_metadata"]
    tags = metadata.get("tags", [])
    if not {"whole", "recorded"} & set(tags):
        return []
    code = next(block.astext() for block in cell.findall(nodes.literal_block))
    expected = str(metadata.get("expect", ""))
    found = spans(code, expected, recorded)
    library = "SciPy" if "scipy" in tags else "torch"  # whose words they are
    tried, others = (
        {r[library.lower()].partition("+")[0] for r in recorded if (code in r["said"]) is said}
        for said in (True, False)
    )
    versions = (sorted(each, key=release) for each in (tried, others - tried))
    shown = [_told(found, expected, library, *versions)]
    if "recorded" in tags:
        shown.insert(0, _quiet("Recorded, not run in this build."))
    elif "remove-output" in tags:  # a message that goes on for pages is shown as far as compared
        shown.insert(0, nodes.literal_block("", expected, classes=["message"]))
    place: nodes.Element = cell.parent if "check" in tags else cell
    place.parent.insert(place.parent.index(place) + 1, shown)
    return [text for text in (expected, *(words for _, words in found)) if ": " in text]


def _told(
    found: list[tuple[str, str]], expected: str, library: str, tried: list[str], others: list[str]
) -> nodes.Element:
    """Say which of the versions tried say what, and which others were not tried."""
    if not found:
        return _quiet("Not tried with another torch yet.")
    if len(found) == 1 and found[0][1] == expected:
        left = f"; not tried with {_listed(others)}" if others else ""
        return _quiet(f"Same message in {library} {_listed(tried)}{left}.")
    rows = [[versions, "as above" if said == expected else said] for versions, said in found]
    return table(["tried with torch", "worded as"], rows, "wordings", "spans")


def _listed(names: list[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def _quiet(text: str) -> nodes.Element:
    return nodes.paragraph("", text, classes=["wordings"])


def table(head: list[str], rows: list[list[str]], *classes: str) -> nodes.Element:
    """Return a table of texts, in which an error is a literal."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in head), cols=len(head))
    group += [nodes.thead("", _row(head)), nodes.tbody("", *map(_row, rows))]
    return nodes.table("", group, classes=list(classes))


def _row(texts: list[str]) -> nodes.row:
    cells = (nodes.literal("", t) if ": " in t else nodes.Text(t) for t in texts)
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))
