"""A failed build names page, line and reason, each time until it is mended, and ends when told."""

import os
import re
import signal
import time
from pathlib import Path

import pytest
from scratch import HEAD, LIMIT_S, PROSE, SPHINX, STAMP, TOCTREE, Copy, cell, wait_for_output

RAISES = ':tags: [raises-exception]\n:expect: "IndexError: {}"\n'


def headed(head):
    """Write a page with this front matter, and nothing else that is wrong."""
    return f"---\n{head}---\n\n# Page\n\nProse.\n"


# What is wrong on a page, below each other where the rest of the page is still judged: the text,
# and the reason, which stands in one line with the page and the line.
JUDGED = [
    (cell("1 + 1", RAISES.format("x")), "expected 'IndexError: x', found no error"),
    (
        cell("[][0]", RAISES.format("x")),
        "expected 'IndexError: x', found 'IndexError: list index out of range'",
    ),
    (
        cell("[][0]", RAISES.format("list index").replace("exception", "exception, whole")),
        "expected 'IndexError: list index', found 'IndexError: list index out of range'",
    ),
    (cell("[][0]", ":tags: [raises-exception]\n"), 'add `:expect: "IndexError: list index out'),
    (
        cell("assert get_ipython()\n[][0]", RAISES.format("list")),
        "is expected to raise could fail unseen",
    ),
    (cell("1 == 2", ":tags: [check]\n"), "tagged check and nothing in it can fail"),
    (cell("assert get_ipython()"), "only checks; tag it check"),
    (cell("1 + 1", ':expect: "IndexError: x"\n'), "without the tag raises-exception"),
    (cell("x = 1\nassert x == 1", ":tags: [remove-cell]\n"), "checks, and no reader can open it"),
    (cell('import sys\nprint("oops", file=sys.stderr)'), "readers would see: 'oops'"),
    (cell('import os\nos.write(2, b"from below\\n");'), "readers would see: 'from below'"),
    (cell("import sys\nsys.stdout = None"), "sys.stdout was replaced; use contextlib"),
    (cell("import torch\ntorch.rand(3)"), "rand draws other numbers in each build"),
    ("![](_static/lookup.svg)\n", "has no alternative text"),
    ("[nowhere](nowhere.md)\n", "cross-reference target not found: 'nowhere.md'"),
    ("{func}`lookup_matmul.nothing`\n", "py:func reference target not found"),
    ("{checked}`everything`\n", "'everything' is not counted"),
]
RUN = f"{HEAD}# Page\n\n"
# A page that runs no further: its text, and the reason.
STOPPED = {
    "no-python": (RUN + cell("x = = 1"), "this cell failed: SyntaxError"),
    "false": (
        RUN + cell("assert not get_ipython(), 41 + 1"),
        "this cell failed: AssertionError: 42",
    ),
    "dead": (RUN + cell("import os; os._exit(3)"), "DeadKernelError: Kernel died"),
    "segfault": (RUN + cell("import ctypes; ctypes.string_at(0)"), "DeadKernelError: Kernel died"),
    "below": (
        RUN + cell("1 / 0") + "\n" + cell("[][0]", RAISES.format("never judged")),
        "this cell failed: ZeroDivisionError",
    ),
    "no-utf8": ("# No\udce9\n", "byte 0xe9 is not UTF-8"),
    "option": (RUN + cell("x = 1", ":tags: [a\n"), "could not be read: Invalid options format"),
    "tags": (RUN + cell("x = 1", ":tags: check\n"), "in a cell's `tags`, 'check' is not of type"),
    "no-yaml": (headed("a: [\n"), "the front matter is no YAML"),
    "list": (headed("- a\n"), "the front matter is ['a'], expected names with values"),
    "words": (headed("only words\n"), "the front matter is 'only words', expected names"),
    "excused": (headed("excused: [source]\n"), "`excused` is ['source'], expected rules"),
    "kernel": (
        HEAD.replace("python3", "julia") + cell("x = 1"),
        "`kernelspec` is {'name': 'julia'",
    ),
}


@pytest.fixture
def copy(tmp_path):
    """Return a copy whose pages are right: the index, and one without code."""
    made = Copy(tmp_path, bare=True)
    made.write("index", f"# Index\n\n{STAMP}{TOCTREE}")
    made.write("plain", "# Plain\n\nProse.\n", head=PROSE)
    return made


def test_each_fault_is_named_until_it_is_mended(copy):
    """In one line, whatever fails beside it, in the second build too; what was right stays."""
    copy.write("judged", "# Judged\n\n" + "\n".join(text for text, _ in JUDGED))
    for name, (text, _) in STOPPED.items():
        (copy.root / "docs" / f"{name}.md").write_bytes(text.encode("utf-8", "surrogateescape"))
    first = copy.build()
    assert first.returncode != 0
    lines = first.stderr.splitlines()
    reasons = [("judged", reason) for _, reason in JUDGED]
    reasons += [(name, reason) for name, (_, reason) in STOPPED.items()]
    for name, reason in reasons:
        said = re.compile(rf"{name}\.md:\d+: .*{re.escape(reason)}")
        assert len([line for line in lines if said.search(line)]) == 1, (name, reason, lines)
    assert len([line for line in lines if not line.startswith("    ")]) == len(reasons)
    for name in ("judged", "false", "below"):
        assert 'class="tick"' not in copy.html(name), "a check that failed or never ran has a tick"
    right = copy.stamp()
    second = copy.build()
    assert second.returncode != 0
    assert sorted(second.stderr.splitlines()) == sorted(lines)
    for name in ("judged", *STOPPED):
        copy.write(name, f"# {name}\n\nMended.\n", head=PROSE)
    third = copy.build()
    assert (third.returncode, third.stderr) == (0, "")
    assert copy.stamp() == right, "a page that was right was executed again"


def test_a_cell_without_an_end_is_stopped(copy):
    """And named with the reason."""
    copy.write("index", f"# Index\n{TOCTREE}", head=PROSE)
    copy.write("endless", "# Endless\n\n" + cell("while True: pass"))
    built = copy.run(*SPHINX, "-D", "nb_execution_timeout=2")
    assert built.returncode != 0
    (said,) = [line for line in built.stderr.splitlines() if ".md:" in line]
    assert re.search(r"endless\.md:14: .*it ran for too long", said)


def test_an_interrupted_build_ends_and_leaves_nothing_but_what_ran(copy):
    """Its kernels and their processes are gone, and their files; no page that ran runs again."""
    waits = (
        "import os, subprocess, time\n"
        'child = subprocess.Popen(["sleep", "3000"])\n'
        'open("{file}", "w").write(f"{{os.getpid()}} {{child.pid}}")\n'
        "time.sleep(3000)"
    )
    own = copy.root / "own"
    own.mkdir()
    for name in ("a", "b", "c", "d", "e"):
        copy.write(name, f"# {name}\n\n{cell(waits.format(file=copy.root / f'pids-{name}'))}")
    copy.edit(
        "docs/index.md", "import time", f"# {'long, so that it runs first ' * 20}\nimport time"
    )
    process = copy.start(*SPHINX, TMPDIR=str(own))
    wait_for_output(process, " s  index")
    wait_for(lambda: any(path.read_text() for path in copy.root.glob("pids-*")))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, err.strip()) == (2, "Interrupted!")
    pids = [int(pid) for path in copy.root.glob("pids-*") for pid in path.read_text().split()]
    wait_for(lambda: not any(map(runs, pids)))
    assert len(pids) < 10, "a page began after the interrupt"
    assert list(own.iterdir()) == []
    for name in ("a", "b", "c", "d", "e"):
        copy.write(name, f"# {name}\n", head=PROSE)
    built = copy.build()
    assert (built.returncode, built.stderr) == (0, "")
    assert " s  index" not in built.stdout


def runs(pid):
    """Tell whether a process runs that is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(so):
    """Wait until something is so."""
    end = time.monotonic() + LIMIT_S
    while not so():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_what_a_killed_build_left_half_written_is_made_anew(copy):
    """The cache of executed pages is repaired where a kill can have damaged it."""
    assert copy.build().returncode == 0
    for name, kept in (("executed/*/base.ipynb", 200), ("global.db", 5000)):
        (damaged,) = copy.root.glob(f"build/executed/*/{name}")
        damaged.write_bytes(damaged.read_bytes()[:kept])
        (copy.root / "build" / "unfinished-html").touch()  # as a killed build leaves it
        before = copy.stamp()
        built = copy.build()
        assert (built.returncode, built.stderr) == (0, "")
        assert copy.stamp() != before


def test_the_second_of_two_builds_at_once_waits_and_says_so(copy):
    """Both end well, and the second has nothing left to execute."""
    code = """import time
from pathlib import Path
Path("../began").touch()
while not Path("../go-on").exists():
    time.sleep(0.1)"""
    copy.write("index", f"# Index\n\n{cell(code)}{TOCTREE}")
    first = copy.start(*SPHINX)
    wait_for((copy.root / "began").exists)
    second = copy.start(*SPHINX)
    wait_for_output(second, "Another build is writing to")
    (copy.root / "go-on").touch()
    ended = [process.communicate(timeout=LIMIT_S) for process in (first, second)]
    assert [first.returncode, second.returncode] == [0, 0], ended
    assert [" s  index" in out for out, _ in ended] == [True, False]


def test_noise_of_a_missing_driver_stays_off_the_pages(copy, tmp_path):
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
    copy.write("index", f"# Noise\n\n{cell(code)}{TOCTREE}")
    path = f"{nvcc.parent}{os.pathsep}{os.environ['PATH']}"
    built = copy.run(*SPHINX, PATH=path, CUDA_PATH=str(nvcc.parent.parent))
    assert (built.returncode, built.stderr) == (0, "")
