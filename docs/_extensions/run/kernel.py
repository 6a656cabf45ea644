"""Starts every page's kernel alike, whatever the user's own settings, and keeps foreign noise away.

The noise is that of machines with torch's CUDA build and no driver: it says nothing about a page,
and standard error of a cell stops the build.
"""

import os
import shutil
from pathlib import Path

from sphinx.application import Sphinx

from run.kernel_forks import WAITING, use_forks

CONFIG = Path(__file__).parent / "ipython_kernel_config.py"
QUIET = {
    "KINETO_LOG_LEVEL": "99",  # torch's profiler looks for a GPU and logs that there is none
    "CUDA_HOME": "",  # torch.utils.cpp_extension logs a compiler without a driver,
    "CUDA_PATH": "",  # wherever it finds one
}


def begin() -> None:
    """Set the environment of all kernels, and start what they are forked from."""
    os.environ.update(QUIET | WAITING)
    use_forks()


def prepare(app: Sphinx) -> None:
    """Prepare the profile of a build's kernels."""
    use_profile(Path(app.outdir).parent / "ipython")


def use_profile(home: Path) -> None:
    """Give the kernels that will be started a profile of their own."""
    profile = home / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(CONFIG, profile / CONFIG.name)
    os.environ["IPYTHONDIR"] = str(home)


def setup(app: Sphinx) -> dict[str, bool]:
    """Begin at once, since Sphinx imports for seconds too; connect to the start of the build."""
    begin()
    app.connect("builder-inited", prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
