"""Type the commands of README.md in a fresh copy of the working tree, in a folder elsewhere.

``python tests/site/anywhere.py python3.12 python3.13`` does it with those Pythons, one after another.
The folder's name has a space and a letter outside of ASCII. pip takes its indexes from the
environment, as README says.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns("build", ".nox", ".git", ".venv", "__pycache__", ".*_cache")
COMMAND = re.compile(r"^python -m pip install nox && python -m nox .*$", re.MULTILINE)

for python in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT, copy := Path(folder, "a cløne"), ignore=LEFT_OUT)
        subprocess.run([python, "-m", "venv", f"{folder}/env"], check=True)
        environment = os.environ | {"PATH": f"{folder}/env/bin{os.pathsep}{os.environ['PATH']}"}
        environment.pop("VIRTUAL_ENV", None)
        for command in COMMAND.findall((ROOT / "README.md").read_text("utf-8")):
            print(f"{python}: {command}", flush=True)
            subprocess.run(command, shell=True, cwd=copy, env=environment, check=True)
