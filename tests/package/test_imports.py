"""What the package and its instrument need to be imported, and nothing more."""

import subprocess
import sys
from pathlib import Path

import lookup_matmul

SOURCE = Path(lookup_matmul.__file__).parents[1]

BLOCKED = """
import sys
class Refuse:
    def find_spec(self, name, *_):
        if name.split(".")[0] in {names!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Refuse())
import lookup_matmul.costs, lookup_matmul.figures
"""
NEEDLESS = {"cloudpickle", "fastjsonschema", "matplotlib", "nox", "scipy", "sklearn", "sphinx"}
NEEDLESS |= {"cpuinfo", "filelock", "jsonschema", "psutil", "setuptools", "tqdm", "triton"}


def test_it_is_imported_without_what_it_does_not_need():
    """A machine that measures has torch and what torch installs, and needs no more."""
    code = BLOCKED.format(names=NEEDLESS)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=SOURCE, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
