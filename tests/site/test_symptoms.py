"""The symptom pages: entries are complete, and messages are those of torch in several versions."""

import json
import re

import pytest
from _extensions.recorded_errors import read_recordings, read_wordings, same_message
from _extensions.symptoms.versions import group_by_message, insert_versions
from _tools.wordings import is_reproduction, read_code_cells
from docutils import nodes
from served import DOCS, ROOT

SOURCES = sorted((DOCS / "symptoms").glob("*.md"))
PINNED = re.search(r"^torch==([\d.]+)", (ROOT / "constraints.txt").read_text("utf-8"), re.M)[1]
ENTRIES = {
    f"{path.stem}: {part.splitlines()[0]}": part
    for path in SOURCES
    for part in re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
}
# The expected error of each reproduction by its code; empty for those that need a GPU.
EXPECTED = {
    cell.source: cell.metadata.get("expect", "")
    for path in SOURCES
    for cell in read_code_cells(path)
    if is_reproduction(cell)
}


def test_page_lists_all_entries_with_their_causes(pages):
    """Twelve entries are visible, and all are in closed groups; links to their anchors open these."""
    questions, *groups = pages["symptoms"].select("ul.symptoms")
    assert len(questions.select("li")) == 12
    assert len(groups) == len(SOURCES)
    assert all(group.find_parent("details") for group in groups)
    items = [item for group in groups for item in group.select("li")]
    assert len(items) == len(ENTRIES)
    for item in items:
        assert item.select_one("a")["href"].endswith(f"#{item['id']}")
        assert item.select("p")[1].get_text().endswith("."), item.get_text()
    old = {"index-out-of-range-in-self", "cuda-error-device-side-assert-triggered"}
    assert old <= {item["id"] for item in items}, "an anchor that other sites may link to"


@pytest.mark.parametrize("name", ENTRIES)
def test_entry_is_complete(name):
    """An entry has a reproduction of at most six lines, numbered causes, a tested fix and a reason."""
    text = ENTRIES[name]
    assert re.search(r"^1\. ", text, re.MULTILINE), "no numbered causes"
    _, fix = text.split("\nFix", 1)
    assert "```{code-cell}" in fix, "the fix is not run"
    assert re.search(r"^(.* )?Why: \[", text, re.MULTILINE), "no link to the reason"
    reproduction = re.findall(r"^```\{code-cell\}.*\n((?:.*\n)*?)^```$", text, re.MULTILINE)
    if not name.startswith("inputs: `CUDA"):
        lines = [line for line in reproduction[0].splitlines() if line and not line.startswith(":")]
        assert len(lines) <= 6, "the reproduction is long"


def test_pages_state_the_messages_of_the_pinned_torch():
    """Its recording has each reproduction, with the expected error but for digits and addresses."""
    recordings = {r["torch"].partition("+")[0]: r["messages"] for r in read_recordings(DOCS)}
    messages = recordings[PINNED]
    for code, expected in EXPECTED.items():
        assert code in messages, f"run nox -s wordings; not recorded:\n{code}"
        assert not expected or same_message(messages[code], expected), code


def test_lowest_and_pinned_torch_were_recorded():
    """Each recording has its date and versions, and all fixes ran without errors."""
    recordings = read_recordings(DOCS)
    versions = {r["torch"].partition("+")[0] for r in recordings}
    lowest = re.search(r'"torch>=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))[1]
    assert {f"{lowest}.0", PINNED} <= versions
    for recording in recordings:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", recording["date"])
        assert recording["python"]
        assert recording["failed"] == {}
        assert not re.search(r"(^|[\s(])/\w", json.dumps([*recording["messages"].values()]))


def test_changed_messages_are_shown_with_their_versions(pages):
    """A message of another version is in a table below the error."""
    old = "AdamW does not support sparse gradients"
    tables = pages["symptoms/training"].select("table.wordings")
    (table,) = [table for table in tables if old in table.get_text()]
    rows = [[cell.get_text() for cell in row.select("td")] for row in table.select("tbody tr")]
    assert rows[0][1] == f"RuntimeError: {old}"
    assert rows[-1][1] == "as above the table"
    note = pages["symptoms/inputs"].select_one("p.wordings")
    assert note.get_text().startswith("Same message in")


@pytest.mark.parametrize(
    ("message", "expected", "same"),
    [
        ("E: a 2x3", "E: a 4x5", True),
        ("E: at 0x7ffe1a", "E: at 0x1b", True),
        ("E: a", "E: a b", False),
        ("E: a b", "E: a", False),
        ("E: a b\nc", "E: a…", True),
        ("E: a b c", "E: a…c", True),
        ("E: x a b", "E: a…", False),
        ("E: (a)", "E: .a.", False),
    ],
)
def test_messages_are_compared_completely(message, expected, same):
    """Digits and addresses may differ, and an ellipsis matches any text."""
    assert same_message(message, expected) is same


def test_versions_with_the_same_message_are_grouped():
    """Only consecutive versions form a group, and a recording without the cell is skipped."""
    messages = ["E: old", "E: new 1", "E: new 2", None, "no error"]
    recordings = [
        {"torch": f"2.{i}.0+cpu", "messages": {"f()": message} if message else {}}
        for i, message in enumerate(messages)
    ]
    assert group_by_message("f()", "E: new 7", recordings) == [
        ("2.0.0", "E: old"),
        ("2.1.0, 2.2.0", "E: new 7"),
        ("2.4.0", "no error"),
    ]


def test_only_another_torch_has_wordings():
    """Of the pinned torch and of one without a recording, the pages alone state the messages."""
    assert read_wordings(DOCS, f"{PINNED}+cpu") == read_wordings(DOCS, "2.99.0") == {}
    assert EXPECTED.keys() & read_wordings(DOCS, "2.6.0+cu124").keys()


def test_untested_version_is_named():
    """A version without the cell is listed as untested, rather than as having another message."""
    cell = nodes.container("", nodes.literal_block("f()", "f()"))
    cell["cell_metadata"] = {"tags": ["whole"], "expect": "E: a"}
    page = nodes.section("", cell)
    messages = [{}, {"f()": "E: a"}, {"f()": "E: a"}]
    insert_versions(cell, [{"torch": f"2.{i}.0", "messages": m} for i, m in enumerate(messages)])
    assert page[1].astext() == "Same message in torch 2.1.0 and 2.2.0; not tried with 2.0.0."
