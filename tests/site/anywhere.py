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


def type_in(python: str, folder: Path) -> bool:
    """Run each command as a new user of ``python`` would, and tell whether all went well."""
    shutil.copytree(ROOT, copy := folder / "a cløne", ignore=LEFT_OUT)
    subprocess.run([python, "-m", "venv", folder / "env"], check=True)
    path = f"{folder / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path}
    environment.pop("VIRTUAL_ENV", None)
    for command in commands():
        start = time.perf_counter()
        ended = subprocess.run(command, shell=True, cwd=copy, env=environment, check=False)
        minutes = (time.perf_counter() - start) / 60
        print(f"{python}: {command}: exit {ended.returncode} after {minutes:.1f} minutes")
        if ended.returncode:
            return False
    return True


def main(pythons: list[str]) -> int:
    """Try each Python; the exit code is 1 if a command failed."""
    went = []
    for python in pythons or [sys.executable]:
        with tempfile.TemporaryDirectory() as folder:
            went.append(type_in(python, Path(folder)))
    return int(not all(went))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
