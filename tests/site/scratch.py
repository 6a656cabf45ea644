"""A copy of the project's sources that tests can change and build."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from served import ROOT

SPHINX = [
    "sphinx",
    "--quiet",
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
ABOUT = "myst:\n  html_meta:\n    description: A page.\n"
HEAD = f"---\nfile_format: mystnb\nkernelspec:\n  name: python3\n{ABOUT}---\n\n"
PROSE = f"---\n{ABOUT}---\n\n"
# A cell whose output tells when it ran.
STAMP = """```{code-cell} ipython3
import time, torch
from lookup_matmul import one_hot_matmul
print("stamp", time.time_ns(), one_hot_matmul(torch.tensor([1]), torch.eye(2)).tolist())
```
"""
TOCTREE = "\n```{toctree}\n:glob:\n\n*\n```\n"


class Copy:
    """A copy of the project's sources that can be changed and built."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in (
            "docs",
            "src",
            "tests",
            "constraints.txt",
            "pyproject.toml",
            "README.md",
            "LICENSE",
        ):
            source = ROOT / name
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, root / name, ignore=ignore) if source.is_dir() else shutil.copy(
                source, root
            )

    def clear_pages(self, *kept: str) -> None:
        """Delete every page but those named."""
        for path in (self.root / "docs").rglob("*.md"):
            if path.relative_to(self.root / "docs").with_suffix("").as_posix() not in kept:
                path.unlink()

    def write(self, page: str, text: str, *, head: str = HEAD) -> None:
        """Write a page."""
        (self.root / "docs" / f"{page}.md").write_text(head + text, "utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace one piece of text that must be there."""
        path = self.root / name
        text = path.read_text("utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), "utf-8")

    def start(self, *command: str, **variables: str) -> subprocess.Popen[str]:
        """Start a module of Python with the copy's package instead of the installed one."""
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=self.root,
            env=self.environment(variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def environment(self, variables: dict[str, str]) -> dict[str, str]:
        """Give the environment of a command."""
        # Where this variable is set, a kernel does not catch what libraries write to standard error.
        outer = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
        own = {"PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        return outer | own | variables

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a module to its end, as :meth:`start` does."""
        process = self.start(*command, **variables)
        out, err = process.communicate()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def build(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Build the site as the sessions do."""
        return self.run(*SPHINX, **variables)

    def html(self, name: str = "index") -> str:
        """Give the text of a built page."""
        return (self.root / "build" / "html" / f"{name}.html").read_text("utf-8")

    def stamp(self, name: str = "index") -> str:
        """Give the time at which a page's stamping cell ran."""
        found = re.search(r"stamp \d+", self.html(name))
        assert found
        return found.group()
