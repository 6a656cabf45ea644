"""Pages get tables in which every case has its own cell, and comparisons of like with like."""

import re

import pytest
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from test_recording import SOUND

from lookup_matmul.timings import (
    Case,
    compare,
    describe,
    escaped,
    pivot_table,
    read_recordings,
    select,
    text,
    usual,
    write_recording,
)

EXTENSIONS = {"amsmath", "attrs_inline", "colon_fence", "dollarmath"}  # as in docs/conf.py


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


@pytest.mark.parametrize(
    "name", ["a b", "a`b", "a\nb", "<b>", "é", ".hidden", "-o", "a" * 81, "![](x)", "a|b"]
)
def test_a_file_needs_a_plain_name(tmp_path, name):
    """Pages show it; so a name is refused before the file is read."""
    (tmp_path / f"{name}.json").write_text("not read")
    with pytest.raises(ValueError, match=r"the name of the file is .*; rename the file\.$") as said:
        read_recordings(tmp_path)
    assert "\n" not in str(said.value)
    assert str(said.value).isascii()


def test_plain_names_are_taken(tmp_path):
    """Those that the command gives, and what people may call a machine."""
    names = ["nvidia-h200", "amd-epyc-2-threads", "My_GPU.2", "a" * 80]
    for name in names:
        write_recording(tmp_path / f"{name}.json", SOUND)
    assert sorted(read_recordings(tmp_path)) == sorted(names)


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
    origin = SOUND["provenance"] | dict.fromkeys(("device", "cuda", "torch"), "![](x) <b>")
    said = describe(SOUND | {"provenance": origin})
    assert said.count(r"\!\[\](x) \<b\>") == 3
    assert "<b>" not in said.replace(r"\<b\>", "")


def test_words_of_an_error_become_plain():
    """Whatever torch says can be recorded: its first line, with other marks for markup."""
    for said, kept in (
        ("`0 <= col_indices < ncols` is not satisfied.\nmore", "'0 ‹= col_indices ‹ ncols' is not satisfied."),
        ("", ""),
        ("{a|b}\x07\ud800", "(a/b)??"),
        ("x" * 999, "x" * 200),
    ):  # fmt: skip
        assert text.plain(said) == kept
        assert not kept or re.fullmatch(text.PLAIN, kept)


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
