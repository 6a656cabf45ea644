"""Type the commands of README.md in a fresh copy of the working tree, in a folder elsewhere.

``python tests/site/anywhere.py python3.12 python3.13`` does it with those Pythons, one after another;
without a name, with the Python that runs this. The folder's name has a space and a letter outside
of ASCII. pip takes its indexes from the environment, as README says.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns("build", ".nox", ".git", ".venv", "__pycache__", ".*_cache")


def commands() -> list[str]:
    """Return the lines of README.md that a new user types, in their order."""
    readme = (ROOT / "README.md").read_text("utf-8")
    return re.findall(r"^python -m pip install nox && python -m nox .*$", readme, re.MULTILINE)


def type_in(python: str, folder: Path) -> list[dict[str, object]]:
    """Run each command as a new user of ``python`` would, and say how it went."""
    copy = folder / "a cløne"
    shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
    subprocess.run([python, "-m", "venv", folder / "env"], check=True)
    path = f"{folder / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    environment.pop("VIRTUAL_ENV", None)
    rows = []
    for command in commands():
        log, start = folder / "log", time.perf_counter()
        with log.open("w") as out:
            ended = subprocess.run(
                command, shell=True, cwd=copy, env=environment, stdout=out, stderr=out, check=False
            )
        lines = log.read_text("utf-8", "replace").splitlines()
        if ended.returncode:
            print(*lines[-40:], sep="\n")
        rows.append(
            {
                "python": _first_line(python, "--version"),
                "torch": _torch(copy),
                "command": command.partition("&& ")[2],
                "exit": ended.returncode,
                "minutes": f"{(time.perf_counter() - start) / 60:.1f}",
                "lines": len(lines),
            }
        )
    return rows


def _torch(copy: Path) -> str:
    found = sorted((copy / ".nox").glob("*/bin/python"))
    code = "import torch; print(torch.__version__)"
    return _first_line(str(found[0]), "-c", code) if found else "none"


def _first_line(*call: str) -> str:
    printed = subprocess.run(call, capture_output=True, text=True, check=False).stdout
    return printed.strip().partition("\n")[0] or "not found"


def main(pythons: list[str]) -> int:
    """Print a table with a row for each command; the exit code is 1 if one failed."""
    rows = []
    for python in pythons or [sys.executable]:
        with tempfile.TemporaryDirectory() as folder:
            rows += type_in(python, Path(folder))
    print(" | ".join(rows[0]))
    for row in rows:
        print(" | ".join(map(str, row.values())))
    return int(any(row["exit"] for row in rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
