"""Forks commands from a process that has imported what most of them import, so that each is quick.

``kernel_forks.py`` starts it with a listening socket, on which each connection asks for one
command ``python -m ...``, and holds its standard input: when that closes, this process ends.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
import warnings
from importlib import import_module
from typing import NoReturn, TextIO

# What a kernel finds or sets when it is new, but before modules look at it.
PARENT = {"JPY_PARENT_PID": str(os.getpid())}
os.environ.update(PARENT)
os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
# Importing these computes nothing: torch's threads would not survive a fork.
FIRST = ["ipykernel.kernelapp", "matplotlib.style", "matplotlib.figure", "torch", "scipy.sparse"]
# What a page gets by way of others, such as an optimiser: more than one page alone may need.
MORE = [
    "torch._dynamo",
    "myst_nb.sphinx_",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
]


def main() -> None:
    """Import, then fork a process for each connection, until nobody is left to ask."""
    sys.path.pop(0)  # this folder, which a page would not find otherwise
    listener = socket.socket(fileno=int(sys.argv[1]))
    gc.disable()  # it would find next to nothing, and what is frozen a fork need not copy
    load(FIRST)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # a process that ends leaves nothing behind
    count = 0
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        asked, _ = listener.accept()
        count += 1
        load(MORE if count == 2 else [])
        gc.freeze()
        with warnings.catch_warnings(action="ignore"):  # of OpenBLAS's threads, which can fork
            pid = os.fork()
        if pid == 0:
            listener.close()
            become(asked)
        asked.close()


def load(names: list[str]) -> None:
    """Import modules."""
    for name in names:
        import_module(name)


def become(asked: socket.socket) -> None:
    """Become the command that a connection asks for, and answer with process and exit code.

    The connection closes when the process has ended, however it did.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    gc.enable()
    os.setsid()
    lines = asked.makefile("rw")
    order = json.loads(lines.readline())
    for number, file in enumerate(order["files"]):
        if file:
            os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"] | PARENT)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [order["folder"], *(path for path in paths if path)]
    import_module("numpy").random.seed()  # Python's own generator begins anew in a fork
    sys.argv = order["argv"]
    print(os.getpid(), file=lines, flush=True)
    code = 1
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    leave(code, lines)


def leave(code: int, lines: TextIO) -> NoReturn:
    """End as Python does, but free nothing: what came with the fork would be copied for that."""
    if (kernels := import_module("ipykernel.kernelapp").IPKernelApp).initialized():
        # It stops threads that wait for each other, for seconds now and then; sockets close anyway.
        atexit.unregister(kernels.instance().close)
    threading._shutdown()  # type: ignore[attr-defined]  # as the forks of multiprocessing do
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    print(code, file=lines, flush=True)
    os._exit(code)


if __name__ == "__main__":
    main()
