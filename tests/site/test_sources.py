"""Cited issues and pull requests are kept with the day on which they were read."""

import json
import re
from urllib.error import URLError

from _tools.sources import DOCS, LIST, compare, find_threads


def test_each_cited_thread_has_the_day_on_which_it_was_read():
    """A new source is entered, and a deleted one removed."""
    threads = find_threads((DOCS / "references.bib").read_text("utf-8"))
    kept = json.loads(LIST.read_text("utf-8"))
    assert len(threads) > 100
    assert {*kept} == {*threads}
    for entry in kept.values():
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", entry["read"])
        assert re.fullmatch(r"open|unknown|closed 20\d\d-\d\d-\d\d", entry["state"])


def test_each_cited_file_names_a_commit_or_a_version():
    """The default branch of a repository changes below the sentence that cites it."""
    bibliography = (DOCS / "references.bib").read_text("utf-8")
    revisions = re.findall(r"github\.com/[\w.-]+/[\w.-]+/(?:blob|tree)/([^/}]+)", bibliography)
    assert len(revisions) > 15
    assert not [name for name in revisions if not re.fullmatch(r"[0-9a-f]{40}|v?\d[\w.]*", name)]


def test_a_thread_that_was_closed_after_it_was_read_is_listed():
    """One that was closed before, is open, or gets no answer is kept as it was."""
    kept = {key: {"read": "2026-11-28", "state": "open"} for key in "abcd"}
    answers = {"o/r#1": "closed 2026-12-01", "o/r#2": "open", "o/r#3": "closed 2026-01-01"}

    def answer(thread):
        if thread not in answers:
            raise URLError("no network")
        return answers[thread]

    threads = {key: f"o/r#{number}" for number, key in enumerate("abcd", 1)}
    present, lines = compare(threads, kept, answer)
    assert [line.partition(", ")[0] for line in lines] == ["closed since: a", "not answered: d"]
    assert [present[key]["state"] for key in "abcd"] == [*answers.values(), "open"]
    assert compare({"a": "o/r#1"}, present, answer)[1] == []  # it was listed once
