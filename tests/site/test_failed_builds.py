"""A failed build stays failed until its cause is mended, and names page, line and reason again."""

import os
import re
import signal
import time
from pathlib import Path

import pytest
from scratch import PROSE, SPHINX, STAMP, TOCTREE, Copy

CELL = "```{{code-cell}} ipython3\n{options}{code}\n```\n"
# What is wrong on a page: its text, the line that is named, and the reason.
FAULTS = {
    "no-error": (
        CELL.format(options=':tags: [raises-exception]\n:expect: "IndexError: x"\n', code="1 + 1"),
        "expected to raise and did not; expected 'IndexError: x', found no error",
    ),
    "another-error": (
        CELL.format(options=':tags: [raises-exception]\n:expect: "IndexError: x"\n', code="[][0]"),
        "expected 'IndexError: x', found 'IndexError: list index out of range'",
    ),
    "another-ending": (
        CELL.format(
            options=':tags: [raises-exception, whole]\n:expect: "IndexError: list index"\n',
            code="[][0]",
        ),
        "expected 'IndexError: list index', found 'IndexError: list index out of range'",
    ),
    "no-expectation": (
        CELL.format(options=":tags: [raises-exception]\n", code="[][0]"),
        'add `:expect: "IndexError: list index out of range"`',
    ),
    "hidden-assertion": (
        CELL.format(
            options=':tags: [raises-exception]\n:expect: "IndexError: list"\n',
            code="assert 1 == 1\n[][0]",
        ),
        "an assertion in a cell that is expected to raise could fail unseen",
    ),
    "cannot-fail": (
        CELL.format(options=":tags: [check]\n", code="1 == 2"),
        "tagged check and nothing in it can fail",
    ),
    "open-check": (CELL.format(options="", code="assert 1 == 1"), "only checks; tag it check"),
    "lost-expectation": (
        CELL.format(options=':expect: "IndexError: x"\n', code="1 + 1"),
        "without the tag raises-exception",
    ),
    "removed-check": (
        CELL.format(options=":tags: [remove-cell]\n", code="x = 1\nassert x == 1"),
        "this cell checks, and no reader can open it",
    ),
    "stderr": (
        CELL.format(options="", code='import sys\nprint("oops", file=sys.stderr)'),
        "writes to standard error, which readers would see: 'oops'",
    ),
    "stderr-of-a-library": (
        CELL.format(options="", code='import os\nos.write(2, b"oops\\n");'),
        "stderr was found in the cell outputs",
    ),
    "no-alt": ("![](_static/lookup.svg)\n", "has no alternative text"),
    "broken-link": ("[nowhere](nowhere.md)\n", "cross-reference target not found: 'nowhere.md'"),
    "unknown-name": ("{func}`lookup_matmul.nothing`\n", "reference target not found"),
    "no-python": (CELL.format(options="", code="x = = 1"), "this cell failed: SyntaxError"),
    "no-seed": (
        CELL.format(options="", code="import torch\ntorch.rand(3)"),
        "rand draws other numbers in each build",
    ),
    "unknown-total": ("{checked}`everything`\n", "'everything' is not counted"),
}


def faulty(name: str) -> str:
    """Write a page with one fault, in line 10 or after."""
    return f"# {name}\n\nProse.\n\n{FAULTS[name][0]}"


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Give a copy whose only page is right."""
    made = Copy(tmp_path)
    made.clear_pages()
    made.write("index", f"# Index\n\n{STAMP}{TOCTREE}")
    made.write("plain", "# Plain\n\nProse.\n", head=PROSE)
    return made


def test_each_kind_of_fault_is_named_until_it_is_mended(copy: Copy) -> None:
    """The second build names the same pages, lines and reasons; a mended one is not named."""
    for name in FAULTS:
        copy.write(name, faulty(name))
    first = copy.build()
    assert first.returncode != 0
    for name, (_, reason) in FAULTS.items():
        assert re.search(rf"{name}\.md:\d+: .*{re.escape(reason)}", first.stderr), (name, first)
    right = copy.stamp()
    second = copy.build()
    assert second.returncode != 0
    assert sorted(second.stderr.splitlines()) == sorted(first.stderr.splitlines())
    mended = list(FAULTS)[::2]
    for name in mended:
        copy.write(name, f"# {name}\n\nMended.\n")
    third = copy.build()
    assert third.returncode != 0
    assert {name for name in FAULTS if f"{name}.md:" in third.stderr} == set(FAULTS) - set(mended)
    for name in FAULTS:
        copy.write(name, f"# {name}\n\nMended.\n")
    fourth = copy.build()
    assert (fourth.returncode, fourth.stderr) == (0, "")
    assert copy.stamp() == right, "a page that was right was executed again"


def test_a_failing_cell_fails_every_build(copy: Copy) -> None:
    """The page, the cell and Python's own error are named each time, until it is mended."""
    failing = CELL.format(options="", code="assert 1 == 2, 41 + 1")
    below = CELL.format(
        options=':tags: [raises-exception]\n:expect: "IndexError: x"\n', code="[][0]"
    )
    copy.write("false", f"# False\n\n{failing}\n{below}")
    for _ in range(2):
        built = copy.build()
        assert built.returncode != 0
        assert "false.md" in built.stderr
        assert "AssertionError: 42" in built.stderr
        assert "IndexError" not in built.stderr, "a cell that was not run was judged"
    copy.write("false", "# False\n\nMended.\n")
    assert copy.build().returncode == 0


@pytest.mark.parametrize("seconds", [1.5, 4.0, 6.5])
def test_a_killed_build_spoils_no_later_one(copy: Copy, seconds: float) -> None:
    """Whenever it is killed, the next build is complete and right."""
    copy.write("second", f"# Second\n\n{STAMP}")
    process = copy.start(*SPHINX)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    built = copy.build()
    assert (built.returncode, built.stderr) == (0, "")
    for page in ("index", "second"):
        assert "[[0.0, 1.0]]" in copy.html(page)


def test_what_a_killed_build_left_half_written_is_made_anew(copy: Copy) -> None:
    """The cache of executed pages is repaired where a kill can have damaged it."""
    assert copy.build().returncode == 0
    (page,) = copy.root.glob("build/executed/*/executed/*/base.ipynb")
    (database,) = copy.root.glob("build/executed/*/global.db")
    half = page.read_text("utf-8")[:200]
    for damage in (
        lambda: page.write_text("", "utf-8"),
        lambda: page.write_text(half, "utf-8"),
        lambda: page.unlink(),
        lambda: database.write_bytes(b""),  # killed before its tables were made
        lambda: database.write_bytes(database.read_bytes()[:5000]),
    ):
        damage()
        (copy.root / "build" / "unfinished-html").touch()  # as a killed build leaves it
        built = copy.build()
        assert (built.returncode, built.stderr) == (0, "")
        assert "[[0.0, 1.0]]" in copy.html()


def test_the_second_of_two_builds_at_once_waits_and_says_so(copy: Copy) -> None:
    """Both end well, and the second has nothing left to execute."""
    processes = [copy.start(*SPHINX) for _ in range(2)]
    ended = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], ended
    printed = [out for out, _ in ended]
    assert sum("Another build is writing to" in out for out in printed) == 1
    assert sum(" s  index" in out for out in printed) == 1


def test_noise_of_a_missing_driver_stays_off_the_pages(copy: Copy, tmp_path: Path) -> None:
    """Neither torch's profiler nor its search for a compiler fails a page.

    The profiler of a CUDA build without a driver is stood in for by its own rule: it logs below
    Python, to the descriptor of standard error, unless its log level forbids it.
    """
    nvcc = tmp_path / "cuda" / "bin" / "nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text("#!/bin/sh\n")
    nvcc.chmod(0o755)
    code = """import os, torch.utils.benchmark
if int(os.environ.get("KINETO_LOG_LEVEL", 1)) < 5:
    os.write(2, b"ERROR:2026-01-01 gpuGetDeviceCount failed with code 35")
if int(os.environ.get("KINETO_LOG_LEVEL", 1)) < 99:
    os.write(2, b"USDT: provider unavailable")"""
    copy.write("noise", f"# Noise\n\n{CELL.format(options='', code=code)}")
    path = f"{nvcc.parent}{os.pathsep}{os.environ['PATH']}"
    built = copy.run_anew(*SPHINX, PATH=path, CUDA_PATH=str(nvcc.parent.parent))
    assert (built.returncode, built.stderr) == (0, "")


def test_an_ordinary_build_is_nearly_silent(copy: Copy) -> None:
    """A line for each page with its time, the total and the address; nothing on standard error."""
    built = copy.run_anew(*SPHINX)
    assert built.stderr == ""
    lines = built.stdout.splitlines()
    assert len(lines) == 3, lines
    assert re.fullmatch(r" +\d+\.\d s  index", lines[0])
    assert re.match(r" +\d+\.\d s  code of all 1 pages", lines[1])
    assert (copy.root / "build" / "html" / "index.html").as_uri() in lines[2]


def test_a_cell_that_never_ends_fails_the_build(copy: Copy) -> None:
    """The cell is named, and why it was stopped."""
    copy.write("endless", f"# Endless\n\n{CELL.format(options='', code='while True: pass')}")
    built = copy.run(*SPHINX, "-D", "nb_execution_timeout=3")
    assert built.returncode != 0
    assert "endless.md:14: WARNING: this cell failed: it ran for too long" in built.stderr


def test_a_page_whose_kernel_dies_is_named_in_every_build(copy: Copy) -> None:
    """Whether it was to run beside others or not."""
    copy.write("dead", f"# Dead\n\n{CELL.format(options='', code='import os; os._exit(3)')}")
    copy.write("second", f"# Second\n\n{STAMP}")
    for _ in range(2):
        built = copy.build()
        assert built.returncode != 0
        assert "docs/dead.md" in built.stderr
        assert "Kernel died" in built.stderr
