"""A failed build names page, line and reason, again in each build until they are fixed."""

import asyncio
import os
import re
import signal
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from _extensions.page_record import Run, read_page
from _extensions.run import forked_kernel, guard
from _extensions.run.kernel import prepare_kernels, run_page
from _extensions.run.pages import store_execution
from filelock import FileLock, Timeout
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.v4 import new_code_cell, new_notebook
from scratch import HEAD, LIMIT_S, PROSE, SPHINX, STAMP, TOCTREE, Copy, cell, wait_for_output


def prose_page(front_matter):
    """Return a page with this front matter and no other mistake."""
    return f"---\n{front_matter}---\n\n# Page\n\nProse.\n"


def raising(code, expected, tags="raises-exception"):
    """Return a cell that is expected to raise an IndexError with this message."""
    return cell(code, f':tags: [{tags}]\n:expect: "IndexError: {expected}"\n')


# Mistakes that do not stop a page, so that all are on one page: the text, and the reason, which is
# printed in one line with the page and the line.
OUT_OF_RANGE = "found 'IndexError: list index out of range'"
MISTAKES = [
    (raising("1 + 1", "x"), "expected 'IndexError: x', found no error"),
    (raising("[][0]", "x"), f"expected 'IndexError: x', {OUT_OF_RANGE}"),
    (raising("[][0]", "list", "raises-exception, whole"), f"'IndexError: list', {OUT_OF_RANGE}"),
    (raising("assert bool(get_ipython())\n[][0]", "list"), "raise could fail unseen"),
    (cell("[][0]", ":tags: [raises-exception]\n"), 'add `:expect: "IndexError: list index out'),
    (cell("1 == 2", ":tags: [check]\n"), "tagged check and nothing in it can fail"),
    (cell("assert bool(get_ipython())"), "only checks; tag it check"),
    (cell("1 + 1", ':expect: "IndexError: x"\n'), "without the tag raises-exception"),
    (cell("x = 1\nassert x == 1", ":tags: [remove-cell]\n"), "checks, and no reader can open it"),
    (cell('import sys\nprint("oops", file=sys.stderr)'), "readers would see: 'oops'"),
    (cell('import os\nos.write(2, b"from below\\n");'), "readers would see: 'from below'"),
    (cell("import sys\nsys.stdout = None"), "sys.stdout was replaced; use contextlib"),
    (cell("import torch\ntorch.rand(3)"), "rand draws other numbers in each build"),
    ("![](_static/lookup.svg)\n", "no alternative text: _static/lookup.svg"),
    (
        cell("from IPython.display import HTML\nHTML('<img src=\"a.png\">')"),
        "no alternative text: <img",
    ),
    ("[nowhere](nowhere.md)\n", "cross-reference target not found: 'nowhere.md'"),
    ("{func}`lookup_matmul.nothing`\n", "py:func reference target not found"),
]
ON_A_SERVER = "from multiprocessing.connection import Client\nClient(('192.0.2.1', 80))"
NO_NETWORK = "RuntimeError: a page runs without a network and cannot reach"
NO_PROGRAM = "RuntimeError: a page cannot start"
# Pages whose cells stop them: the code, and the error.
FAILED_CELLS = {
    "no-python": (cell("x = = 1"), "SyntaxError"),
    "false": (cell("assert not get_ipython(), 41 + 1"), "AssertionError: 42"),
    "below": (cell("1 / 0") + "\n" + raising("[][0]", "never judged"), "ZeroDivisionError"),
    "left-file": (cell('open("a file", "w").close()'), "RuntimeError: it left a file behind"),
    "error-before-cleanup": (cell('open("a", "w").close()\n1 / 0'), "ZeroDivisionError"),
    "large": (cell('print("x" * 10_000_000)'), "RuntimeError: its output has 10,000,0"),
    "by-name": (cell('import smtplib\nsmtplib.SMTP("a.example")'), f"{NO_NETWORK} a.example"),
    "by-number": (cell(ON_A_SERVER), f"{NO_NETWORK} 192.0.2.1"),
    "shell-line": (cell("!curl --version"), f"{NO_PROGRAM} a shell"),
    "shell-cell": (cell("%%bash\ncurl --version"), f"{NO_PROGRAM} bash"),
    "program": (
        cell('import subprocess\nsubprocess.run(["curl", "--version"])'),
        f"{NO_PROGRAM} curl",
    ),
    "not-required": (
        cell('__import__("tinycss2")'),
        "ModuleNotFoundError: No module named 'tinycss2'",
    ),
    "system": (cell('import os\nos.system("curl --version")'), f"{NO_PROGRAM} curl --version"),
}
DIED = "DeadKernelError: Kernel died"
TITLE = f"{HEAD}# Page\n\n"
# All pages that a mistake stops: the text, and the reason.
STOPPED = {
    name: (TITLE + text, f"this cell failed: {error}")
    for name, (text, error) in FAILED_CELLS.items()
} | {
    "dead": (TITLE + cell("import os; os._exit(3)"), DIED),
    "segfault": (TITLE + cell("import ctypes; ctypes.string_at(0)"), DIED),
    "no-title": (f"{PROSE}Prose.\n\n## A section\n", "the page has no title"),
    "option": (TITLE + cell("x = 1", ":tags: [a\n"), "could not be read: Invalid options format"),
    "tags": (TITLE + cell("x = 1", ":tags: check\n"), "in a cell's `tags`, 'check' is not of type"),
    "no-yaml": (prose_page("a: [\n"), ":3: WARNING: the front matter is not YAML"),
    "no-map": (prose_page("a: b\nc: d: e\nf: g\n"), ":3: WARNING: the front matter is not YAML"),
    "list": (prose_page("- a\n"), "the front matter is ['a'], expected names with values"),
    "words": (prose_page("only words\n"), "the front matter is 'only words', expected names"),
    "excused": (prose_page("excused: [source]\n"), "`excused` is ['source'], expected rules"),
    "kernel": (HEAD.replace("python3", "julia") + cell("1"), "`kernelspec` is {'name': 'julia'"),
}


@pytest.fixture
def copy(tmp_path):
    """Return a copy with two pages without mistakes: the index, and one without code."""
    copy = Copy(tmp_path, bare=True)
    copy.write("index", f"# Index\n\n{STAMP}{TOCTREE}")
    copy.write("plain", "# Plain\n\nProse.\n", head=PROSE)
    return copy


# A page that needs a variable, and writes to standard error as the profiler of a CUDA build without
# a driver does. IPython and Matplotlib keep their files in a temporary folder.
ENVIRONMENT = """import os
tool = os.environ["TOOL_PATH"]
import matplotlib.pyplot as plt, torch.utils.benchmark
figure = plt.figure()
if int(os.environ.get("KINETO_LOG_LEVEL", 1)) < 5:
    os.write(2, b"ERROR:2026-01-01 gpuGetDeviceCount failed with code 35")
if int(os.environ.get("KINETO_LOG_LEVEL", 1)) < 99:
    os.write(2, b"USDT: provider unavailable")
tool"""


def test_every_build_names_each_mistake_in_one_line_until_it_is_fixed(copy):
    """A mistake hides no other, and pages without mistakes are not executed again.

    The mistake of the page ``tool`` is in the environment; the last build has one in which a page
    finds neither a driver nor a home folder that can be written.
    """
    copy.write("mistakes", "# Mistakes\n\n" + "\n".join(text for text, _ in MISTAKES))
    stopped = STOPPED | {"tool": (TITLE + cell(ENVIRONMENT), "this cell failed: KeyError")}
    for name, (text, _) in stopped.items():
        copy.write(name, text, head="")
    lines = copy.fail().stderr.splitlines()
    expected = [("mistakes", reason) for _, reason in MISTAKES]
    expected += [(name, reason) for name, (_, reason) in stopped.items()]
    for name, reason in expected:
        matches = [text for text in lines if f"/{name}.md:" in text and reason in text]
        assert len(matches) == 1, (name, reason, lines)
    assert not [
        line
        for line in lines
        if not line.startswith("    ")
        and not any(f"/{name}.md:" in line and reason in line for name, reason in expected)
    ]
    for name in ("mistakes", "false", "below"):
        assert 'class="tick"' not in copy.html(name), "a check that failed or never ran has a tick"
    stamp = copy.stamp()
    assert sorted(copy.fail().stderr.splitlines()) == sorted(lines)
    for name in ("mistakes", *STOPPED):
        copy.write(name, f"# {name}\n\nFixed.\n", head=PROSE)
    compiler = copy.root / "cuda" / "bin" / "nvcc"
    compiler.parent.mkdir(parents=True)
    compiler.write_text("#!/bin/sh\n")
    compiler.chmod(0o755)
    path = f"{compiler.parent}{os.pathsep}{os.environ['PATH']}"
    cuda = {"PATH": path, "CUDA_PATH": str(compiler.parent.parent)}
    built = copy.build(HOME="/proc", TOOL_PATH="installed", **cuda)
    assert re.findall(r" s  (\S+)$", built.stdout, re.MULTILINE) == ["tool"]
    assert "installed" in copy.html("tool")
    assert copy.stamp() == stamp, "a page without mistakes was executed again"


def test_a_page_in_another_encoding_stops_the_build(copy):
    """The error names the page and the line."""
    (copy.root / "docs" / "page.md").write_bytes(b"# Page\n\nNo\xe9\n")
    pattern = r"docs/page\.md:3: .*byte 0xe9.*; save the page as UTF-8"
    assert re.search(pattern, copy.fail().stderr)


def test_an_error_in_a_late_step_fails_the_build_and_the_next(copy):
    """The result names no address to open, though all pages are written."""
    step = '("build-finished", 950, guard.release_build),'
    late_step = '("build-finished", 960, lambda *_: [][0]),'
    copy.edit("docs/_extensions/__init__.py", step, f"{step} {late_step}")
    for _ in range(2):
        built = copy.fail()
        assert "list index out of range" in built.stderr
        assert "Open" not in built.stdout
    copy.edit("docs/_extensions/__init__.py", late_step, "")
    assert copy.build().stdout.startswith("Open ")


def test_a_cell_that_does_not_end_is_stopped_and_named(copy):
    """The time limit is that of Sphinx's configuration."""
    copy.write("index", f"# Index\n{TOCTREE}", head=PROSE)
    copy.write("endless", "# Endless\n\n" + cell("import time\ntime.sleep(3000)"))
    built = copy.fail("-D", "nb_execution_timeout=1")
    (line,) = [line for line in built.stderr.splitlines() if ".md:" in line]
    assert re.search(r"endless\.md:14: .*it ran for too long, more than 1 s", line)


def test_a_build_waits_for_another_and_leaves_nothing_when_it_is_interrupted(copy):
    """Neither processes nor files; pages that had been executed are not executed again."""
    code = (
        "import os, subprocess, sys, time\n"
        'child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3000)"])\n'
        'open("{file}", "w").write(f"{{os.getpid()}} {{child.pid}}")\n'
        "time.sleep(3000)"
    )
    temporary = copy.root / "temporary"
    temporary.mkdir()
    for name in "abcde":
        copy.write(name, f"# {name}\n\n{cell(code.format(file=copy.root / f'pids-{name}'))}")
    lock = copy.root / "build" / "build.lock"
    lock.parent.mkdir()
    index = f"# {'long, so that it runs first ' * 20}\nfrom filelock import FileLock, Timeout\n\n"
    index += f"try:\n    FileLock('{lock}', timeout=0).acquire()\n    is_held = False\n"
    index += "except TimeoutError:\n    is_held = True\nprint('held:', is_held)"
    copy.write("index", f"# Index\n\n{cell(index)}{TOCTREE}")
    compiled = str(copy.root / "compiled")  # what torch compiles is kept for the next build
    with FileLock(lock):
        process = copy.start(*SPHINX, TMPDIR=str(temporary), TORCHINDUCTOR_CACHE_DIR=compiled)
        wait_for_output(process, "Another build is writing to")
    wait_for_output(process, " s  index")
    wait_until(lambda: any(path.read_text() for path in copy.root.glob("pids-*")))
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, stderr.strip()) == (2, "Interrupted!")
    pids = [int(pid) for path in copy.root.glob("pids-*") for pid in path.read_text().split()]
    wait_until(lambda: not any(map(is_running, pids)))
    assert len(pids) < 10, "a page was started after the interrupt"
    assert list(temporary.iterdir()) == []
    for name in "abcde":
        copy.write(name, f"# {name}\n", head=PROSE)
    assert " s  index" not in copy.build().stdout
    assert "held: True" in copy.html()


@pytest.fixture(scope="module")
def kernels():
    """Return kernels that are ready to be started."""
    with prepare_kernels() as kernels:
        yield kernels


@pytest.mark.parametrize("raised", [None, DeadKernelError("Kernel died")])
def test_a_cancelled_page_ends_as_cancelled(raised, kernels, tmp_path, monkeypatch):
    """It does so even if nbclient returns from a cell, or takes the kernel for dead."""
    path = tmp_path / "page.md"
    path.write_text(f"{HEAD}# Page\n\n{cell('1')}\n{cell('2')}", "utf-8")
    page = read_page(path, "page")

    async def scenario():
        started = asyncio.Event()

        async def execute_cell(_client, _cell, _index, _count):
            if not started.is_set():
                started.set()
                try:
                    await asyncio.sleep(LIMIT_S)
                except asyncio.CancelledError:
                    if raised:
                        raise raised from None

        monkeypatch.setattr(NotebookClient, "async_execute_cell", execute_cell)
        task = asyncio.create_task(run_page(page, kernels, LIMIT_S))
        await started.wait()
        task.cancel()
        await asyncio.wait([task])
        return task

    assert asyncio.run(scenario()).cancelled()


def test_a_page_names_the_server_that_cannot_start(tmp_path, monkeypatch):
    """The command in the message shows the error, such as that of a broken torch."""
    monkeypatch.setattr(forked_kernel, "SCRIPT", tmp_path / "missing.py")
    (tmp_path / "page.md").write_text(f"{HEAD}# Page\n\n{cell('1')}", "utf-8")
    page = read_page(tmp_path / "page.md", "page")
    with prepare_kernels() as kernels:
        kernels.server.wait()  # it has ended before the first line is written to it
        assert not asyncio.run(run_page(page, kernels, LIMIT_S))
    message = page.cells[-1].outputs[-1].evalue
    assert message == f"no kernel can start; `python {tmp_path / 'missing.py'}` shows why"


def is_running(pid):
    """Return whether a process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition):
    """Wait until a function returns true."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize(("pattern", "size"), [("*/base.ipynb", 200), ("global.db", 5000)])
def test_a_cache_that_a_killed_build_damaged_is_removed(pattern, size, tmp_path):
    """A kill can cut off a notebook or the database."""
    cache, app = tmp_path / "executed", Mock(doctreedir=tmp_path / "doctrees")
    app.config.nb_execution_cache_path = str(cache)
    notebook = new_notebook(cells=[new_code_cell("1" * 1000, outputs=[])])
    store_execution(notebook, "page.md", str(cache), Run())
    app.config.language = "en"
    (tmp_path / "unfinished-html-en").touch()  # as a killed build leaves it
    for is_damaged in (False, True):
        if is_damaged:
            (path,) = cache.rglob(pattern)
            path.write_bytes(path.read_bytes()[:size])
        guard.lock_build(app, app.config)
        app.lookup_locks[0].release()
        assert cache.exists() is not is_damaged


def test_a_translation_is_read_but_not_written_beside_the_english_build(tmp_path):
    """It is written into a folder of the English site."""
    app = Mock(doctreedir=tmp_path / "doctrees-zh")
    app.config.language = "zh_CN"
    with FileLock(tmp_path / "build.lock"):
        guard.lock_build(app, app.config)
        site_lock, _ = app.lookup_locks
        with pytest.raises(Timeout):
            site_lock.acquire(timeout=0)
    guard.lock_site(app)
    assert site_lock.is_locked
    guard.release_build(app, RuntimeError("the build failed"))
    assert not any(lock.is_locked for lock in app.lookup_locks)
