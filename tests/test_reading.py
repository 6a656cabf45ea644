"""Pages get tables in which every case has its own cell, and comparisons of like with like."""

import pytest

from lookup_matmul.timings import Case, compare, describe, pivot_table, select, usual


def case(**members):
    """Give a measured case, with other members than the usual ones where named."""
    return Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")._asdict() | members


def test_a_table_has_a_cell_for_each_case_and_dashes_elsewhere():
    """Columns of numbers in their order, with what they are; rows as they come."""
    cases = [case(ids=2000, dim=8, s="a"), case(ids=1, dim=9, s="b"), case(ids=1, dim=8, s="c")]
    table = pivot_table(cases, ["dim"], "ids", lambda found: found["s"])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert rows[0] == ["d", "ids = 1", "ids = 2,000"]
    assert rows[2:] == [["8", "c", "a"], ["9", "b", "–"]]


def test_two_cases_in_one_cell_are_refused():
    """One of them would be lost."""
    cases = [case(cache="hot"), case(cache="cold")]
    with pytest.raises(ValueError, match="shares its cell with another case"):
        pivot_table(cases, ["ids"], "dim", str)


def test_no_case_is_no_table():
    """And no value is the usual one."""
    assert pivot_table([], ["ids"], "dim", str) == ""
    assert usual([], "dim", "ids") == []


def test_the_usual_value_is_the_most_frequent_then_the_largest():
    """Each member among those cases that the one before left."""
    cases = [case(dim=d, ids=n) for d, n in ((8, 1), (8, 2), (9, 7), (7, 2), (7, 1))]
    assert {(found["dim"], found["ids"]) for found in usual(cases, "dim", "ids")} == {(8, 2)}


@pytest.mark.parametrize("name", [name for name in Case._fields if name != "form"])
def test_forms_are_compared_on_the_same_inputs_only(name):
    """A case that differs in anything but its form is no counterpart."""
    ours, other = case(median_s=6.0), case(form="index_select", median_s=3.0)
    assert [found["ratio"] for found in compare([ours, other], "lookup", "index_select")] == [2.0]
    different = other | {name: "another"}
    assert compare([ours, different], "lookup", "index_select") == []


def test_what_was_skipped_is_not_selected():
    """It has no time."""
    assert select([case(skipped="too large"), case(ids=9)], form="lookup") == [case(ids=9)]


def test_a_recording_says_what_it_lacks():
    """A changed source, few rounds, cases that are still missing."""
    origin = {
        "device": "A device",
        "driver": None,
        "torch": "2.13.0",
        "date": "2026-01-31",
        "commit": "0123456789" * 4 + "-changed",
        "quick": True,
    }
    said = describe({"provenance": origin, "complete": False})
    assert said == (
        "A device, torch 2.13.0, recorded on 2026-01-31 at commit 0123456, changed since; "
        "a trial with few rounds; not complete"
    )
