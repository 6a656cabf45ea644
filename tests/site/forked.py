"""Run Python modules in forks of this process, which has imported what a small build waits for.

Each line of standard input is JSON with the arguments of a module, its environment and its folder.
The answer is a line of JSON with its exit code, its standard output and its standard error.
"""

import asyncio
import gc
import json
import os
import runpy
import socket
import sys
from contextlib import contextmanager
from multiprocessing import get_context
from tempfile import TemporaryFile
from types import SimpleNamespace

import ipykernel.kernelapp  # noqa: F401
import jupyter_cache.cache.main  # noqa: F401
import myst_nb.sphinx_ext  # noqa: F401
import nbclient  # noqa: F401
import sphinx.cmd.build  # noqa: F401
import sphinx_book_theme  # noqa: F401
import torch._dynamo  # noqa: F401

FORK = get_context("fork")
FOLDERS = sys.path[1:]  # of modules, without this file's


def main():
    """Run one module after the other until standard input ends."""
    gc.freeze()  # else a collection in a fork copies all pages of memory that it shares
    for line in sys.stdin:
        with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            process = FORK.Process(target=run_module, args=(out, err, *json.loads(line)))
            process.start()
            process.join()
            texts = [file.seek(0) or file.read() for file in (out, err)]
        print(json.dumps([process.exitcode, *texts]), flush=True)


def run_module(out, err, arguments, environment, folder):
    """Run a module as ``python -m`` does; a build forks its kernels from this process, too."""
    become({1: out.fileno(), 2: err.fileno()}, environment)
    os.chdir(folder)
    sys.path.insert(0, f"{folder}/docs")
    from _extensions.run import kernel

    kernel.fork_server = fork_server
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


def become(streams, environment):
    """Replace the standard streams, the environment and the folders of modules."""
    for number, descriptor in streams.items():
        os.dup2(descriptor, number)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:] = [*environment["PYTHONPATH"].split(os.pathsep), *FOLDERS]
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))


@contextmanager
def fork_server(environment, _has_many_pages):
    """Run the server of kernels in a fork, and yield its streams."""
    ours, theirs = socket.socketpair()
    process = FORK.Process(target=run_server, args=(theirs, ours, environment))
    process.start()
    theirs.close()
    with ours, ours.makefile("w") as stdin, ours.makefile() as stdout:
        stdout.readline()
        yield SimpleNamespace(stdin=stdin, stdout=stdout)


def run_server(connection, other_end, environment):
    """Answer as ``fork_server.py`` does."""
    from _extensions.run.forked_kernel import SCRIPT

    asyncio._set_running_loop(None)  # that of the build
    asyncio.set_event_loop(None)
    os.setsid()
    other_end.close()  # else this process would wait for itself
    number = connection.fileno()
    sys.stdin = os.fdopen(number)
    become({1: number, 2: os.open(os.devnull, os.O_WRONLY)}, environment)
    sys.modules.pop("sitecustomize", None)
    sys.path.insert(0, "")  # which the script removes
    runpy.run_path(str(SCRIPT), run_name="__main__")


if __name__ == "__main__":
    main()
