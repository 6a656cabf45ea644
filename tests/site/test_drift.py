"""The outputs of a page's cells are recorded, and a table shows those that differ."""

import json

import pytest
import yaml
from drift import compare, record
from served import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "drift.yml"


def compare_cell(before, after, *, raises=False):
    """Compare two recordings of one cell."""
    cell = {"line": 7, "code": "f()", "raises": raises}
    return compare(
        *(
            {"versions": {"torch": "2.13.0"}, "pages": {"a/page": [cell | {"outputs": outputs}]}}
            for outputs in (before, after)
        )
    )


@pytest.mark.parametrize(
    ("before", "after", "raises", "row"),
    [
        (["1\n2"], ["1\n3"], False, "| a/page | 7 | output | `2` | `3` |"),
        (["1"], [], False, "| a/page | 7 | output | `1` | `` |"),
        (["a | b"], ["c"], False, "| a/page | 7 | output | `a \\| b` | `c` |"),
        (
            ["error: E: x"],
            ["error: E: y"],
            True,
            "| 7 | error text | `error: E: x` | `error: E: y` |",
        ),
        ([], ["error: AssertionError: "], False, "| a/page | 7 | check or code | `` |"),
    ],
)
def test_a_difference_is_a_row_of_the_table(before, after, raises, row):
    """A row has page, line, kind, and the first lines that differ."""
    table = compare_cell(before, after, raises=raises)
    assert "1 of 1 cells differ between torch 2.13.0 and torch 2.13.0." in table
    assert row in table


@pytest.mark.parametrize(
    ("before", "after"),
    [("it took 12.5 µs", "it took 3 ms"), ("<f at 0x7f01>", "<f at 0x7f02>"), ("same", "same")],
)
def test_times_and_addresses_are_no_difference(before, after):
    """They vary between runs."""
    assert "0 of 1 cells differ" in compare_cell([before], [after])


def test_a_recording_holds_text_and_figures(tmp_path, monkeypatch):
    """``nox -s drift`` records all pages."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # with it, kernels do not capture standard error
    record(tmp_path / "recording.json", ["appendix/another-seed"])
    recording = json.loads((tmp_path / "recording.json").read_text("utf-8"))
    cells = recording["pages"]["appendix/another-seed"]
    outputs = [text for cell in cells for text in cell["outputs"]]
    assert any("<svg" in text for text in outputs)
    assert any("tensor(" in text for text in outputs)


def test_unpinned_packages_run_without_write_permission():
    """Only the job that reads the report may open an issue, and it runs no code of the project."""
    jobs = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    assert jobs["look"]["permissions"] == {"contents": "read"}
    assert jobs["say"]["permissions"] == {"issues": "write"}
    assert not any("checkout" in step.get("uses", "") for step in jobs["say"]["steps"])
