"""A new page builds at once, and what cannot become one is refused."""

import shutil
import subprocess
import sys

import pytest
from _tools.new_page import file_name
from scratch import PROSE, TOCTREE, Copy
from served import ROOT

TITLE = "Größe: rows come in the order of the ids"
CONTENTS = TOCTREE.replace(":glob:\n\n*", ":caption: Use\n\nPlain <plain>")


@pytest.fixture
def copy(tmp_path):
    """Return a copy whose only pages are the index and a plain one."""
    copy = Copy(tmp_path, bare=True)
    (tmp_path / "docs" / "tutorials").mkdir(exist_ok=True)
    shutil.copy(ROOT / "AUTHORING.md", tmp_path)
    copy.write("index", f"# Index\n{CONTENTS}", head=PROSE)
    copy.write("plain", "# Plain\n\nProse.\n", head=PROSE)
    return copy


def run_new_page(copy, *arguments):
    command = [sys.executable, "docs/_tools/new_page.py", *arguments]
    return subprocess.run(command, cwd=copy.root, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("The row of an id isn't a sum", "the-row-of-an-id-isnt-a-sum"),
        ("One-hot " * 6, "one-hot-one-hot-one-hot-one-hot-one-hot"),
    ],
)
def test_a_file_name_ends_with_a_whole_word(title, name):
    """It has at most ten words."""
    assert file_name(title) == name


def test_a_new_page_builds_at_once(copy):
    """It is in the table of contents under its title, and its checks pass."""
    result = run_new_page(copy, TITLE, "--short", "Order of rows")
    assert (result.returncode, result.stderr) == (0, "")
    name = "tutorials/groe-rows-come-in-the-order-of-the-ids"
    assert f"nox -s docs -- {name}" in result.stdout
    copy.build()
    page = copy.html(name)
    assert f"<h1>{TITLE}" in page
    assert "the text above holds" in page
    assert "% " not in (copy.root / "docs" / f"{name}.md").read_text()
    assert "Order of rows" in copy.html("index")


def test_arguments_that_make_no_page_are_refused(copy):
    """No file is written for a title without words, unknown contents, no title, or an old one."""
    assert run_new_page(copy, TITLE).returncode == 0
    pages = sorted((copy.root / "docs").rglob("*.md"))
    for arguments, message in (
        (["..."], "expected words"),
        (["A page", "--under", "Nowhere"], "only under Use"),
        ([], "required: title"),
        ([TITLE], "exists already"),
    ):
        result = run_new_page(copy, *arguments)
        assert result.returncode != 0
        assert message in result.stderr
    assert sorted((copy.root / "docs").rglob("*.md")) == pages
