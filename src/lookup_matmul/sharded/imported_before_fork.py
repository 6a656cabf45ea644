"""What the fork server imports, once, so that none of its copies waits for it; and how it ends."""

import atexit
import os
import shutil
import signal
import sys
from multiprocessing import forkserver
from pathlib import Path
from typing import NoReturn

import torch.distributed.tensor.debug
import torch.distributed.tensor.parallel  # noqa: F401


def _leave_nothing_behind() -> None:
    """See to it that the server removes the folder of its socket, however its owner ends.

    A Jupyter kernel that is shut down terminates its children and is then killed; one that is
    restarted is killed at once, with all that is in its session. So the server gets a session of
    its own, notices that its owner is gone, and removes what that would have removed.
    """
    os.setsid()
    signal.signal(signal.SIGTERM, _exit)
    atexit.register(_remove_listener)


def _exit(*_: object) -> NoReturn:
    sys.exit(0)


def _remove_listener() -> None:
    address = getattr(forkserver._forkserver, "_forkserver_address", None)
    if isinstance(address, str) and Path(address).parent.name.startswith("pymp-"):
        shutil.rmtree(Path(address).parent, ignore_errors=True)


if "multiprocessing.forkserver" in sys.orig_argv[-1]:  # any other process only reads this
    _leave_nothing_behind()
