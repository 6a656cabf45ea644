"""The rules for pages: each planted fault is found on its line, and sound pages pass."""

import pytest
from lint_pages import findings
from run.pages import read
from scratch import HEAD, cell

TOP = f"{HEAD}# A lookup picks rows\n\nProse with a source, https://example.org.\n\n"
CHECK, SETUP = ":tags: [check]\n", ":tags: [setup]\n"
FIGURE = cell(
    "figures.draw_lookup(ids, weight)",
    "---\nmystnb:\n  figure:\n    caption: Rows.\n    name: fig-a\n---\n",
)


@pytest.fixture
def lint(tmp_path):
    """Return a function that returns line and rule of each finding on a page with a text."""

    def lint_text(text, name="tutorials/page"):
        path = tmp_path / "page.md"
        path.write_text(text, "utf-8")
        results = findings(read(path, name))
        return [(line, message.rpartition("[")[2].rstrip("]")) for line, message in results]

    return lint_text


BITS = "## Bits\n\nBoth are bitwise equal.\n\n"
FAULTS = {
    "comparison dropped": (cell("a = 1\na == 1\nprint(a)"), 16, "unasserted"),
    "comparison printed with a word": (cell('print("same", torch.equal(a, b))'), 15, "unasserted"),
    "equal discarded, another checked": (
        cell("torch.equal(a, b)\nprint(a)") + cell("assert c == d", CHECK),
        15,
        "unasserted",
    ),
    "long page": (f"{'word ' * 1_500}\n", 1, "long-page"),
    "long cell": (cell("\n".join(f"a{k} = {k}" for k in range(16))), 15, "long-cell"),
    "network": (cell("import urllib.request"), 15, "portable"),
    "file": (cell('open("a.txt", "w")'), 15, "portable"),
    "installation": (cell("%pip install numpy"), 15, "portable"),
    "place on a machine": (cell('path = "/home/me/data.csv"'), 15, "portable"),
    "no seed": (cell("x = torch.rand(3)"), 15, "unseeded"),
    "no caption": (cell("figures.draw_lookup(ids, weight)"), 15, "caption"),
    "cell not run": (cell("x = 1", ":tags: [skip-execution]\n"), 16, "never-run"),
    "block not run": ("```python\nx = 1\n```\n", 14, "never-run"),
    "typed time": ("The lookup took 12 µs here.\n", 14, "typed-time"),
    "typed factor": (cell("x = 3.5") + "It is\n3.5 times faster.\n", 18, "typed-time"),
    "hollow word": ("This is obviously true.\n", 14, "hollow"),
    "no proof": (BITS, 16, "unproved"),
    "proof within a bound": (BITS + cell("assert_within(a, b, 1)", CHECK), 16, "unproved"),
    "proof of another kind": (BITS + cell("assert a.equal(b)", CHECK), 16, "unproved"),
    "proof of the opposite": (
        BITS
        + cell(
            "assert_bitwise_equal(a, b)",
            ':tags: [raises-exception]\n:expect: "AssertionError: not"\n',
        ),
        16,
        "unproved",
    ),
    "point without a link": (
        "## What to remember\n\n- [Rows](rows) are\n  copied.\n- They are\n  added.\n\n## Next\n\n- No.\n",
        18,
        "unlinked",
    ),
    "row without a link": (
        "## What to remember\n\n| a | b |\n|---|---|\n| [c](d) | e |\n| f | g |\n",
        19,
        "unlinked",
    ),
    "proof of another paragraph": (
        BITS + "Another paragraph.\n\n" + cell("assert_bitwise_equal(a, b)", CHECK),
        16,
        "unproved",
    ),
    "proof in another section": (
        BITS + "## Next\n\n" + cell("assert_bitwise_equal(a, b)", CHECK),
        16,
        "unproved",
    ),
}
# Whatever the syntax tree shows to be true, silenced or out of reach counts as no check.
CANNOT_FAIL = [
    "try:\n    assert a\nexcept AssertionError:\n    pass",
    "try:\n    assert_within(a, b, 1)\nexcept (ValueError, Exception) as error:\n    print(error)",
    "try:\n    assert a\nexcept:\n    pass",
    "try:\n    f()\nexcept ValueError as error:\n    assert str(error) == 'no'",
    "with suppress(AssertionError):\n    assert a",
    "with contextlib.suppress(Exception):\n    assert_bitwise_equal(a, b)",
    "def f():\n    assert a\n    f()",
    "class A:\n    def f(self):\n        assert a",
    "f = lambda: assert_bitwise_equal(a, b)",
    "if a == 2:\n    assert False",
    "if a:\n    assert b\nelse:\n    print(b)",
    "while a:\n    assert b",
    "a and assert_bitwise_equal(a, b)",
    "for a in []:\n    assert a",
    "for a in range(0):\n    assert a",
    "assert all(a for a in [])",
    "assert True",
    "assert 2 == 2",
    "assert bool('x')",
    "assert round(300 * 128 * 2 / 1000) == 77",
    "assert 1_000 * 10**6 * torch.float32.itemsize == 4e9",
    "assert max('any text'.encode()) < 256",
    "assert 8 * np.log(4) <= 11.1",
    "assert all(k < 9 for k in range(3))",
    "assert_within(0.5, 1 / 2, 0.1)",
    'assert (a == b, "no")',
    "assert a == b or True",
    "assert a == a",
    "assert (a.b[0] <= a.b[0]).all()",
    "assert torch.equal(a, a)",
    "assert a.equal(a)",
    "assert_bitwise_equal(a, a)",
    "assert_within(a.b, a.b, 1)",
]
FAULTS |= {
    code: (cell(code, CHECK), 16 + code[: code.index("assert")].count("\n"), "cannot-fail")
    for code in CANNOT_FAIL
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_named_by_its_line(name, lint):
    """Line and rule are those of the fault, and nothing else is found."""
    text, line, rule = FAULTS[name]
    assert lint(TOP + text) == [(line, rule)]


def test_a_page_without_description_or_source_is_named(lint):
    """Search engines show the one, readers follow the other."""
    bare = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n# A\n\nProse.\n"
    assert {rule for _, rule in lint(bare)} == {"description", "source"}
    assert {rule for _, rule in lint(bare, name="index")} == {"description"}


def test_a_page_that_measures_says_with_how_many_threads(lint):
    """Else its times are those of a number that only its machine knows."""
    head = TOP.replace("mystnb\n", "mystnb\nmeasures: true\n")
    one = cell("torch.set_num_threads(1)", SETUP)
    assert lint(head + cell("x = 1")) == [(1, "threads")]
    assert lint(head + one) == lint(TOP + cell("x = 1")) == []


SOUND = {
    "comparison shown and asserted": cell("torch.equal(a, b)") + cell("assert a == b", CHECK),
    "a value shown": cell("a == b"),
    "seeded": cell("torch.manual_seed(0)") + cell("x = torch.rand(3)"),
    "generator given": cell("x = torch.rand(3, generator=g)"),
    "initialization of a table": cell("torch.manual_seed(0)\nnn.init.normal_(w)"),
    "a file that goes away": cell(
        'with TemporaryDirectory() as d:\n    (Path(d) / "a").write_text("b")'
    ),
    "long and folded": cell("\n".join(f"a{k} = {k}" for k in range(30)), SETUP),
    "a figure": FIGURE,
    "proved below": BITS + cell("x = 1") + cell("assert_bitwise_equal(a, b)", CHECK),
    "proved where a link leads": "## Bits\n\n[Both have the same bits](equality).\n",
    "not claimed": "## Bits\n\nThey are not equal in every bit.\n",
    "proved anywhere below the opening": "Both have the same bits.\n\n"
    + BITS
    + cell("assert_bitwise_equal(a, b)", CHECK),
    "said again at the end": "## What to remember\n\nBoth are bitwise equal.\n",
    "an exercise": "## Exercise\n\n```python\ntorch.equal(a, b)\n```\n",
    "a shell command": "```sh\nnox -s docs\n```\n",
    "long folds": f"{'word ' * 1_400}\n\n:::{{dropdown}} A\n{'word ' * 1_400}\n:::\n\n| a |\n|---|\n| {'word ' * 200} |\n",
    "a size": "The table has 3 rows and takes 12 MB.\n",
}
# A rule that refuses sound checks would be excused until nobody reads it.
CAN_FAIL = [
    "def f():\n    assert a\n\nf()",
    "for a in b:\n    assert a",
    "try:\n    assert a\nexcept AssertionError as error:\n    raise ValueError from error",
    "try:\n    assert a\nexcept AssertionError:\n    pass\nelse:\n    raise ValueError('holds')",
    "try:\n    assert a\nexcept ValueError:\n    pass",
    "if a:\n    assert b\nelse:\n    assert c",
    "assert a == 77",
    "assert f(a) == f(a)",
    "assert torch.get_num_threads() == 1",
    "with torch.no_grad():\n    assert a",
]
SOUND |= {code: cell(code, CHECK) for code in CAN_FAIL}


@pytest.mark.parametrize("name", SOUND)
def test_what_is_sound_is_left_alone(name, lint):
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

The kept page has 48,000.
See [the page](kept.md).
"""
PLANTED = {
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


@pytest.mark.parametrize("planted", [None, *PLANTED])
def test_a_number_in_prose_stands_in_code_too(planted, lint, tmp_path):
    """Or its sentence cites or links a source: what is typed alone may be false unseen."""
    (tmp_path / "kept.md").write_text(TOP + cell("kept = 48_000"), "utf-8")
    code = cell(
        "assert a.shape == (2_000, 517) and 2.0**-8 < 0.0039 and b == -0.05 and c < 6.5504e4"
    )
    page = TOP + code + FIGURE + NUMBERS + "Multiply by $x$.\n"
    before, after = PLANTED.get(planted, ("", ""))
    assert page.count(before) == 1 or not planted
    line = page[: page.index(before)].count("\n") + 1
    assert lint(page.replace(before, after)) == ([(line, "untraced")] if planted else [])


def test_a_page_can_excuse_a_rule_with_a_reason(lint):
    """Only that rule is left out."""
    text = TOP.replace("myst:", 'excused:\n  hollow: "quoted"\nmyst:') + "Of course, 3 ms.\n"
    assert [rule for _, rule in lint(text)] == ["typed-time"]
    unneeded = text.replace("Of course, ", "")
    assert [rule for _, rule in lint(unneeded)] == ["excuse", "typed-time"]
