"""Forks kernels from a process that has imported what most pages import: each is there at once.

``kernel_forks.py`` starts it with one end of a socket, asks by a line for each kernel, and closes
the socket when the build ends; then this process ends, and every kernel that is left with it.
"""

import json
import os
import signal
import socket
import sys
import warnings
from importlib import import_module
from typing import NoReturn

# What a new kernel finds or sets, but before modules look at it.
PARENT = {"JPY_PARENT_PID": str(os.getpid())}
os.environ.update(PARENT)
os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
# Importing these computes nothing: torch's threads would not survive a fork.
FIRST = ["ipykernel.kernelapp", "matplotlib.style", "matplotlib.figure", "torch", "scipy.sparse"]
# What a page gets by way of others, such as an optimiser: more than one page alone may need.
MORE = ["torch._dynamo", "myst_nb", "sklearn.feature_extraction.text", "sklearn.linear_model"]


def main() -> None:
    """Import, then fork a kernel for each line, and answer with the number of its process."""
    sys.path.pop(0)  # this folder, which a page would not find otherwise
    with socket.socket(fileno=int(sys.argv[1])) as asked, asked.makefile("rw") as lines:
        load(FIRST)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a kernel that ends leaves nothing behind
        for count, line in enumerate(lines):
            load(MORE if count == 1 else [])
            with warnings.catch_warnings(action="ignore"):  # of OpenBLAS's threads, which can fork
                pid = os.fork()
            if pid == 0:
                os.close(asked.detach())
                be_kernel(**json.loads(line))
            print(pid, file=lines, flush=True)


def load(names: list[str]) -> None:
    """Import modules."""
    for name in names:
        import_module(name)


def be_kernel(argv: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Become the kernel that the command would have started."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment | PARENT)
    import_module("numpy").random.seed()  # Python's own begins anew in a fork
    sys.argv = argv
    import_module("ipykernel.kernelapp").launch_new_instance()
    sys.exit()


if __name__ == "__main__":
    main()
