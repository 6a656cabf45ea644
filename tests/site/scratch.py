"""A copy of the project's sources that tests can change and build."""

import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial

from served import ROOT, SOURCES

OPTIONS = "--quiet -n -W --keep-going -d build/doctrees -b html"
SPHINX = ["sphinx", *OPTIONS.split(), "docs", "build/html"]
COPIED = ("docs", "src", "constraints.txt", "pyproject.toml", "README.md", "LICENSE")
ABOUT = "myst:\n  html_meta:\n    description: A page.\n"
HEAD = f"---\nfile_format: mystnb\nkernelspec:\n  name: python3\n{ABOUT}---\n\n"
PROSE = f"---\n{ABOUT}---\n\n"
# A cell whose output tells when it ran.
STAMP = """```{code-cell} ipython3
import time
print("stamp", time.time_ns())
```
"""
TOCTREE = "\n```{toctree}\n:glob:\n\n*\n```\n"
LIMIT_S = 900  # of what comes in seconds, unless the machine is very busy
TORCH = '    f"--IPKernelApp.exec_lines={PRINTING}",\n'


def cell(code, options=""):
    """Write a cell of code."""
    return f"```{{code-cell}} ipython3\n{options}{code}\n```\n"


class Copy:
    """A copy of the project's sources that can be changed and built.

    Its only pages are those named. A bare one leaves out of each page what is not the concern of
    running and judging it, and imports torch in the cells that do: both are most of the time of a
    small build.
    """

    def __init__(self, root, *kept, bare=False):
        self.root = root
        ignore = shutil.ignore_patterns("__pycache__")
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, root / name, ignore=ignore)
            else:
                shutil.copy(source, root)
        self.edit("docs/conf.py", "nb_execution_timeout = 120", f"nb_execution_timeout = {LIMIT_S}")
        self.edit("docs/_extensions/run/kernel.py", "START_S = 120", f"START_S = {LIMIT_S}")
        if bare:
            self.leave_out("search", "light", "notebooks")
            self.edit("docs/_extensions/run/kernel.py", TORCH, "")
        for name, path in SOURCES.items():
            if name not in kept:
                (root / path.relative_to(ROOT)).unlink()

    def leave_out(self, *rooms):
        """Build without the explorer and these rooms of extensions."""
        conf = self.root / "docs" / "conf.py"
        left = rf'^    "(explorer"|({"|".join(rooms)})": \[.*\]),\n'
        text, found = re.subn(left, "", conf.read_text("utf-8"), flags=re.MULTILINE)
        assert found == 1 + len(rooms)
        conf.write_text(text, "utf-8")
        if "light" in rooms:
            self.edit("docs/conf.py", 'html_math_renderer = "mathml"\n', "")

    def write(self, page, text, *, head=HEAD):
        """Write a page."""
        (self.root / "docs" / f"{page}.md").write_text(head + text, "utf-8")

    def edit(self, name, old, new):
        """Replace one piece of text that must be there, in the one file that a pattern names."""
        (path,) = self.root.glob(name)
        text = path.read_text("utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), "utf-8")

    def start(self, *command, **variables):
        """Start a module of Python with the copy's package instead of the installed one."""
        # Where this variable is set, a kernel does not catch what libraries write to standard error.
        outer = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
        own = {"PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=self.root,
            env=outer | own | variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell that runs the tests in the background has them ignore an interrupt.
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *command, **variables):
        """Run a module to its end, as :meth:`start` does."""
        process = self.start(*command, **variables)
        out, err = process.communicate(timeout=LIMIT_S)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def build(self, **variables):
        """Build the site as the sessions do."""
        return self.run(*SPHINX, **variables)

    def html(self, name="index"):
        """Return the text of a built page."""
        return (self.root / "build" / "html" / f"{name}.html").read_text("utf-8")

    def stamp(self, name="index"):
        """Return the time at which a page's stamping cell ran."""
        found = re.search(r"stamp \d+", self.html(name))
        assert found
        return found.group()


def printed(process, said):
    """Wait until a process has printed a line with these words."""
    for line in process.stdout:
        if said in line:
            return
    raise AssertionError(f"it ended before it said {said!r}: {process.communicate()}")
