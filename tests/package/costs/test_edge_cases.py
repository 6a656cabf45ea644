"""Edge cases are tried where they can end nothing but themselves."""

import subprocess

import pytest
import torch

from lookup_matmul.costs import edge_cases


@pytest.mark.parametrize(
    ("form", "nan", "outside"),
    [
        ("lookup", "0 of 3 rows are NaN", "IndexError: index out of range in self"),
        ("one-hot built and multiplied", "3 of 3 rows are NaN", "RuntimeError: index 9 is out of"),
        ("sparse product", "0 of 3 rows are NaN", "RuntimeError: `0 <= col_indices < ncols` is"),
    ],
)
def test_each_form_says_what_it_did(capsys, form, nan, outside):
    """A line for each edge case, whatever torch says."""
    edge_cases.say(form, "cpu")
    first, second = capsys.readouterr().out.splitlines()
    assert first == nan
    assert second.startswith(outside)


@pytest.mark.parametrize(
    ("row", "said"), [(0.0, "a row of zeros"), (2.0, "a row of other numbers")]
)
def test_what_is_given_for_an_id_too_large_is_told(capsys, monkeypatch, row, said):
    """As a form that compares ids gives zeros, and one that does not look gives what lies there."""
    monkeypatch.setattr(torch, "compile", lambda _: lambda *_: torch.full((3, 5), row))
    edge_cases.say("compiled one-hot", "cpu")
    assert capsys.readouterr().out.splitlines() == ["0 of 3 rows are NaN", said]


def test_edge_cases_are_tried_in_processes_of_their_own(monkeypatch):
    """By the name that the process is to import."""
    monkeypatch.setattr(edge_cases, "FORMS", ("lookup",))
    tried = edge_cases.edge_cases("cpu")
    assert tried["nan_in_another_row"] == {"lookup": "0 of 3 rows are NaN"}
    assert tried["id_out_of_range"]["lookup"].startswith("IndexError: ")


def hangs(command, *, timeout, **_):
    """Answer as a process that was ended after its first line."""
    raise subprocess.TimeoutExpired(command, timeout, output=b"3 of 3\n")


def crashes(command, **_):
    """Answer as a process that ended at once."""
    return subprocess.CompletedProcess(command, 7, b"")


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (hangs, ["3 of 3", "no answer within 120 s"]),
        (crashes, 2 * ["the process ended with code 7"]),
    ],
)
def test_a_process_that_hangs_or_crashes_costs_no_recording(monkeypatch, run, said):
    """It is ended, and what it said before is kept."""
    monkeypatch.setattr(edge_cases, "FORMS", ("lookup",))
    monkeypatch.setattr(edge_cases.subprocess, "run", run)
    assert [forms["lookup"] for forms in edge_cases.edge_cases("cpu").values()] == said
