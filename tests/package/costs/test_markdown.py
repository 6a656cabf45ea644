"""Times, tables and strangers' text become Markdown that shows them as they are."""

import re

import pytest
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from lookup_matmul.costs.markdown import PLAIN, escaped, in_unit, markdown_table, plain

EXTENSIONS = {"amsmath", "attrs_inline", "colon_fence", "dollarmath"}  # as in docs/conf.py


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1e-12, "0.00100 ns"),
        (9.996e-10, "1.00 ns"),
        (1e-9, "1.00 ns"),
        (9.994e-7, "999 ns"),
        (9.995e-4, "999 µs"),
        (9.996e-7, "1.00 µs"),
        (2.5e-6, "2.50 µs"),
        (205e-6, "205 µs"),
        (0.0123, "12.3 ms"),
        (0.9999, "1.00 s"),
        (9.9996, "10.0 s"),
        (4321, "4320 s"),
    ],
)
def test_a_time_has_three_digits_and_a_unit(seconds, text):
    """Read back, it is the time within half a digit."""
    assert in_unit(seconds) == text
    value, unit = text.split()
    assert float(value) * {"s": 1, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}[unit] == pytest.approx(
        seconds, rel=5e-3
    )


@pytest.mark.parametrize("seconds", [-1e-9, float("nan"), float("inf")])
def test_what_no_clock_gives_is_refused(seconds):
    """A difference of two times is not written as a time."""
    with pytest.raises(ValueError, match=f"seconds is {seconds}, expected a finite time"):
        in_unit(seconds)


def test_columns_of_numbers_are_flush_right():
    """All cells of a column decide, its name does not, and the first is one of names."""
    table = markdown_table(["n", "time", "what"], [["1", "2 µs", "2"], ["10", "–", "x"]])
    assert table.splitlines() == [
        "| n  | time | what |",
        "|:---|-----:|:-----|",
        "| 1  | 2 µs | 2    |",
        "| 10 |    – | x    |",
    ]
    assert markdown_table(["a", "b"], []).splitlines() == ["| a | b |", "|:--|--:|"]


def test_a_row_with_other_cells_than_the_header_is_refused():
    """One of them would be lost."""
    with pytest.raises(ValueError, match="zip"):
        markdown_table(["a", "b"], [["1"], ["2"]])


MARKUP = [
    "<script>alert(1)</script>",
    "![](https://example.org/pixel.png)",
    "[a](https://example.org)",
    "{raw}`<b>x</b>`",
    "```{eval-rst} x",
    "$x$ $$y$$",
    "*a* _b_ **c** ~~d~~",
    "a | b",
    r"\\ \* \begin{equation}",
    "&lt; &copy;",
    "# a",
    "- a",
    "+ a",
    "1. a",
    "23) a",
    "::: {note}",
    "% a comment",
    "(target)=",
    "+++",
    "> a",
    "---",
    "    code",
    "[^1]",
    "<https://example.org>",
    "a\n\n# b",
    "",
]


@pytest.mark.parametrize("text", MARKUP)
def test_escaped_text_is_shown_as_it_is(text):
    """MyST's own parser finds nothing but text in it: alone, in a list, and in a table's cell."""
    shown = escaped(text)
    plain = " ".join(text.split())
    parser = create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)
    for source in (shown, f"- `name`: {shown}, recorded", f"| a |\n|:--|\n| {shown} |"):
        inline = [token for token in parser.parse(source) if token.type == "inline"]
        leaves = [leaf for token in inline for leaf in token.children]
        kinds = {leaf.type for leaf in leaves} - {"text", "text_special", "code_inline"}
        assert not kinds
        if plain:
            assert plain in "".join(leaf.content for leaf in leaves)
    assert [token.type for token in parser.parse(shown)][:1] == (
        ["paragraph_open"] if plain else []
    )


def test_words_of_an_error_become_plain():
    """Whatever torch says can be recorded: its first line, with other marks for markup."""
    for said, kept in (
        ("`0 <= col_indices < ncols` is not satisfied.\nmore", "'0 ‹= col_indices ‹ ncols' is not satisfied."),
        ("", "no word"),
        ("{a|b}\x07\ud800", "(a/b)??"),
        ("x" * 999, "x" * 200),
    ):  # fmt: skip
        assert plain(said) == kept
        assert re.fullmatch(PLAIN, kept)
