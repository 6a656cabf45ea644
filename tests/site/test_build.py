"""Builds of a copy of the site: which pages are executed again, and false claims fail the build."""

import re
import runpy

import pytest
from scratch import HEAD, PROSE, SPHINX, STAMP, TOCTREE, Copy, cell

# A page that imports a module of the package, which imports another and reads a folder; it starts
# a process that imports a third one.
CODE = """import subprocess, sys
from lookup_matmul.reader import VALUES

VALUES, subprocess.check_output([sys.executable, "-m", "lookup_matmul.child"], text=True)"""
READER = """import json
from pathlib import Path
from lookup_matmul.helper import FACTOR

FOLDER = Path(__file__).parent / "recorded"
VALUES = [FACTOR * json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
try:
    VALUES.append((FOLDER / "optional.txt").read_text())
except FileNotFoundError:
    pass
"""
PACKAGE = {
    "__init__.py": "",
    "reader.py": READER,
    "helper.py": "FACTOR = 1\n",
    "child.py": "print('first')\n",
    "unused.py": "",
    "recorded/a.json": "10",
}


def write_sources(copy):
    """Write two pages, and replace the package of a copy by a small one."""
    copy.write("index", f"# Copy\n\nFirst prose.\n\n{STAMP}\n{cell(CODE)}{TOCTREE}")
    copy.write("other", f"# Other\n\nAnother page.\n\n{STAMP}")
    folder = copy.root / "src" / "lookup_matmul"
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name, text in PACKAGE.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def first_build(tmp_path_factory):
    """Return a copy whose site of two pages is built, and the output of its first build."""
    copy = Copy(tmp_path_factory.mktemp("copy"), bare=True)
    write_sources(copy)
    output = copy.build().stdout
    assert "([10], 'first" in copy.html()
    return copy, output


@pytest.fixture
def copy(first_build):
    """Return the copy with the sources of the first build; the site is of the last build."""
    copy = first_build[0]
    for path in copy.root.glob("docs/*.md"):
        path.unlink()
    write_sources(copy)
    copy.build()
    return copy


def executed_pages(built):
    """Return the names of the pages that a build executed, in alphabetical order."""
    assert (built.returncode, built.stderr) == (0, "")
    return sorted(re.findall(r"^ +\d+\.\d s  (\S+)$", built.stdout, re.MULTILINE))


def test_a_build_prints_the_time_of_each_page_and_the_address(first_build):
    """It prints nothing else."""
    copy, output = first_build
    lines = output.splitlines()
    assert lines[0] == "Running 2 pages, 2 at a time."
    pages = sorted(re.sub(r"^ +\d+\.\d s  ", "", line) for line in lines[1:3])
    assert pages == ["index", "other"]
    assert lines[3:] == [f"Open {(copy.root / 'build' / 'html' / 'index.html').as_uri()}"]


def test_new_prose_executes_nothing_and_no_change_writes_nothing(copy):
    """The page has the new prose and the old outputs; the next build does not write it."""
    copy.edit("docs/index.md", "First prose.", "Second prose.")
    stamp = copy.stamp()
    assert executed_pages(copy.build()) == []
    assert "Second prose." in copy.html()
    assert copy.stamp() == stamp
    html = copy.root / "build" / "html" / "index.html"
    written_at = html.stat().st_mtime_ns
    assert executed_pages(copy.build()) == []
    assert html.stat().st_mtime_ns == written_at


@pytest.mark.parametrize(
    ("name", "text", "output"),
    [
        ("reader.py", f"{READER}\nVALUES += [7]\n", "([10, 7], 'first"),
        ("helper.py", "FACTOR = 2\n", "([20], 'first"),
        ("child.py", "print('second')\n", "([10], 'second"),
        ("recorded/a.json", "11", "([11], 'first"),
        ("recorded/b.json", "5", "([10, 5], 'first"),
        ("recorded/optional.txt", "more", "([10, 'more'], 'first"),
        ("unused.py", "VALUE = 1\n", ""),
        ("new.py", "VALUE = 1\n", ""),  # though Python lists folders when it imports others
    ],
)
def test_a_change_executes_a_page_if_the_page_read_it(name, text, output, copy):
    """Files count that it imported, in processes too, or read; so do files that it looked for."""
    (copy.root / "src" / "lookup_matmul" / name).write_text(text, "utf-8")
    assert executed_pages(copy.build()) == (["index"] if output else [])
    assert output in copy.html()
    assert executed_pages(copy.build()) == []


def test_a_changed_cell_and_a_module_that_was_imported_from_bytecode_count(copy):
    """The first build writes the bytecode, and the second one reads nothing else."""
    for old, new in (("VALUES, sub", "VALUES[:], sub"), ("VALUES[:], sub", "VALUES[::], sub")):
        copy.edit("docs/index.md", old, new)
        assert executed_pages(copy.build(PYTHONDONTWRITEBYTECODE="")) == ["index"]
    folder = copy.root / "src" / "lookup_matmul"
    assert list(folder.glob("__pycache__/helper.*.pyc"))
    (folder / "helper.py").write_text("FACTOR = 1 + 1\n", "utf-8")
    assert executed_pages(copy.build()) == ["index"]
    assert "([20], 'first" in copy.html()


def test_a_deleted_module_fails_the_page_that_imports_it(copy):
    """Old outputs do not hide that the page cannot run."""
    (copy.root / "src" / "lookup_matmul" / "helper.py").unlink()
    assert "No module named 'lookup_matmul.helper'" in copy.fail().stderr


def test_outputs_of_a_build_with_another_environment_appear_without_being_executed(copy):
    """A build of one page, or in the other language, shares the cache and not the environment."""
    (copy.root / "src" / "lookup_matmul" / "helper.py").write_text("FACTOR = 3\n", "utf-8")
    options = ["-d", "build/doctrees-2", "build/html-2"]
    assert executed_pages(copy.run(*SPHINX[:-1], *options[-1:], *options[:-1])) == ["index"]
    assert "([10], 'first" in copy.html()
    assert executed_pages(copy.build()) == []
    assert "([30], 'first" in copy.html()


def cache_path(copy):
    """Return the folder of the cache of executed pages that a build would use."""
    return runpy.run_path(str(copy.root / "docs" / "conf.py"))["nb_execution_cache_path"]


def test_changed_versions_or_kernel_settings_use_another_cache(copy):
    """Every page is executed again, since each depends on them."""
    paths = [cache_path(copy)]
    for name in ("constraints.txt", "docs/_extensions/run/settings.py"):
        path = copy.root / name
        text = path.read_text("utf-8")
        path.write_text(f"{text}# changed\n", "utf-8")
        paths.append(cache_path(copy))
        path.write_text(text, "utf-8")
    assert len(set(paths)) == 3


def test_a_label_can_move_to_another_page_while_a_page_is_removed(copy):
    """The label is no duplicate, although the page that had it is read later."""
    copy.write("second", "# Second\n\n(a-label)=\n## A section\n", head=PROSE)
    copy.write("third", "# Third\n", head=PROSE)
    copy.build()
    copy.write("second", "# Second\n\nNothing.\n", head=PROSE)
    copy.write("other", "# Other\n\nAnother page.\n\n(a-label)=\n## A section\n", head=PROSE)
    (copy.root / "docs" / "third.md").unlink()
    copy.build()


FIRST, PROOF = "tutorials/lookup-is-matmul", "appendix/floating-point-proof"
DIFFER = r"\d+ of \d+ elements differ"
PRODUCT = "check=False) @ weight"
FALSIFIED = {  # an edit of the package, and the failure of each page in a copy
    ("src/**/onehot/forms.py", PRODUCT, f"{PRODUCT} * 1.001"): {"index": DIFFER, FIRST: DIFFER},
    ("src/**/equality.py", "    if mask.any():", "    if False:"): {
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


# A cell that prints which pages run when it starts, and waits until the pages in {awaited} started.
MEETING = """import os, time
from pathlib import Path

root = Path(os.environ["SHARED_FOLDER"])
print("NAME with", sorted(path.name for path in root.glob("runs-*")))
(root / "runs-NAME").touch()
(root / "started-NAME").touch()
while not all((root / f"started-{{name}}").exists() for name in {awaited}):
    time.sleep(0.1)
(root / "runs-NAME").unlink()"""


def test_pages_run_side_by_side_and_those_that_measure_run_alone(tmp_path):
    """Two pages wait for each other; none runs beside the one with ``measures: true``."""
    copy = Copy(tmp_path, bare=True)
    copy.write("index", f"# Index\n{TOCTREE}", head=PROSE)
    for name in ("first", "second", "timed"):
        head, awaited, code = HEAD, ["first", "second"], MEETING
        if name == "timed":
            head, awaited = HEAD.replace("mystnb\n", "mystnb\nmeasures: true\n"), []
            code = f"import torch\n\ntorch.set_num_threads(1)\n{MEETING}"
        code = code.format(awaited=awaited).replace("NAME", name)
        copy.write(name, f"# {name}\n\n{cell(code)}", head=head)
    built = copy.build(SHARED_FOLDER=str(copy.root))
    assert executed_pages(built) == ["first", "second", "timed"]
    assert "Running 2 pages" in built.stdout
    for name in ("first", "second", "timed"):
        pages = re.search(rf"{name} with (\[.*?\])", copy.html(name))[1]
        assert "timed" not in pages
        assert pages == "[]" or name != "timed"
