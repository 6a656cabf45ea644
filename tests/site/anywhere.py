"""Run the commands of README.md in a copy of the working tree, in a folder elsewhere.

``python tests/site/anywhere.py python3.12 python3.13`` runs them with each of these Pythons. The
path of the copy has a space and a non-ASCII letter. pip takes its indexes from the environment.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
IGNORED = shutil.ignore_patterns("build", ".nox", ".git", ".venv", "__pycache__", ".*_cache")
COMMAND = re.compile(r"^python -m pip install nox && python -m nox .*$", re.MULTILINE)

for python in sys.argv[1:]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT, copy := Path(folder, "a cløne"), ignore=IGNORED)
        subprocess.run([python, "-m", "venv", f"{folder}/env"], check=True)
        environment = os.environ | {"PATH": f"{folder}/env/bin{os.pathsep}{os.environ['PATH']}"}
        environment.pop("VIRTUAL_ENV", None)
        for command in COMMAND.findall((ROOT / "README.md").read_text("utf-8")):
            print(f"{python}: {command}", flush=True)
            subprocess.run(command, shell=True, cwd=copy, env=environment, check=True)
