"""The build itself, on copies: what runs again and what does not, and that a false claim stops it."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

PAGE = """---
file_format: mystnb
kernelspec:
  name: python3
---

# Scratch

{prose}

```{{code-cell}} ipython3
import time, torch
from lookup_matmul import one_hot_matmul
print("stamp", time.time_ns(), one_hot_matmul(torch.tensor([1]), torch.eye(2)).tolist())
```

```{{toctree}}
:glob:

*
```
"""


class Copy:
    """A copy of the project's sources that can be changed and built."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("docs", "src", "tests", "constraints.txt", "pyproject.toml"):
            source = ROOT / name
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, root / name, ignore=ignore) if source.is_dir() else shutil.copy(
                source, root
            )

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace one piece of text that must be there."""
        path = self.root / name
        text = path.read_text("utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), "utf-8")

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a module of Python with the copy's package instead of the installed one."""
        environment = (
            os.environ
            | variables
            | {
                "PYTHONPATH": str(self.root / "src"),
                "PYTHONDONTWRITEBYTECODE": "1",
            }
        )
        call = [sys.executable, "-m", *command]
        return subprocess.run(
            call, cwd=self.root, env=environment, capture_output=True, text=True, check=False
        )

    def build(self) -> subprocess.CompletedProcess[str]:
        """Build the site as the sessions do."""
        return self.run(
            *[
                "sphinx",
                "-n",
                "-W",
                "--keep-going",
                "-d",
                "build/doctrees",
                "-b",
                "html",
                "docs",
                "build/html",
            ]
        )

    def html(self, name: str = "index") -> str:
        """Give the text of a built page."""
        return (self.root / "build" / "html" / f"{name}.html").read_text("utf-8")

    def stamp(self) -> str:
        """Give the time at which the scratch page's cell ran."""
        found = re.search(r"stamp \d+", self.html())
        assert found
        return found.group()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """Give a copy whose site has two pages, built once."""
    copy = Copy(tmp_path_factory.mktemp("scratch"))
    for path in (copy.root / "docs").rglob("*.md"):
        path.unlink()
    (copy.root / "docs" / "index.md").write_text(PAGE.format(prose="First prose."), "utf-8")
    (copy.root / "docs" / "other.md").write_text("# Other\n\nAnother page.\n", "utf-8")
    built = copy.build()
    assert built.returncode == 0, built.stderr
    assert "[[0.0, 1.0]]" in copy.html()
    return copy


def test_an_unchanged_site_is_built_in_seconds(scratch: Copy) -> None:
    """Nothing is run or written again, within five seconds, starting Sphinx included."""
    before = scratch.stamp()
    start = time.perf_counter()
    built = scratch.build()
    elapsed_s = time.perf_counter() - start
    assert built.returncode == 0, built.stderr
    assert scratch.stamp() == before
    assert "no targets are out of date" in built.stdout
    assert elapsed_s < 5


def test_the_build_ends_with_times_and_the_place(scratch: Copy) -> None:
    """Each page with code has its time, then the total, then where to open the site."""
    printed = scratch.build().stdout
    assert re.search(r"^ +\d+\.\d s  index$", printed, re.MULTILINE)
    assert re.search(r"^ +\d+\.\d s  code of all pages$", printed, re.MULTILINE)
    assert (scratch.root / "build" / "html" / "index.html").as_uri() in printed


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
    assert "[[0.0, 21.0]]" in scratch.html()
    scratch.edit("src/lookup_matmul/forms.py", " @ weight * 7", " @ weight")
    assert scratch.build().returncode == 0
    assert "[[0.0, 3.0]]" in scratch.html()


def test_a_change_of_the_pins_runs_everything(scratch: Copy) -> None:
    """Another version of anything may give another output."""
    before = scratch.stamp()
    pins = scratch.root / "constraints.txt"
    pins.write_text(pins.read_text("utf-8").replace("numpy==", "numpy==9"), "utf-8")
    assert scratch.build().returncode == 0
    assert scratch.stamp() != before


def test_a_page_that_is_gone_leaves_no_html(scratch: Copy) -> None:
    """What was built for it goes with it."""
    assert "Another page." in scratch.html("other")
    (scratch.root / "docs" / "other.md").unlink()
    (scratch.root / "docs" / "third.md").write_text("# Third\n", "utf-8")
    assert scratch.build().returncode == 0
    assert not (scratch.root / "build" / "html" / "other.html").exists()


@pytest.mark.parametrize("page", ["index", "tutorials/lookup-is-matmul"])
def test_a_product_off_by_a_thousandth_stops_the_build(page: str, tmp_path: Path) -> None:
    """Each page that claims the equality breaks, and says by how much."""
    copy = Copy(tmp_path)
    copy.edit(
        "src/lookup_matmul/forms.py", "check=False) @ weight", "check=False) @ weight * 1.001"
    )
    for other in (copy.root / "docs").rglob("*.md"):
        if other != copy.root / "docs" / f"{page}.md":
            other.unlink()
    if page != "index":
        toctree = f"# Index\n\n```{{toctree}}\n{page}\n```\n"
        (copy.root / "docs" / "index.md").write_text(toctree, "utf-8")
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
    for other in (copy.root / "docs").rglob("*.md"):
        if other != page:
            other.unlink()
    text = page.read_text("utf-8")
    page.write_text(re.sub(r"\[[^]]*\]\([\w./-]*\.md\)", "another page", text), "utf-8")
    toctree = "# Index\n\n```{toctree}\ntutorials/where-equality-stops\n```\n"
    (copy.root / "docs" / "index.md").write_text(toctree, "utf-8")
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
