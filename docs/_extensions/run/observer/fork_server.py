"""Fork kernels from a process with torch, SciPy and Matplotlib, which most pages import.

Its first line of output says that it can fork. Each line of standard input is JSON with the
arguments, the environment and the folder of a kernel; the answer is a line with the number of its
process. ``forked_kernel.py`` asks.
"""

import gc
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any

import disturb  # type: ignore[import-not-found]  # noqa: F401
import ipykernel.debugger  # noqa: F401  # which each kernel imports
import matplotlib.backends.backend_svg
import matplotlib.figure
import matplotlib.style  # noqa: F401
import scipy.sparse.linalg  # noqa: F401
import sitecustomize  # type: ignore[import-not-found]
import torch._dynamo  # which the first optimizer imports
from ipykernel.kernelapp import IPKernelApp

if "--many-pages" in sys.argv:  # a single page may need neither
    import sklearn.feature_extraction.text  # type: ignore  # noqa: F401
    import torch._inductor.compile_fx  # noqa: F401  # which torch.compile imports


def main() -> None:
    """Fork a kernel for each line until standard input ends."""
    signal.signal(signal.SIGCHLD, reap)
    gc.freeze()  # else a collection in a kernel copies all pages of memory that it shares
    print("ready", flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            run_kernel(*json.loads(line))
            os._exit(0)
        os.setpgid(pid, pid)  # signals reach the processes that a page starts, too
        print(pid, flush=True)


def reap(_signal: int, _frame: Any) -> None:
    """Remove kernels that have ended, and count their CPU time as that of children."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def run_kernel(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Run a kernel as if this process had been started for it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sitecustomize.observe()
    # A kernel ends with its parent.
    IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={os.getppid()}"])


if __name__ == "__main__":
    del sys.path[0]  # PYTHONPATH has this folder already
    main()
