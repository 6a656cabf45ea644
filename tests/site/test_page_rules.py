"""The rules for pages: each planted fault is found on its line, and sound pages pass."""

import pytest
from _extensions.page_record import read_page
from _extensions.rules.lint import lint_page
from scratch import HEAD, cell

TOP = f"{HEAD}# A lookup picks rows\n\nProse with a source, https://example.org.\n\n"
CHECK, SETUP = ":tags: [check]\n", ":tags: [setup]\n"
FIGURE = cell(
    "figures.draw_lookup(ids, weight)",
    "---\nmystnb:\n  figure:\n    caption: Rows.\n    name: fig-a\n---\n",
)


@pytest.fixture
def lint(tmp_path):
    """Return a function that returns line and message of each finding on a page with a text."""

    def lint_text(text, name="tutorials/page"):
        path = tmp_path / "page.md"
        path.write_text(text, "utf-8")
        return lint_page(read_page(path, name))

    return lint_text


def rules(results):
    """Return the rules of findings."""
    return [message.rpartition("[")[2].rstrip("]") for _, message in results]


BITS = "## Bits\n\nBoth are bitwise equal.\n\n"
PROOF = cell("assert_bitwise_equal(a, b)", CHECK)
REFUTATION = ':tags: [raises-exception]\n:expect: "AssertionError: not"\n'
OLD = cell('assert (torch.__version__ >= "2.13") == works', CHECK)
# The text of a page, the line of its fault, and the rule that finds it or words of its message.
FAULTS = {
    "dropped comparison": (cell("a = 1\na == 1\nprint(a)"), 16, "unasserted"),
    "printed comparison": (cell('print("same", torch.equal(a, b))'), 15, "unasserted"),
    "another assertion": (cell("torch.equal(a, b)\na") + cell("assert c == d"), 15, "unasserted"),
    "long page": (f"{'word ' * 1_500}\n", 1, "long-page"),
    "long cell": (cell("\n".join(f"a{k} = {k}" for k in range(16))), 15, "long-cell"),
    "folded name": (cell("import torch", SETUP) + cell("1\ntorch.ones(3)"), 20, "folded-name"),
    "name of a drawing": (
        cell("from _figures.a import b\nx = b()") + cell("print(x)"),
        19,
        "drawing-alone",
    ),
    "drawing that checks": (
        cell("from _figures.a import b\nassert b() == x", CHECK),
        16,
        "drawing-alone",
    ),
    "seed of a drawing": (
        cell("from _figures.a import b\ntorch.manual_seed(0)") + cell("x = torch.rand(3)"),
        19,
        "unseeded",
    ),
    "no seed": (cell("x = torch.rand(3)"), 15, "unseeded"),
    "docstring": (cell("x = 1\nprint(torch.add.__doc__)"), 16, "varying-text"),
    "help": (cell("from pydoc_data.topics import topics"), 15, "varying-text"),
    "hash": (cell('row = hash("user 7") % 8'), 15, "varying-text"),
    "no caption": (cell("figures.draw_lookup(ids, weight)"), 15, "caption"),
    "skipped cell": (cell("x = 1", ":tags: [skip-execution]\n"), 16, "never-run"),
    "code block": ("```python\nx = 1\n```\n", 14, "never-run"),
    "typed time": ("The lookup took 12 µs here.\n", 14, "typed-time"),
    "typed factor": (cell("x = 3.5") + "It is\n3.5 times faster.\n", 18, "typed-time"),
    "prices as math": ("Guess: [$5; $1; $2]{.choices}\n", 14, "eaten-answer"),
    "no proof": (BITS, 16, "unproved"),
    "proof of a bound": (BITS + cell("assert_within(a, b, 1)", CHECK), 16, "unproved"),
    "plain assertion": (BITS + cell("assert a.equal(b)", CHECK), 16, "unproved"),
    "refutation": (BITS + cell("assert_bitwise_equal(a, b)", REFUTATION), 16, "unproved"),
    "proof of another paragraph": (f"{BITS}Another paragraph.\n\n{PROOF}", 16, "unproved"),
    "proof in another section": (f"{BITS}## Next\n\n{PROOF}", 16, "unproved"),
    "typed version": (f"It raises up to torch 2.12.\n\n## Next\n\n{OLD}", 14, "typed-version"),
}
# A check passes whether or not the sentence above it holds.
WEAK = {
    "any error": (
        "f(x)",
        "try:\n    f(x)\nexcept (TimeoutError, RuntimeError):\n    stops = True\nassert stops",
        2,
    ),
    "identity": ("a", "assert f(a) == f(a)", 0),
    "identity of a call": ("a", "assert_within(f(a), f(a), bound)", 0),
    "another device": ("Bags on MPS add.", "assert f(a) == b", 0),
    "no change": ("It changes between runs.", "assert_within(a, b, bound)", 0),
    "its own tensor": ("a", "x = torch.ones(3)\nassert x is not None", 1),
}
FAULTS |= {
    name: (f"{text}\n\n{cell(code, CHECK)}", 18 + line, "weak-check")
    for name, (text, code, line) in WEAK.items()
}
# Each assertion is true, caught or unreachable, as its syntax tree shows.
CANNOT_FAIL = [
    "try:\n    assert a\nexcept AssertionError:\n    pass",
    "with contextlib.suppress(Exception):\n    assert_bitwise_equal(a, b)",
    "if a == 2:\n    assert False",
    "assert all(a for a in [])",
    "assert round(300 * 128 * 2 / 1000) == 77",
    "assert 1_000 * 10**6 * torch.float32.itemsize == 4e9",
    "assert 8 * np.log(4) <= 11.1",
    "assert_within(0.5, 1 / 2, 0.1)",
    "assert a == b or True",
]
FAULTS |= {
    code: (cell(code, CHECK), 16 + code[: code.index("assert")].count("\n"), "cannot-fail")
    for code in CANNOT_FAIL
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_the_only_finding_on_its_page(name, lint):
    """The finding names the line of the fault and the rule."""
    text, line, words = FAULTS[name]
    ((found_line, message),) = lint(TOP + text)
    assert found_line == line
    assert words in message


def test_a_page_needs_a_description(lint):
    """Search engines show it."""
    bare = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# A\n\nProse.\n"
    assert rules(lint(bare)) == ["description"]


def test_a_page_that_measures_sets_the_number_of_threads(lint):
    """A page that measures nothing need not."""
    head = TOP.replace("mystnb\n", "mystnb\nmeasures: true\n")
    assert rules(lint(head + cell("x = 1"))) == ["threads"]
    assert lint(head + cell("torch.set_num_threads(1)", SETUP)) == lint(TOP + cell("x = 1")) == []


# What few pages of the site have; the build finds a rule that refuses what many have.
SOUND = {
    "names of open cells": cell("def f(x):\n    return x") + cell("x = f(1)", CHECK) + cell("f(2)"),
    "generator": cell("x = torch.rand(3, generator=g)"),
    "link to a proof": "## Bits\n\n[Both have the same bits](equality).\n",
    "version that a cell compares": f"It raises up to torch 2.12.\n\n{OLD}",
    "version of a source": "[It raises in torch 2.12 {cite}`a`.]{.cited}\n",
    "error that is read": cell(
        "try:\n    f()\nexcept (KeyError, TypeError) as error:\n    text = str(error)\nassert text == 'a'",
        CHECK,
    ),
    "device of this build": "Bags on MPS add; this ran on a CPU.\n\n"
    + cell("assert f(a) == b", CHECK),
    "change": "It changes between runs.\n\n" + cell("assert a != b", CHECK),
    "NaN": cell("assert a != a", CHECK),
    "prices": "Guess: [\\$5; \\$1; *two*]{.choices}\n",
    "negated claim": "## Bits\n\nThey are not equal in every bit.\n",
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_page_has_no_findings(name, lint):
    """No rule refuses what good pages do."""
    assert lint(TOP + SOUND[name]) == []


NUMBERS = """The table has 2,000 rows, and 0.39 percent of a number is lost; the bound ends at −0.05.

```{glossary}
float16
  Its numbers end at 65,504.
```

| rows | GB |
|---|---|
| as it is | 517 |

[It took 31 times as long {cite}`source`.]{.cited}
In 2018, torch 2.13 had GPT-2, float16 and section 4.25.

The linked page has 48,000.
See [the page](linked.md).
"""
UNTRACED = {  # a number that is in code, and one that is not
    "fraction": ("−0.05", "−0.15"),
    "percentage": ("0.39 percent", "4 percent"),
    "factor": ("[It took 31 times as long {cite}`source`.]{.cited}", "It took 31 times as long."),
    "number in a glossary": ("65,504", "32,768"),
    "number in a table": ("is | 517", "is | 516"),
    "number of a linked page": ("48,000", "49,000"),
    "description": ("A page.", "A page in 1,000."),
    "caption": ("Rows.", "Rows, 17% of all."),
    "formula": ("$x$", r"$13{,}824 \cdot x$"),
}


@pytest.mark.parametrize("fault", [None, *UNTRACED])
def test_a_number_in_prose_is_in_code_too(fault, lint, tmp_path):
    """Otherwise its sentence cites or links a source."""
    (tmp_path / "linked.md").write_text(TOP + cell("rows = 48_000"), "utf-8")
    code = cell(
        "assert a.shape == (2_000, 517) and 2.0**-8 < 0.0039 and b == -0.05 and c < 6.5504e4"
    )
    top = TOP.replace("myst:", 'tried:\n  "torch 2.13": "recorded, here"\nmyst:')
    page = f"{top}{code}{FIGURE}{NUMBERS}Multiply by $x$.\n"
    before, after = UNTRACED.get(fault, ("", ""))
    assert page.count(before) == 1 or not fault
    line = page[: page.index(before)].count("\n") + 1
    results = lint(page.replace(before, after))
    assert [number for number, _ in results] == ([line] if fault else [])
    assert rules(results) == ["untraced"] * len(results)


@pytest.mark.parametrize(
    ("note", "installed", "words"),
    [
        ("2.13.0, the call", "2.13.0+cpu", []),
        (
            "2.13.0, the call",
            "2.14.0",
            ["tried up to torch 2.13.0, and this is 2.14.0; try 'the call'"],
        ),
        ("recorded, the file", "2.14.0", []),
        ("never", "2.13.0", ["expected a version and what was tried"]),
    ],
)
def test_a_newer_torch_lists_sentences_that_were_not_tried_with_it(
    note, installed, words, lint, monkeypatch
):
    """So ``nox -s newest`` names each sentence whose version nothing else tries."""
    monkeypatch.setattr("_extensions.rules.versions.installed", lambda _name: installed)
    text = TOP.replace("myst:", f'tried:\n  "to torch 2.12": "{note}"\nmyst:')
    results = lint(f"{text}It raises up to torch 2.12.\n")
    assert len(results) == len(words)
    assert all(part in message for part, (_, message) in zip(words, results, strict=True))
    assert rules(lint(text)) == (["typed-version"])  # no sentence has these words


def test_a_page_can_excuse_a_rule_with_a_reason(lint):
    """Other rules still hold, and an excuse that the page does not need is a finding."""
    code = "```python\nx = 1\n```\n\n"
    text = TOP.replace("myst:", 'excused:\n  never-run: "quoted"\nmyst:') + f"{code}It took 3 ms.\n"
    assert rules(lint(text)) == ["typed-time"]
    assert rules(lint(text.replace(code, ""))) == ["excuse", "typed-time"]
