"""What a page's cells give is recorded, and what differs between versions is told by cell."""

import json

import pytest
import yaml
from drift import compare, record
from served import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "drift.yml"
VERSIONS = {"torch": "2.13.0"}


def compared(folder, before, after, *, raises=False):
    """Compare two recordings of one cell."""
    for name, outputs in (("before", before), ("after", after)):
        cell = {"line": 7, "code": "f()", "outputs": outputs, "raises": raises}
        found = {"versions": VERSIONS, "pages": {"a/page": [cell]}}
        (folder / f"{name}.json").write_text(json.dumps(found), "utf-8")
    return compare(folder / "before.json", folder / "after.json")


@pytest.mark.parametrize(
    ("before", "after", "raises", "row"),
    [
        (["1\n2"], ["1\n3"], False, "| a/page | 7 | output | `2` | `3` |"),
        (["1"], [], False, "| a/page | 7 | output | `1` | `` |"),
        (["a | b"], ["c"], False, "| a/page | 7 | output | `a \\| b` | `c` |"),
        (
            ["error: IndexError: x"],
            ["error: IndexError: y"],
            True,
            "| a/page | 7 | error text | `error: IndexError: x` | `error: IndexError: y` |",
        ),
        ([], ["error: AssertionError: "], False, "| a/page | 7 | check or code | `` |"),
    ],
)
def test_a_change_is_a_row_of_the_table(tmp_path, before, after, raises, row):
    """Page, line, what changed, and the first line that differs, before and after."""
    table = compared(tmp_path, before, after, raises=raises)
    assert "1 of 1 cells differ between torch 2.13.0 and torch 2.13.0." in table
    assert row in table


@pytest.mark.parametrize(
    ("before", "after"),
    [("it took 12.5 µs", "it took 3 ms"), ("<f at 0x7f01>", "<f at 0x7f02>"), ("same", "same")],
)
def test_times_and_addresses_are_no_change(tmp_path, before, after):
    """They differ in every run."""
    assert "0 of 1 cells differ" in compared(tmp_path, [before], [after])


def test_a_recording_holds_text_and_figures(tmp_path, monkeypatch):
    """What cells print and what they draw; ``nox -s drift`` compares those of all pages."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # with it, kernels leave standard error alone
    record(tmp_path / "one.json", ["appendix/another-seed"])
    cells = json.loads((tmp_path / "one.json").read_text("utf-8"))["pages"]["appendix/another-seed"]
    outputs = [text for cell in cells for text in cell["outputs"]]
    assert any("<svg" in text for text in outputs)
    assert any("tensor(" in text for text in outputs)


def test_what_is_unpinned_runs_without_a_token_that_writes():
    """Only the job that reads the report may write an issue."""
    jobs = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    assert jobs["look"]["permissions"] == {"contents": "read"}
    assert jobs["say"]["permissions"] == {"issues": "write"}
    assert not any("checkout" in step.get("uses", "") for step in jobs["say"]["steps"])
