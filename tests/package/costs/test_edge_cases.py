"""Odd input is tried where it can end nothing but itself."""

import functools
import re
import subprocess

import pytest
import torch

from lookup_matmul.costs import edge_cases
from lookup_matmul.costs.markdown import PLAIN


def few(monkeypatch, *names):
    """Leave only these forms."""
    monkeypatch.setattr(edge_cases, "FORMS", {name: edge_cases.FORMS[name] for name in names})


@pytest.mark.parametrize(
    ("form", "nan", "outside"),
    [
        ("lookup", "0 of 3 rows are NaN", "IndexError: index out of range in self"),
        (
            "one-hot built and multiplied",
            "3 of 3 rows are NaN",
            "RuntimeError: index 9 is out of bounds",
        ),
        (
            "sparse product",
            "0 of 3 rows are NaN",
            "RuntimeError: '0 ‹= col_indices ‹ ncols' is not",
        ),
    ],
)
def test_each_form_says_what_it_did(capsys, form, nan, outside):
    """In words that a recording may hold."""
    edge_cases.say(form, "cpu")
    first, second = capsys.readouterr().out.splitlines()
    assert first == nan
    assert second.startswith(outside)
    assert re.fullmatch(PLAIN, second)


@pytest.mark.parametrize(
    ("row", "said"), [(0.0, "a row of zeros"), (2.0, "a row of other numbers")]
)
def test_what_is_given_for_an_id_too_large_is_told(capsys, monkeypatch, row, said):
    """As a form that compares ids gives zeros, and one that does not look gives what lies there."""
    monkeypatch.setitem(edge_cases.FORMS, "made up", lambda *_: torch.full((3, 5), row))
    edge_cases.say("made up", "cpu")
    assert capsys.readouterr().out.splitlines() == ["0 of 3 rows are NaN", said]


def test_odd_input_is_tried_in_processes_of_its_own(monkeypatch):
    """By the name that the process is to import."""
    few(monkeypatch, "lookup")
    tried = edge_cases.odd_input("cpu")
    assert tried["nan_in_another_row"] == {"lookup": "0 of 3 rows are NaN"}
    assert tried["id_out_of_range"]["lookup"].startswith("IndexError: ")


def test_a_process_that_hangs_or_crashes_costs_no_recording(monkeypatch):
    """It is ended, and what it said before is kept."""
    few(monkeypatch, "lookup")
    hang = "import time; print('3 of 3', flush=True); time.sleep(60)"
    crash = "import os; os._exit(7)"
    for code, limit_s, said in (
        (hang, 1.0, ["3 of 3", "no answer within 1 s"]),
        (crash, 60.0, 2 * ["the process ended with code 7"]),
    ):
        run = functools.partial(in_its_place, code)
        monkeypatch.setattr(edge_cases.subprocess, "run", run)
        monkeypatch.setattr(edge_cases, "CHILD_S", limit_s)
        assert [forms["lookup"] for forms in edge_cases.odd_input("cpu").values()] == said


def in_its_place(code, command, *, run=subprocess.run, **options):
    """Run other code than asked for."""
    return run([*command[:-1], code], **options)
