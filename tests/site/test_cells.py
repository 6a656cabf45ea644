"""The checks of a cell are read from its code, and a cell that could hide a failure is refused."""

import pytest
from _extensions.claims.checks import (
    HOLDS,
    check_cell,
    could_fail_unseen,
    find_kinds,
    find_recorded,
    join_kinds,
)
from nbformat import v4


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("assert 1 == 1", [HOLDS]),
        ("lookup_matmul.assert_bitwise_equal(a, b)", ["equal in every bit"]),
        ("assert_within(a, b, 1e-3)", ["equal within a bound"]),
        ("assert_within(a, b, 0.0)", ["equal in value"]),
        ("torch.testing.assert_close(a, b)", ["equal within a bound"]),
        ("assert_of_our_own(a)", [HOLDS]),
        ("for a in b:\n    assert a\n    assert_close(a, b)", [HOLDS, "equal within a bound"]),
        ("torch.equal(a, b)\nprint(a == b)\n(assert_within, a)", []),
        ("%timeit f()\nassert True", [HOLDS]),
        ("if x:\n    a\n  b", []),  # executing the cell reports its SyntaxError
    ],
)
def test_the_kinds_of_checks_are_read_from_the_code(source, kinds):
    """Assertions in loops count; comparisons whose result is dropped do not."""
    assert find_kinds(source) == kinds
    assert join_kinds([*kinds, *kinds]) == ", ".join(kinds)


@pytest.mark.parametrize(
    ("source", "expected", "could_fail"),
    [
        ("f(x)", "IndexError: a", False),
        ("assert x\nf(x)", "IndexError: a", True),
        ("assert x", "AssertionError: a", True),
        ("assert_within(a, b, 1)", "AssertionError: a", False),
        ("assert_within(a, b, 1)", "IndexError: a", True),
        ("assert_within(a, b, 1)\nassert_within(c, d, 1)", "AssertionError: a", True),
        ("assert_within(a, b, 1)\nf(x)", "AssertionError: a", True),
    ],
)
def test_an_assertion_cannot_hide_in_a_cell_that_raises(source, expected, could_fail):
    """Only a last assertion may be the expected failure itself."""
    assert could_fail_unseen(source, expected) is could_fail


def test_a_check_that_reads_a_recording_is_told_from_one_that_runs():
    """A name that is bound again is no longer recorded."""
    cells = [
        'times = read_recorded("a")["times"]\nassert torch.ones(1) == 1',
        "for name, time in times.items():\n    least = time\nassert least > 1",
        "assert all(one > 1 for one in times)",
        "assert all(time > 1 for time in measured)",
        "times = measure()\nassert times",
    ]
    assert find_recorded(cells) == [False, True, True, False, False]


@pytest.mark.parametrize("tag", ["recorded", "skip-execution"])
def test_a_check_that_is_never_executed_is_refused(tag):
    """Its assertion would get a tick without having run."""
    metadata = {"tags": ["check", "raises-exception", tag], "expect": "IndexError: a"}
    cell = v4.new_code_cell("assert 1 == 2", metadata=metadata, outputs=[])
    _, fault = check_cell(cell, {})
    assert fault == "this cell is tagged check and is never executed; drop one of the tags"


@pytest.mark.parametrize(
    ("tag", "message", "is_accepted"),
    [
        ("whole", "f: a 2x3", True),
        ("whole", "a 2x3", False),
        ("whole", None, False),
        ("check", "a 2x3", True),  # a beginning is not recorded
    ],
)
def test_another_torch_raises_what_was_recorded_with_it(tag, message, is_accepted):
    """The page states the message of the pinned torch, and of others the recording."""
    metadata = {"tags": ["raises-exception", tag], "expect": "IndexError: a"}
    cell = v4.new_code_cell("f(x)", metadata=metadata, outputs=_raised(message))
    kinds, fault = check_cell(cell, {"f(x)": "IndexError: f: a 4x5", "g(x)": "IndexError: a 2x3"})
    assert (fault is None) is is_accepted
    assert kinds == ["raises IndexError"]


@pytest.mark.parametrize(("message", "is_accepted"), [(None, True), ("a", False)])
def test_a_cell_may_raise_nothing_if_that_was_recorded(message, is_accepted):
    """A newer torch may accept what the pinned one refuses."""
    metadata = {"tags": ["raises-exception", "whole"], "expect": "IndexError: a"}
    cell = v4.new_code_cell("f(x)", metadata=metadata, outputs=_raised(message))
    kinds, fault = check_cell(cell, {"f(x)": "no error"})
    assert (fault is None) is is_accepted
    assert kinds == ["raises no error"]


def _raised(message):
    return [v4.new_output("error", ename="IndexError", evalue=message)] if message else []


@pytest.mark.parametrize(
    ("expected", "is_accepted"),
    [
        ("IndexError: …a 2x", True),
        ("IndexError: f: a 2x3", True),
        ("IndexError: …a 4x", False),
        ("IndexError: a 2x3", False),
        ("IndexErr: …a", False),
    ],
)
def test_the_beginning_of_a_message_has_the_same_digits(expected, is_accepted):
    """An ellipsis matches any text there, too."""
    metadata = {"tags": ["raises-exception"], "expect": expected}
    cell = v4.new_code_cell("f(x)", metadata=metadata, outputs=_raised("f: a 2x3 and 4x5"))
    assert (check_cell(cell, {})[1] is None) is is_accepted
