"""The build itself, on copies: what runs again and what does not, and that a false claim stops it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from scratch import HEAD, PROSE, STAMP, TOCTREE, Copy

SOURCES = ("docs/index.md", "src/lookup_matmul/forms.py", "constraints.txt")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Give a copy whose site has two pages."""
    copy = Copy(tmp_path_factory.mktemp("scratch"))
    copy.clear_pages()
    copy.write("index", f"# Scratch\n\nFirst prose.\n\n{STAMP}{TOCTREE}")
    copy.write("other", "# Other\n\nAnother page.\n", head=PROSE)
    return copy


@pytest.fixture
def scratch(made: Copy) -> Iterator[Copy]:
    """Give the copy built, and put back afterwards what a test has changed."""
    pages = {path: path.read_text("utf-8") for path in (made.root / "docs").glob("*.md")}
    sources = {made.root / name: (made.root / name).read_text("utf-8") for name in SOURCES}
    built = made.build()
    assert built.returncode == 0, built.stderr
    assert "[[0.0, 1.0]]" in made.html()
    yield made
    for path in set((made.root / "docs").glob("*.md")) - set(pages):
        path.unlink()
    for path, text in (pages | sources).items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def test_an_unchanged_site_is_left_as_it_is(scratch: Copy) -> None:
    """Nothing is executed, read or written again."""
    before = scratch.stamp()
    written = (scratch.root / "build" / "html" / "index.html").stat().st_mtime_ns
    built = scratch.build()
    assert built.returncode == 0, built.stderr
    assert scratch.stamp() == before
    assert (scratch.root / "build" / "html" / "index.html").stat().st_mtime_ns == written


def test_new_prose_runs_no_code(scratch: Copy) -> None:
    """The page shows the new words with the old output."""
    before = scratch.stamp()
    scratch.edit("docs/index.md", "First prose.", "Second prose.")
    assert scratch.build().returncode == 0
    assert "Second prose." in scratch.html()
    assert scratch.stamp() == before


def test_a_new_cell_runs_the_page(scratch: Copy) -> None:
    """A change in the code of the page shows."""
    scratch.edit("docs/index.md", "torch.eye(2)", "3 * torch.eye(2)")
    assert scratch.build().returncode == 0
    assert "[[0.0, 3.0]]" in scratch.html()


def test_a_change_of_the_package_runs_everything(scratch: Copy) -> None:
    """No output of the old code is left, though the page itself did not change."""
    before = scratch.stamp()
    scratch.edit("src/lookup_matmul/forms.py", "check=False) @ weight", "check=False) @ weight * 7")
    assert scratch.build().returncode == 0
    assert scratch.stamp() != before
    assert "[[0.0, 7.0]]" in scratch.html()
    scratch.edit("src/lookup_matmul/forms.py", " @ weight * 7", " @ weight")
    assert scratch.build().returncode == 0
    assert "[[0.0, 1.0]]" in scratch.html()


def test_a_change_of_the_pins_runs_everything(scratch: Copy) -> None:
    """Another version of anything may give another output."""
    before = scratch.stamp()
    pins = scratch.root / "constraints.txt"
    pins.write_text(pins.read_text("utf-8").replace("numpy==", "numpy==9"), "utf-8")
    assert scratch.build().returncode == 0
    assert scratch.stamp() != before


def test_a_label_may_move_to_another_page(scratch: Copy) -> None:
    """It is not found on both, though the page that had it is read later."""
    scratch.write("second", "# Second\n\n(a-label)=\n## Here\n", head=PROSE)
    assert scratch.build().returncode == 0
    scratch.write("second", "# Second\n\nNothing.\n", head=PROSE)
    scratch.write("other", "# Other\n\nAnother page.\n\n(a-label)=\n## Here\n", head=PROSE)
    built = scratch.build()
    assert (built.returncode, built.stderr) == (0, "")


def test_a_page_that_is_gone_leaves_no_html(scratch: Copy) -> None:
    """What was built for it goes with it."""
    assert "Another page." in scratch.html("other")
    (scratch.root / "docs" / "other.md").unlink()
    scratch.write("third", "# Third\n", head=PROSE)
    assert scratch.build().returncode == 0
    assert not (scratch.root / "build" / "html" / "other.html").exists()


@pytest.mark.parametrize("page", ["index", "tutorials/lookup-is-matmul"])
def test_a_product_off_by_a_thousandth_stops_the_build(page: str, tmp_path: Path) -> None:
    """Each page that claims the equality breaks, and says by how much."""
    copy = Copy(tmp_path)
    copy.edit(
        "src/lookup_matmul/forms.py", "check=False) @ weight", "check=False) @ weight * 1.001"
    )
    copy.clear_pages(page)
    if page != "index":
        copy.write("index", f"# Index\n\n```{{toctree}}\n{page}\n```\n", head=PROSE)
    built = copy.build()
    assert built.returncode != 0
    assert re.search(r"not bitwise equal: \d+ of \d+ elements differ", built.stderr)
    assert f"{page}.md" in built.stderr


@pytest.mark.parametrize(
    "check", ["    if differs.any():", "    if not inside.all():"], ids=["bitwise", "within"]
)
def test_an_assertion_that_never_fails_stops_the_build(check: str, tmp_path: Path) -> None:
    """The page's expected failures must fail, or the claims beside them would mean nothing."""
    copy = Copy(tmp_path)
    copy.edit("src/lookup_matmul/equality.py", check, "    if False:")
    page = copy.root / "docs" / "tutorials" / "where-equality-stops.md"
    copy.clear_pages("tutorials/where-equality-stops")
    text = page.read_text("utf-8")
    page.write_text(re.sub(r"\[[^]]*\]\([\w./-]*\.md\)", "another page", text), "utf-8")
    toctree = "# Index\n\n```{toctree}\ntutorials/where-equality-stops\n```\n"
    copy.write("index", toctree, head=PROSE)
    built = copy.build()
    assert built.returncode != 0
    assert "this cell was expected to raise and did not" in built.stderr


def test_a_product_off_by_a_thousandth_fails_the_tests(tmp_path: Path) -> None:
    """The same tests pass on an unchanged copy."""
    copy = Copy(tmp_path)
    pytest_call = [
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/test_forms.py",
        "-k bitwise or row_picking",
    ]
    assert copy.run(*pytest_call).returncode == 0
    copy.edit(
        "src/lookup_matmul/forms.py", "check=False) @ weight", "check=False) @ weight * 1.001"
    )
    failed = copy.run(*pytest_call)
    assert failed.returncode == 1
    assert "not bitwise equal" in failed.stdout


def test_pages_run_side_by_side_and_those_that_measure_alone(tmp_path: Path) -> None:
    """Each runs once; none runs while one does that says ``measures: true``."""
    cell = (
        "```{code-cell} ipython3\n"
        "import time\nimport torch\n\ntorch.set_num_threads(1)\nbegin = time.monotonic()\n"
        'time.sleep(2)\nprint("ran", begin, time.monotonic())  # NAME\n```\n'
    )
    copy, names = Copy(tmp_path), ["index", "first", "second", "timed"]
    copy.clear_pages()
    for name in names:
        head = HEAD.replace("mystnb\n", "mystnb\nmeasures: true\n") if name == "timed" else HEAD
        copy.write(
            name,
            f"# {name}\n\n{cell}".replace("NAME", name) + (TOCTREE if name == "index" else ""),
            head=head,
        )
    built = copy.build()
    assert (built.returncode, built.stderr) == (0, "")
    assert "Running 3 pages" in built.stdout
    for name in names:
        assert len(re.findall(rf" s  {name}$", built.stdout, re.MULTILINE)) == 1
    spans = {}
    for name in names:
        found = re.search(r"ran ([\d.]+) ([\d.]+)", copy.html(name))
        assert found
        spans[name] = (float(found[1]), float(found[2]))
    begin, end = spans.pop("timed")
    assert all(end < other_begin or other_end < begin for other_begin, other_end in spans.values())
    again = copy.build()
    assert (again.returncode, again.stderr) == (0, "")
    assert "Running" not in again.stdout
