"""Measured times and strangers' text become tables and lines that show them as they are."""

import re

import pytest
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from test_recording import SOUND

from lookup_matmul.timings import (
    Case,
    Spread,
    describe,
    escaped,
    in_unit,
    markdown_table,
    ratio_table,
    schema,
    select,
)

EXTENSIONS = {"amsmath", "attrs_inline", "colon_fence", "dollarmath"}  # as in docs/conf.py


def case(**members):
    """Give a measured case, with other members than the usual ones where named."""
    return Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")._asdict() | members


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1e-12, "0.00100 ns"),
        (9.996e-10, "1.00 ns"),
        (1e-9, "1.00 ns"),
        (9.994e-7, "999 ns"),
        (9.996e-7, "1000 ns"),
        (2.5e-6, "2.50 µs"),
        (205e-6, "205 µs"),
        (0.0123, "12.3 ms"),
        (0.9999, "1000 ms"),
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


def test_a_ratio_is_told_beside_both_times():
    """The unit stands once where both quartiles share it."""
    times = {"a": Spread(2e-6, 999e-9, 2.1e-6, 9, 1), "b": Spread(1e-6, 1e-6, 1.5e-6, 9, 1)}
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in ratio_table(times, "a").splitlines()
    ]
    assert rows[2] == ["a", "2.00 µs", "999 ns to 2.10 µs", "1.00"]
    assert rows[3] == ["b", "1.00 µs", "1.00 to 1.50 µs", "0.50"]


def test_what_was_skipped_is_not_selected():
    """It has no time; the others come by vocabulary size, then by number of ids."""
    cases = [case(skipped={}), case(ids=9), case(vocab_size=3, ids=20), case(ids=8), case(form="x")]
    assert select(cases, form="lookup") == [cases[2], cases[3], cases[1]]
    assert select(cases, form="lookup", ids=9) == [cases[1]]


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


def test_what_describes_a_recording_is_escaped():
    """A file that came by another way than reading shows its markup, and does not use it."""
    names = ("device", "driver", "cuda", "torch")
    said = describe(
        SOUND | {"provenance": SOUND["provenance"] | dict.fromkeys(names, "![](x) <b>")}
    )
    assert said.count(r"\!\[\](x) \<b\>") == 4
    assert "<b>" not in said.replace(r"\<b\>", "")


def test_words_of_an_error_become_plain():
    """Whatever torch says can be recorded: its first line, with other marks for markup."""
    for said, kept in (
        ("`0 <= col_indices < ncols` is not satisfied.\nmore", "'0 ‹= col_indices ‹ ncols' is not satisfied."),
        ("", "no word"),
        ("{a|b}\x07\ud800", "(a/b)??"),
        ("x" * 999, "x" * 200),
    ):  # fmt: skip
        assert schema.plain(said) == kept
        assert re.fullmatch(schema.PLAIN, kept)


def test_a_recording_says_what_it_lacks():
    """A changed source, few rounds, cases that are still missing; a CPU has no driver to tell."""
    origin = {
        "device": "A device",
        "driver": None,
        "cuda": None,
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
