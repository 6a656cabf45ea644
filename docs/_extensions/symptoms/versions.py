"""Error messages of the symptom pages in several torch versions, from ``nox -s wordings``."""

from typing import Any

from docutils import nodes
from packaging.version import Version
from sphinx.locale import _

from _extensions.recorded_errors import NO_ERROR, same_message
from _extensions.tables import build_table


def group_by_message(
    code: str, expected: str, recordings: list[dict[str, Any]]
) -> list[tuple[str, str]]:
    """Return pairs of version numbers and the message, or ``expected`` if that matches it."""
    groups: list[tuple[str, str]] = []
    for recording in recordings:
        if code not in recording["messages"]:
            continue
        message = recording["messages"][code]
        version = Version(recording["torch"]).public
        if expected and same_message(message, expected):
            message = expected
        if groups and same_message(message, groups[-1][1]):
            version = f"{groups[-1][0]}, {version}"
            message = groups.pop()[1]
        groups.append((version, message))
    return groups


def insert_versions(cell: nodes.Element, recordings: list[dict[str, Any]]) -> list[str]:
    """Insert the recorded messages of a cell below it, and return its messages in all versions."""
    metadata = cell["cell_metadata"]
    tags = metadata.get("tags", [])
    if not {"whole", "recorded"} & set(tags):
        return []
    code = next(block.astext() for block in cell.findall(nodes.literal_block))
    expected = str(metadata.get("expect", ""))
    groups = group_by_message(code, expected, recordings)
    library = "SciPy" if "scipy" in tags else "torch"  # the library that raises the error
    all_versions = {Version(r[library.lower()]).public for r in recordings}
    tested = {Version(r[library.lower()]).public for r in recordings if code in r["messages"]}
    untested = _join(all_versions - tested)
    notes = [_version_note(groups, expected, library, _join(tested), untested)]
    if "recorded" in tags:
        notes.insert(0, _paragraph(_("Recorded, not run in this build.")))
    elif "remove-output" in tags:  # the output fills pages; show the part that is compared
        notes.insert(0, nodes.literal_block("", expected, classes=["message"]))
    anchor: nodes.Element = cell.parent if "check" in tags else cell
    anchor.parent.insert(anchor.parent.index(anchor) + 1, notes)
    return [text for text in (expected, *(message for _, message in groups)) if ": " in text]


def _version_note(
    groups: list[tuple[str, str]], expected: str, library: str, tested: str, untested: str
) -> nodes.Element:
    """Return a sentence if all tested versions raise the expected message, and else a table."""
    if not groups:
        return _paragraph(_("Not tried with another torch yet."))
    if len(groups) == 1 and groups[0][1] == expected:
        text = _("Same message in {0} {1}.")
        if untested:
            text = _("Same message in {0} {1}; not tried with {2}.")
        return _paragraph(text.format(library, tested, untested))
    phrases = {expected: str(_("as above the table")), NO_ERROR: str(_("no error"))}
    rows = [[versions, phrases.get(message, message)] for versions, message in groups]
    header = [str(_("tried with torch")), str(_("worded as"))]
    return build_table(header, rows, "wordings", "spans")


def _join(versions: set[str]) -> str:
    *first, last = sorted(versions, key=Version) or [""]
    return _("{0} and {1}").format(_(", ").join(first), last) if first else last


def _paragraph(text: str) -> nodes.Element:
    return nodes.paragraph("", str(text), classes=["wordings"])
