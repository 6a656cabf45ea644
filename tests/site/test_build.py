"""The build itself, on copies: what runs again and what does not, and that a false claim stops it."""

import re
import runpy
from types import SimpleNamespace

import pytest
from _extensions.report import delete_removed_pages
from scratch import HEAD, PROSE, STAMP, TOCTREE, Copy, cell

FORMS, ASSERTIONS = "src/**/forms.py", "src/**/assertions.py"
PRODUCT = "check=False) @ weight"
MADE = f"""{STAMP}
```{{code-cell}} ipython3
import torch
from lookup_matmul import one_hot_matmul
one_hot_matmul(torch.tensor([1]), torch.eye(2)).tolist()
```
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a copy whose site of two pages is built, and what its first build printed."""
    copy = Copy(tmp_path_factory.mktemp("scratch"), bare=True)
    copy.write("index", f"# Scratch\n\nFirst prose.\n\n{MADE}{TOCTREE}")
    copy.write("other", "# Other\n\nAnother page.\n", head=PROSE)
    built = copy.build()
    assert (built.returncode, built.stderr) == (0, "")
    assert "[[0.0, 1.0]]" in copy.html()
    return copy, built.stdout


@pytest.fixture
def scratch(made):
    """Return the copy, and put back afterwards what a test has changed of its sources."""
    root = made[0].root
    named = [*root.glob("docs/*.md"), *root.glob(FORMS), root / "constraints.txt"]
    texts = {path: path.read_text("utf-8") for path in named}
    yield made[0]
    for path in {*root.glob("docs/*.md")} - {*texts}:
        path.unlink()
    for path, text in texts.items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


@pytest.fixture(scope="module")
def first(made):
    """Return the stamp of the first build."""
    return made[0].stamp()


def test_an_ordinary_build_is_nearly_silent(made):
    """A line for each page with its time, and the address."""
    lines = made[1].splitlines()
    assert len(lines) == 2, lines
    assert re.fullmatch(r" +\d+\.\d s  index", lines[0])
    assert (made[0].root / "build" / "html" / "index.html").as_uri() in lines[1]


def test_new_prose_runs_no_code_and_no_change_writes_nothing(scratch, first):
    """The page shows the new words with the old output; the next build leaves the site alone."""
    scratch.edit("docs/index.md", "First prose.", "Second prose.")
    assert scratch.build().returncode == 0
    assert "Second prose." in scratch.html()
    assert scratch.stamp() == first
    written = (scratch.root / "build" / "html" / "index.html").stat().st_mtime_ns
    assert scratch.build().returncode == 0
    assert (scratch.root / "build" / "html" / "index.html").stat().st_mtime_ns == written


def test_a_new_cell_runs_the_page(scratch):
    """A change in the code of the page shows."""
    scratch.edit("docs/index.md", "torch.eye(2)", "3 * torch.eye(2)")
    assert scratch.build().returncode == 0
    assert "[[0.0, 3.0]]" in scratch.html()


def test_a_change_of_the_package_runs_everything(scratch):
    """No output of the old code is left, though the page itself did not change."""
    scratch.edit(FORMS, PRODUCT, f"{PRODUCT} * 7")
    assert scratch.build().returncode == 0
    assert "[[0.0, 7.0]]" in scratch.html()


def cache_of(scratch):
    """Return the folder of what a build would execute now."""
    return runpy.run_path(str(scratch.root / "docs" / "conf.py"))["nb_execution_cache_path"]


def test_a_change_of_the_pins_or_of_a_recording_runs_everything(scratch):
    """Another version of anything may give another output; an unreadable file is no error here."""
    folders = [cache_of(scratch)]
    scratch.edit("constraints.txt", "\nnbclient==", "\nnbclient==9")
    folders.append(cache_of(scratch))
    recorded = scratch.root / "src" / "lookup_matmul" / "recorded"
    (recorded / "lost.json").symlink_to("nowhere")
    (recorded / "bytes.json").write_bytes(b"\xff")
    folders.append(cache_of(scratch))
    (recorded / "lost.json").unlink()
    (recorded / "bytes.json").unlink()
    assert len(set(folders)) == 3


def test_a_page_that_is_gone_leaves_no_html_and_its_label_may_move(scratch):
    """What was built for it goes; the label is not found twice, though that page is read later."""
    scratch.write("second", "# Second\n\n(a-label)=\n## Here\n", head=PROSE)
    scratch.write("third", "# Third\n", head=PROSE)
    assert scratch.build().returncode == 0
    scratch.write("second", "# Second\n\nNothing.\n", head=PROSE)
    scratch.write("other", "# Other\n\nAnother page.\n\n(a-label)=\n## Here\n", head=PROSE)
    (scratch.root / "docs" / "third.md").unlink()
    built = scratch.build()
    assert (built.returncode, built.stderr) == (0, "")
    assert not (scratch.root / "build" / "html" / "third.html").exists()


@pytest.mark.parametrize("known", [True, False])
def test_a_build_that_knows_no_page_begins_without_any(tmp_path, known):
    """As after an update, since pages of an earlier one may be gone; style and scripts stay."""
    files = [tmp_path / name for name in ("old/page.html", "page.ipynb", "_static/a.html")]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.touch()
    env = SimpleNamespace(all_docs={"page": 1.0} if known else {})
    delete_removed_pages(SimpleNamespace(outdir=tmp_path), env, set(), set(), set())
    assert [file.exists() for file in files] == [known, known, True]


FIRST, PROOF = "tutorials/lookup-is-matmul", "appendix/floating-point-proof"


@pytest.mark.parametrize(
    ("edits", "reasons"),
    [
        (
            [(FORMS, PRODUCT, f"{PRODUCT} * 1.001")],
            [("index", r"\d+ of \d+ elements differ"), (FIRST, r"\d+ of \d+ elements differ")],
        ),
        (
            [(ASSERTIONS, "    if differs.any():", "    if False:")],
            [(PROOF, "did not; expected 'AssertionError: not bitwise equal")],
        ),
    ],
)
def test_a_false_product_and_a_vain_assertion_stop_the_build(edits, reasons, tmp_path):
    """Pages that claim the equality break, and so do those that show where it must not hold."""
    pages = {page for page, _ in reasons}
    copy = Copy(tmp_path, *pages, bare=True)
    for edit in edits:
        copy.edit(*edit)
    if "index" not in pages:
        copy.write("index", f"# Index\n\n```{{toctree}}\n{PROOF}\n```\n", head=PROSE)
    built = copy.build()
    assert built.returncode != 0
    for page, reason in reasons:
        said = re.search(rf"{page}\.md:\d+: WARNING: this cell .*{reason}", built.stderr)
        assert said, built.stderr


# It prints which pages run while it begins, and ends when the pages that it waits for have begun.
MEETING = """import time
from pathlib import Path

root = Path("..")
print("NAME beside", sorted(path.name for path in root.glob("runs-*")))
(root / "runs-NAME").touch()
(root / "began-NAME").touch()
while not all((root / f"began-{{name}}").exists() for name in {awaited}):
    time.sleep(0.1)
(root / "runs-NAME").unlink()"""


def test_pages_run_side_by_side_and_those_that_measure_alone(tmp_path):
    """Two wait for each other; none runs while one does that says ``measures: true``."""
    copy = Copy(tmp_path, bare=True)
    copy.write("index", f"# Index\n{TOCTREE}", head=PROSE)
    for name in ("first", "second", "timed"):
        head, awaited, code = HEAD, ["first", "second"], MEETING
        if name == "timed":
            head, awaited = HEAD.replace("mystnb\n", "mystnb\nmeasures: true\n"), []
            code = f"import torch\n\ntorch.set_num_threads(1)\n{MEETING}"
        code = code.format(awaited=awaited).replace("NAME", name)
        copy.write(name, f"# {name}\n\n{cell(code)}", head=head)
    built = copy.build()
    assert (built.returncode, built.stderr) == (0, "")
    assert "Running 2 pages" in built.stdout
    for name in ("first", "second", "timed"):
        assert len(re.findall(rf" s  {name}$", built.stdout, re.MULTILINE)) == 1
        found = re.search(rf"{name} beside (\[.*?\])", copy.html(name))
        assert found
        assert "timed" not in found[1]
        assert found[1] == "[]" or name != "timed"
