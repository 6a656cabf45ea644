"""A copy of the project's sources that tests can change and build."""

import atexit
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

from _extensions.run.settings import QUIET
from served import ROOT, SOURCES

OPTIONS = "--quiet -n -W --keep-going -d build/doctrees -b html"
SPHINX = ["sphinx", *OPTIONS.split(), "docs", "build/html"]
COPIED = ("docs", "src", "constraints.txt", "pyproject.toml", "version.py", "README.md", "LICENSE")
META = "myst:\n  html_meta:\n    description: A page.\n"
HEAD = f"---\nfile_format: mystnb\nkernelspec:\n  name: python3\n{META}---\n\n"
PROSE = f"---\n{META}---\n\n"
# A cell whose output shows when it ran.
STAMP = """```{code-cell} ipython3
import time
print("stamp", time.time_ns())
```
"""
TOCTREE = "\n```{toctree}\n:glob:\n\n*\n```\n"
LIMIT_S = 900  # for what takes seconds, unless the machine is very busy


def cell(code, options=""):
    return f"```{{code-cell}} ipython3\n{options}{code}\n```\n"


def environment(paths, **variables):
    """Return the variables of a process that finds modules in these folders first."""
    # With this variable, kernels do not capture what libraries write to standard error.
    inherited = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    python_path = os.pathsep.join(map(str, paths))
    return inherited | {"PYTHONPATH": python_path, "PYTHONDONTWRITEBYTECODE": "1"} | variables


def run_forked(root, paths, *command, **variables):
    """Run a module of a project in a process that :mod:`forked` forks; return what is completed."""
    server = start_server()
    request = [command, environment(paths, **variables), str(root)]
    print(json.dumps(request), file=server.stdin, flush=True)
    return subprocess.CompletedProcess(command, *json.loads(server.stdout.readline()))


@cache
def start_server():
    """Start the process that forks builds, and end it with this one."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("forked.py"))],
        env=os.environ | QUIET,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    atexit.register(process.communicate)
    return process


class Copy:
    """A copy of the project's sources without pages but those named.

    With ``bare``, extensions that neither run nor check pages are left out: these are most of the
    time of a small build.
    """

    def __init__(self, root, *names, bare=False):
        self.root = root
        root.mkdir(exist_ok=True)
        for name in COPIED:
            if (ROOT / name).is_dir():
                ignore = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, root / name, ignore=ignore)
            else:
                shutil.copy(ROOT / name, root)
        self.edit("docs/conf.py", "nb_execution_timeout = 120", f"nb_execution_timeout = {LIMIT_S}")
        self.edit("docs/_extensions/run/kernel.py", "START_S = 120", f"START_S = {LIMIT_S}")
        if bare:
            modules = tuple(f"_extensions.{name}" for name in ("html", "notebooks", "search"))
            steps = f"[step for step in EVENTS if not step[2].__module__.startswith({modules})]"
            setup = "def setup(app: Sphinx)"
            self.edit("docs/_extensions/__init__.py", setup, f"EVENTS = {steps}\n\n\n{setup}")
        for path in (path for name, path in SOURCES.items() if name not in names):
            (root / path.relative_to(ROOT)).unlink()

    def write(self, page, text, *, head=HEAD):
        path = self.root / "docs" / f"{page}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(head + text, "utf-8")

    def edit(self, pattern, old, new):
        """Replace text that occurs once in the one file that matches a pattern."""
        (path,) = self.root.glob(pattern)
        text = path.read_text("utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), "utf-8")

    def start(self, *command, **variables):
        """Start a Python module that imports the copy's package instead of the installed one."""
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=self.root,
            env=environment([self.root / "src"], **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Tests that a shell runs in the background would ignore an interrupt.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *command, **variables):
        """Run a module as :meth:`start` does, but in a fork, and return the completed process."""
        return run_forked(self.root, [self.root / "src"], *command, **variables)

    def build(self, *options, **variables):
        """Build the site as the sessions do, without an error or a warning."""
        built = self.run(*SPHINX, *options, **variables)
        assert (built.returncode, built.stderr) == (0, ""), built.stderr
        return built

    def fail(self, *options):
        """Build the site, which must fail."""
        built = self.run(*SPHINX, *options)
        assert built.returncode != 0, built.stdout
        return built

    def html(self, name="index"):
        """Return the text of a built page."""
        return (self.root / "build" / "html" / f"{name}.html").read_text("utf-8")

    def stamp(self, name="index"):
        """Return the output of a page's :data:`STAMP` cell."""
        return re.search(r"stamp \d+", self.html(name))[0]


def wait_for_output(process, text):
    """Wait until a process has printed a line with this text."""
    if not any(text in line for line in process.stdout):
        raise AssertionError(f"it ended before it printed {text!r}: {process.communicate()}")
