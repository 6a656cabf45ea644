"""What a cell checks is read from its code, and a cell that could hide a failure is refused."""

import pytest
from _extensions.claims.cells import could_fail_unseen, in_words, kinds_of
from _extensions.run.kernel import merge_streams
from nbformat import v4


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("assert 1 == 1", ["holds"]),
        ("lookup_matmul.assert_bitwise_equal(a, b)", ["equal in every bit"]),
        ("assert_within(a, b, 1e-3)", ["equal within a bound"]),
        ("assert_within(a, b, 0.0)", ["equal in value"]),
        ("torch.testing.assert_close(a, b)", ["equal within a bound"]),
        ("assert_of_our_own(a)", ["holds"]),
        (
            "for a in b:\n    assert a\n    assert_within(a, b, 1)",
            ["holds", "equal within a bound"],
        ),
        ("torch.equal(a, b)\nprint(a == b)\n(assert_within, a)", []),
        ("%timeit f()\nassert True", ["holds"]),
    ],
)
def test_kinds_are_read_from_the_code(source, kinds):
    """Assertions count, in loops too; comparisons whose result is dropped do not."""
    assert kinds_of(source) == kinds


def test_a_kind_is_named_once():
    """The line under a sentence says what is checked, not how often."""
    assert in_words(["holds", "equal in every bit", "holds"]) == "holds, equal in every bit"


@pytest.mark.parametrize(
    ("source", "expected", "unseen"),
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
def test_an_assertion_cannot_hide_in_a_cell_that_raises(source, expected, unseen):
    """Only the expected failure itself may be one, and it comes last."""
    assert could_fail_unseen(source, expected) is unseen


def test_what_a_cell_printed_is_joined_whatever_its_length():
    """Pieces stand where the first began, a bar of progress at its end; a long line costs nothing.

    Joining in a time that grows with the square of a line's length would not end here.
    """
    pieces = [("stdout", "a\rb"), ("stderr", "w\n"), ("stdout", "c\n" + "x" * 5_000_000)]
    outputs = [v4.new_output("stream", name=name, text=text) for name, text in pieces]
    joined = merge_streams([*outputs, v4.new_output("display_data")])
    told = [(output.output_type, output.get("name")) for output in joined]
    assert told == [("stream", "stdout"), ("stream", "stderr"), ("display_data", None)]
    assert joined[0].text == "bc\n" + "x" * 5_000_000 + "\n"
