"""Two runs of a page give the same outputs, and what differs between versions is told by cell."""

import json
import os
import subprocess
import sys

import pytest
import yaml
from served import ROOT

TOOL = str(ROOT / "docs" / "_tools" / "drift.py")
WORKFLOW = ROOT / ".github" / "workflows" / "drift.yml"
# Stands in for Python: the sessions print what it is told and end with that code.
PYTHON = """#!/bin/sh
case "$*" in
  *drift*) echo "$DRIFT"; exit "$DRIFT_CODE" ;;
  *linkcheck*) echo "$LINKS"; exit "$LINKS_CODE" ;;
esac
"""
VERSIONS = {"torch": "2.13.0"}


def run(*arguments):
    """Run the tool on the sources."""
    own = {"PYTHONPATH": str(ROOT / "src")}
    call = [sys.executable, TOOL, *map(str, arguments)]
    done = subprocess.run(call, env=os.environ | own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def compared(folder, before, after, *, raises=False):
    """Compare two recordings of one cell."""
    for name, outputs in (("before", before), ("after", after)):
        cell = {"line": 7, "code": "f()", "outputs": outputs, "raises": raises}
        found = {"versions": VERSIONS, "pages": {"a/page": [cell]}}
        (folder / f"{name}.json").write_text(json.dumps(found), "utf-8")
    return run("compare", folder / "before.json", folder / "after.json")


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


def test_two_runs_of_a_page_give_the_same_text_and_figures(tmp_path):
    """Byte for byte; ``nox -s drift`` does it for all pages."""
    for name in ("one", "two"):
        run("record", tmp_path / f"{name}.json", "tutorials/another-seed")
    one = json.loads((tmp_path / "one.json").read_text("utf-8"))["pages"]
    assert one == json.loads((tmp_path / "two.json").read_text("utf-8"))["pages"]
    outputs = [text for cell in one["tutorials/another-seed"] for text in cell["outputs"]]
    assert any("<svg" in text for text in outputs)
    assert any("tensor(" in text for text in outputs)


@pytest.mark.parametrize(
    ("drift", "links", "code", "reported"),
    [
        ((0, "2 of 9 cells differ"), (0, "all well"), 0, {"drift.md"}),
        ((0, "2 of 9 cells differ"), (1, "x: broken"), 0, {"drift.md", "links.md"}),
        ((1, "2 of 9 cells differ"), (0, "all well"), 1, set()),
        ((0, "nothing was compared"), (0, "all well"), 1, set()),
        ((0, "2 of 9 cells differ"), (1, "a traceback"), 1, {"drift.md"}),
    ],
)
def test_the_workflow_fails_when_a_tool_does(tmp_path, drift, links, code, reported):
    """Broken links and changed cells are reported, and a crash of a tool is no report."""
    look = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]["look"]
    (step,) = [step for step in look["steps"] if "run" in step]
    assert step["shell"] == "bash"  # with which a failing part of a pipe fails it
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    own = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    own |= {"DRIFT": drift[1], "DRIFT_CODE": str(drift[0])}
    own |= {"LINKS": links[1], "LINKS_CODE": str(links[0])}
    call = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(call, cwd=tmp_path, env=os.environ | own, capture_output=True)
    assert bool(done.returncode) == bool(code), done.stderr
    assert {p.name for p in tmp_path.glob("found/*") if p.read_text()} == reported


def test_what_is_unpinned_runs_without_a_token_that_writes():
    """Only the job that reads the report may write an issue."""
    jobs = yaml.safe_load(WORKFLOW.read_text("utf-8"))["jobs"]
    assert jobs["look"]["permissions"] == {"contents": "read"}
    assert jobs["say"]["permissions"] == {"issues": "write"}
    assert not any("checkout" in step.get("uses", "") for step in jobs["say"]["steps"])
