"""A new page builds at once, and what cannot become one is refused."""

import shutil
import subprocess
import sys

import pytest
from scratch import PROSE, TOCTREE, Copy
from served import ROOT

TITLE = "Größe: rows come in the order of the ids"
CONTENTS = TOCTREE.replace(":glob:\n\n*", ":caption: Use\n\nPlain <plain>")


@pytest.fixture
def copy(tmp_path):
    """Return a copy whose only pages are the index and a plain one."""
    made = Copy(tmp_path, bare=True)
    (tmp_path / "docs" / "tutorials").mkdir(exist_ok=True)
    shutil.copy(ROOT / "AUTHORING.md", tmp_path)
    made.write("index", f"# Index\n{CONTENTS}", head=PROSE)
    made.write("plain", "# Plain\n\nProse.\n", head=PROSE)
    return made


def write(copy, *arguments):
    """Run the tool in a copy."""
    call = [sys.executable, "docs/_tools/new_page.py", *arguments]
    return subprocess.run(call, cwd=copy.root, capture_output=True, text=True, check=False)


def test_a_new_page_builds_at_once(copy):
    """It stands in the contents under its title, and every check of the example passes."""
    done = write(copy, TITLE, "--short", "Order of rows")
    assert (done.returncode, done.stderr) == (0, "")
    name = "tutorials/groe-rows-come-in-the-order-of-the-ids"
    assert f"nox -s docs -- {name}" in done.stdout
    built = copy.build()
    assert (built.returncode, built.stderr) == (0, "")
    page = copy.html(name)
    assert f"<h1>{TITLE}" in page
    assert "holds" in page
    assert "% " not in (copy.root / "docs" / f"{name}.md").read_text()
    assert "Order of rows" in copy.html("index")


def test_what_cannot_become_a_page_is_refused(copy):
    """A title without words or none, contents that are not there, and a page that is."""
    assert write(copy, TITLE).returncode == 0
    before = sorted((copy.root / "docs").rglob("*.md"))
    for arguments, says in (
        (["..."], "expected words"),
        (["A page", "--under", "Nowhere"], "there are: Use"),
        ([], "required: title"),
        ([TITLE], "is there already"),
    ):
        done = write(copy, *arguments)
        assert done.returncode != 0
        assert says in done.stderr
    assert sorted((copy.root / "docs").rglob("*.md")) == before
