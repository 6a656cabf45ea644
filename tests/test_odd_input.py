"""Odd input is tried where it can end nothing but itself."""

import functools
import re
import subprocess

from lookup_matmul import odd_input
from lookup_matmul.markdown import PLAIN


def few(monkeypatch, *names):
    """Leave only these forms."""
    monkeypatch.setattr(odd_input, "FORMS", {name: odd_input.FORMS[name] for name in names})


def test_odd_input_is_tried_in_processes_of_its_own(monkeypatch):
    """What each form did, in words that a recording may hold."""
    few(monkeypatch, "lookup", "one-hot built and multiplied", "sparse product")
    tried = odd_input.odd_input("cpu")
    nan, outside = tried["nan_in_another_row"], tried["id_out_of_range"]
    assert list(nan.values()) == [
        "0 of 3 rows are NaN",
        "3 of 3 rows are NaN",
        "0 of 3 rows are NaN",
    ]
    assert outside["lookup"].startswith("IndexError: ")
    assert re.fullmatch(PLAIN, outside["one-hot built and multiplied"])


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
        monkeypatch.setattr(odd_input.subprocess, "run", run)
        monkeypatch.setattr(odd_input, "CHILD_S", limit_s)
        assert [forms["lookup"] for forms in odd_input.odd_input("cpu").values()] == said


def in_its_place(code, command, *, run=subprocess.run, **options):
    """Run other code than asked for."""
    return run([*command[:-1], code], **options)
