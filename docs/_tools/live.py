"""Run sphinx-autobuild with builds that find Sphinx and torch imported: a save shows soon."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import sphinx_autobuild.__main__
import sphinx_autobuild.build

sys.path.append(str(Path(__file__).parents[1] / "_extensions"))

from run.kernel_forks import PLACE, Fork, serve


class Forking:
    """What sphinx-autobuild uses of :mod:`subprocess` to start Sphinx."""

    CalledProcessError = subprocess.CalledProcessError

    @staticmethod
    def run(command: Sequence[str], *, check: bool) -> None:
        """Run ``python -m ...`` in a fork of a Python that has imported what it needs."""
        code = Fork([*command[2:]], str(Path.cwd()), os.environ, [os.devnull]).wait()
        if check and code:
            raise subprocess.CalledProcessError(code, command)


if __name__ == "__main__":
    if sys.platform == "linux":
        os.environ[PLACE] = serve()  # for the kernels of its builds too
        sphinx_autobuild.build.subprocess = Forking
    sphinx_autobuild.__main__.main()
