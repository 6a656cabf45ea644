"""The symptom pages: each entry is whole, and each text is what torch says, here and in other versions."""

import json
import re

import pytest
import torch
from _extensions.symptoms.versions import recordings, release, same_words, spans, words_of
from docutils import nodes
from oldest import LOWEST
from served import DOCS, ROOT
from wordings import is_reproduction, read_cells

SOURCES = sorted((DOCS / "symptoms").glob("*.md"))
# What the lowest torch says in other words, or as another type, which the page shows beside them.
OTHERWISE = {
    "F.cross_entropy(ids, torch.zeros(3, 4))",
    "(used_before.sum() + layer(ids).sum()).backward()",
    "torch.optim.AdamW(layer.parameters()).step()",
}
ENTRIES = {
    f"{path.stem}: {part.splitlines()[0]}": part
    for path in SOURCES
    for part in re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)[1:]
}
# The code that shows each error, and the error; those that need a GPU were recorded and expect none.
EXPECTED = {
    code: json.loads(found[1]) if (found := re.search(r'^:expect: (".*")$', options, re.M)) else ""
    for path in SOURCES
    for options, code in read_cells(path)
    if is_reproduction(options)
}


def test_the_list_has_all_entries_and_errors_as_they_are_printed(pages):
    """Each is linked once, with a cause that is a sentence; the browser's own search finds each text."""
    listed = pages["symptoms"].select("ul.symptoms > li")
    assert len(listed) == len(ENTRIES)
    for item in listed:
        assert item.select_one("a")["href"].endswith(f"#{item['id']}")
        assert item.select("p")[1].get_text().endswith("."), item.get_text()
    old = {"index-out-of-range-in-self", "cuda-error-device-side-assert-triggered"}
    assert old <= {item["id"] for item in listed}, "an address that others may have kept"
    below = [
        said.parent.get_text()
        for item in listed
        for said in item.select("p:not(:first-child) > .says")
    ]
    assert all(text.startswith(("In full: ", "Also: ")) for text in below)
    printed = [said.get_text() for item in listed for said in item.select(".says")]
    errors = [" ".join(error.split()) for error in EXPECTED.values() if error]
    assert len(errors) > 50
    assert [e for e in errors if not any(same_words(said, e) for said in printed)] == []


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_whole(name):
    """It shows the fault in at most six lines, numbers the causes, fixes it in a cell, and says why."""
    text = ENTRIES[name]
    assert re.search(r"^1\. ", text, re.MULTILINE), "no numbered causes"
    _, fix = text.split("\nFix", 1)
    assert "```{code-cell}" in fix, "the fix is not run"
    assert re.search(r"^(.* )?Why: \[", text, re.MULTILINE), "no link to the reason"
    fault = re.findall(r"^```\{code-cell\}.*\n((?:.*\n)*?)^```$", text, re.MULTILINE)
    if not name.startswith("inputs: `CUDA"):
        lines = [line for line in fault[0].splitlines() if line and not line.startswith(":")]
        assert len(lines) <= 6, "the reproduction is long"


def test_every_reproduction_was_recorded_with_this_torch():
    """And says today what was recorded, numbers and addresses aside."""
    here = [r for r in recordings(DOCS) if release(r["torch"]) == release(torch.__version__)]
    if not here:
        pytest.skip(f"no recording of torch {torch.__version__}")
    for code, expected in EXPECTED.items():
        assert code in here[0]["said"], f"run nox -s wordings; not recorded:\n{code}"
        if expected:
            known = LOWEST and code.splitlines()[-1] in OTHERWISE
            assert same_words(here[0]["said"][code], expected) is not known, code


def test_the_lowest_and_the_pinned_torch_were_tried():
    """The files say with what and when, and no repair failed."""
    found = recordings(DOCS)
    tried = {r["torch"].partition("+")[0] for r in found}
    lowest = re.search(r'"torch>=([\d.]+)"', (ROOT / "pyproject.toml").read_text("utf-8"))[1]
    pinned = re.search(r"^torch==([\d.]+)", (ROOT / "constraints.txt").read_text("utf-8"), re.M)[1]
    assert {f"{lowest}.0", pinned} <= tried
    for recording in found:
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", recording["made"])
        assert recording["python"]
        assert recording["failed"] == {}
        assert not re.search(r"(^|[\s(])/\w", json.dumps([*recording["said"].values()]))


def test_words_that_changed_are_shown_with_their_versions(pages):
    """Under the error, and in the list, where the box finds a text of another version."""
    old = "AdamW does not support sparse gradients"
    tables = pages["symptoms/training"].select("table.wordings")
    (table,) = [table for table in tables if old in table.get_text()]
    rows = [[cell.get_text() for cell in row.select("td")] for row in table.select("tbody tr")]
    assert rows[0][1] == f"RuntimeError: {old}"
    assert rows[-1][1] == "as above"
    assert old in pages["symptoms"].get_text()
    assert (
        pages["symptoms/inputs"].select_one("p.wordings").get_text().startswith("Same message in")
    )


@pytest.mark.parametrize(
    ("found", "expected", "same"),
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
def test_messages_are_compared_whole(found, expected, same):
    """Numbers and addresses aside; only a written ellipsis leaves something out."""
    assert same_words(found, expected) is same


def test_versions_with_the_same_words_are_named_together():
    """Only those that were tried, not those between; one without the cell says nothing."""
    said = ["E: old", "E: new 1", "E: new 2", None, "no error"]
    recorded = [
        {"torch": f"2.{i}.0+cpu", "said": {"f()": words} if words else {}}
        for i, words in enumerate(said)
    ]
    assert spans("f()", "E: new 7", recorded) == [
        ("2.0.0", "E: old"),
        ("2.1.0, 2.2.0", "E: new 7"),
        ("2.4.0", "no error"),
    ]


def test_a_version_that_was_not_tried_is_named():
    """Else its absence would say that it uses other words."""
    cell = nodes.container("", nodes.literal_block("f()", "f()"))
    cell["cell_metadata"] = {"tags": ["whole"], "expect": "E: a"}
    page = nodes.section("", cell)
    words_of(cell, [{"torch": f"2.{i}.0", "said": {"f()": "E: a"} if i else {}} for i in range(3)])
    assert page[1].astext() == "Same message in torch 2.1.0 and 2.2.0; not tried with 2.0.0."
