"""Builds of a copy of the site: which pages are executed again, and false claims fail the build."""

import re
import runpy
import shutil

import pytest
from scratch import HEAD, PROSE, SPHINX, TOCTREE, Copy, cell

READ = """import sys
from pathlib import Path
import lookup_matmul

FOLDER = Path(lookup_matmul.__file__).parent
{code}
print("it is", VALUE)"""
DRAWING = "../../docs/_figures/drawing.py"  # from the folder of the package
# For each page the code with which it reads 1 from the package, and the text of a file with which
# the same code reads 2.
READERS = {
    "module": ("from lookup_matmul.module import VALUE", "module.py", "VALUE = 1 + 1\n"),
    "module-of-a-module": ("from lookup_matmul.outer import VALUE", "inner.py", "VALUE = 1 + 1\n"),
    "module-of-a-process": (
        "import subprocess\n"
        'command = [sys.executable, "-m", "lookup_matmul.child"]\n'
        "VALUE = int(subprocess.check_output(command))",
        "child.py",
        "print(1 + 1)\n",
    ),
    "file": ('VALUE = int((FOLDER / "files" / "1").read_text())', "files/1", "2"),
    "folder": ('VALUE = len([*(FOLDER / "files").iterdir()])', "files/2", ""),
    "missing-file": (
        'try:\n    VALUE = int((FOLDER / "more").read_text())\nexcept OSError:\n    VALUE = 1',
        "more",
        "2",
    ),
    "drawing": ("from _figures.drawing import VALUE", DRAWING, "VALUE = 1 + 1\n"),
}
PACKAGE = {
    "__init__.py": "",
    "module.py": "VALUE = 1\n",
    "outer.py": "from lookup_matmul.inner import VALUE\n",
    "inner.py": "VALUE = 1\n",
    "child.py": "print(1)\n",
    "files/1": "1",
    "unread.py": "",
    "unchanged.py": "VALUE = 1\n",
    DRAWING: "VALUE = 1\n",
}
# A cell that prints which pages run when it starts, and waits until the pages in {awaited} started.
MEETING = """import os, time
from pathlib import Path
import torch

torch.set_num_threads(1)
root = Path(os.environ["SHARED_FOLDER"])
print("{name} with", sorted(path.name for path in root.glob("runs-*")))
for state in ("runs", "started"):
    (root / f"{{state}}-{name}").touch()
while not all((root / f"started-{{name}}").exists() for name in {awaited}):
    time.sleep(0.1)
(root / "runs-{name}").unlink()"""


def write_reader(copy, page, code):
    """Write a page that reads the package."""
    copy.write(page, f"# {page}\n\nFirst prose.\n\n{cell(READ.format(code=code))}")


def write_meeting(copy, page, awaited, head=HEAD, comment=""):
    """Write a page that waits for others."""
    code = MEETING.format(name=page, awaited=awaited)
    copy.write(page, f"# {page}\n\n{cell(code + comment)}", head=head)


@pytest.fixture
def copy(tmp_path):
    """Return a copy with a small package and a page for each way to read it."""
    copy = Copy(tmp_path, bare=True)
    folder = copy.root / "src" / "lookup_matmul"
    shutil.rmtree(folder)
    for name, text in PACKAGE.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    copy.write("index", f"# Copy\n{TOCTREE}", head=PROSE)
    for page, (code, *_) in READERS.items():
        write_reader(copy, page, code)
    write_reader(copy, "unchanged", "from lookup_matmul.unchanged import VALUE")
    return copy


def executed_pages(built):
    """Return the names of the pages that a build executed, in alphabetical order."""
    assert (built.returncode, built.stderr) == (0, "")
    return sorted(re.findall(r"^ +\d+\.\d s  (\S+)$", built.stdout, re.MULTILINE))


def test_a_build_executes_pages_whose_cells_or_files_changed(copy):
    """Files count that a page imported, in processes too, or read, or looked for.

    The third build has another environment, as a build of one page or in another language has.
    """
    package, first = copy.root / "src" / "lookup_matmul", {"PYTHONDONTWRITEBYTECODE": ""}
    copy.write("last", "# Last\n\n(a-label)=\n## A section\n", head=PROSE)
    copy.write("removed", "# Removed\n", head=PROSE)
    built = copy.build(**first)
    assert executed_pages(built) == sorted([*READERS, "unchanged"])
    beginning, *_, end = built.stdout.splitlines()
    assert re.fullmatch(r"Running 8 pages, \d at a time\.", beginning)
    assert end == f"Open {(copy.root / 'build' / 'html' / 'index.html').as_uri()}"
    assert len(built.stdout.splitlines()) == 2 + 8

    # Changed cells, new prose, and a label that moves to a page that is read before the one that
    # had it, while a page is removed.
    copy.edit("docs/module.md", "import VALUE", "import VALUE as VALUE")
    copy.edit("docs/unchanged.md", "First prose.", "Second prose.")
    copy.write("early", "# Early\n\n(a-label)=\n## A section\n", head=PROSE)
    copy.write("last", "# Last\n", head=PROSE)
    (copy.root / "docs" / "removed.md").unlink()
    assert list(package.glob("__pycache__/module.*.pyc"))  # which is all that the page now reads
    assert executed_pages(copy.build(**first)) == ["module"]
    assert "Second prose." in copy.html("unchanged")
    assert all("it is 1" in copy.html(page) for page in (*READERS, "unchanged"))

    changes = {name: text for _, name, text in READERS.values()}
    for name, text in {**changes, "unread.py": "VALUE = 1\n", "new.py": ""}.items():
        (package / name).write_text(text, "utf-8")
    other = [*SPHINX[:-1], "build/html-2", "-d", "build/doctrees-2"]
    assert executed_pages(copy.run(*other)) == sorted(READERS)
    assert executed_pages(copy.build()) == []
    assert all("it is 2" in copy.html(page) for page in READERS)
    html = copy.root / "build" / "html" / "module.html"
    written_at = html.stat().st_mtime_ns
    assert executed_pages(copy.build()) == []
    assert html.stat().st_mtime_ns == written_at

    (package / "inner.py").unlink()
    assert "No module named 'lookup_matmul.inner'" in copy.fail().stderr


def test_pages_run_side_by_side_and_those_that_measure_run_alone(tmp_path):
    """Two pages wait for each other; none runs beside the one with ``measures: true``."""
    copy = Copy(tmp_path, bare=True)
    copy.write("index", f"# Index\n{TOCTREE}", head=PROSE)
    write_meeting(copy, "first", ["first", "second"])
    write_meeting(copy, "second", ["first", "second"])
    # Beside others it would start before these, as the longest page.
    head = HEAD.replace("mystnb\n", "mystnb\nmeasures: true\n")
    write_meeting(copy, "timed", ["first"], head, comment=f"  # {'long ' * 100}")
    assert executed_pages(copy.build(SHARED_FOLDER=str(copy.root))) == ["first", "second", "timed"]
    for name in ("first", "second", "timed"):
        pages = re.search(rf"{name} with (\[.*?\])", copy.html(name))[1]
        assert "timed" not in pages
        assert pages == "[]" or name != "timed"


def cache_path(copy):
    """Return the folder of the cache of executed pages that a build would use."""
    return runpy.run_path(str(copy.root / "docs" / "conf.py"))["nb_execution_cache_path"]


def test_changed_versions_or_kernel_settings_use_another_cache(tmp_path):
    """Every page is executed again, since each depends on them."""
    copy = Copy(tmp_path)
    paths = [cache_path(copy)]
    for name in ("constraints.txt", "docs/_extensions/run/settings.py"):
        with (copy.root / name).open("a", encoding="utf-8") as file:
            file.write("# changed\n")
        paths.append(cache_path(copy))
    assert len(set(paths)) == 3


FIRST, PROOF = "tutorials/lookup-is-matmul", "appendix/floating-point-proof"
DIFFER = r"\d+ of \d+ elements differ"
PRODUCT = "check=False) @ weight"
FALSIFIED = {  # an edit of the package, and the failure of each page in a copy
    ("src/**/onehot/forms.py", PRODUCT, f"{PRODUCT} * 1.001"): {"index": DIFFER, FIRST: DIFFER},
    ("src/*/equality.py", "    if mask.any():", "    if False:"): {
        PROOF: "did not; expected 'AssertionError: not bitwise equal"
    },
}


@pytest.mark.parametrize(("edit", "failures"), FALSIFIED.items(), ids=["product", "assertion"])
def test_a_wrong_product_or_assertion_fails_the_build(edit, failures, tmp_path):
    """Pages that claim the equality fail, and so do those that show where it must not hold."""
    copy = Copy(tmp_path, *failures, bare=True)
    copy.edit(*edit)
    if "index" not in failures:
        copy.write("index", f"# Index\n\n```{{toctree}}\n{PROOF}\n```\n", head=PROSE)
    built = copy.fail()
    for page, reason in failures.items():
        pattern = rf"{page}\.md:\d+: WARNING: this cell .*{reason}"
        assert re.search(pattern, built.stderr), built.stderr
