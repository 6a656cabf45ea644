"""Lets Jupyter's client ask ``kernel_server.py`` for kernels instead of starting a Python for each.

A Python that imports torch takes seconds, a fork of one that has none; a page sees no difference.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

SERVER = Path(__file__).with_name("kernel_server.py")
PLACE = "LOOKUP_FORKS"  # the variable with the address of a server that is already there
NAME = "forks"
# Threads of torch that wait by turning keep another page's from the cores, up to ten times as long.
# Pages that measure do it with one thread, which waits for none.
WAITING = {"OMP_WAIT_POLICY": "PASSIVE"}
STARTING = threading.Lock()
HELD: list[object] = []  # a server and its folder, until this process ends


def serve(**variables: str) -> str:
    """Start a server that ends with this process, unless it is there, and give its address.

    What torch reads while it is imported, such as its number of threads, a fork cannot change: it
    is given here, and the server is then another one.
    """
    with STARTING:
        return (not variables and os.environ.get(PLACE)) or _serve(**variables)


@cache
def _serve(**variables: str) -> str:
    folder = tempfile.TemporaryDirectory(prefix="lookup-forks-")
    address = str(Path(folder.name) / "socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        call = [sys.executable, str(SERVER), str(listener.fileno())]
        held = subprocess.Popen(
            call,
            env=os.environ | WAITING | variables,
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
    HELD.append((folder, held))
    return address


class Fork:
    """A process of ``python -m argv``, with what is needed of :class:`subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(
        self, argv: list[str], folder: str, environment: Mapping[str, str], files: list[str]
    ) -> None:
        self.returncode: int | None = None
        self.connection = socket.socket(socket.AF_UNIX)
        self.connection.connect(environment.get(PLACE) or serve())
        self.lines = self.connection.makefile("rw")
        order = {"argv": argv, "folder": folder, "environment": dict(environment), "files": files}
        print(json.dumps(order), file=self.lines, flush=True)
        answer = self.lines.readline()
        if not answer:
            raise RuntimeError(f"{SERVER.name} has ended; what it printed stands above.")
        self.pid = int(answer)

    def poll(self) -> int | None:
        """Give the exit code of a process that has ended."""
        if self.returncode is None and select.select([self.connection], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self) -> int:
        """Wait until it has ended, and give its exit code; that of a killed one is negative."""
        if self.returncode is None:
            said = self.lines.readline()
            self.connection.recv(1)  # nothing, and only when it has ended
            self.lines.close()
            self.connection.close()
            self.returncode = int(said) if said else -signal.SIGKILL
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class Forks(LocalProvisioner):
    """What Jupyter's client asks for a kernel."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        """Fork a kernel."""
        folder = str(options.get("cwd") or Path.cwd())
        fork = Fork(cmd[2:], folder, options["env"], [os.devnull])
        self.process = fork  # type: ignore[assignment]  # it stands in for a Popen
        self.pid = self.pgid = fork.pid
        return self.connection_info


def use_forks() -> None:
    """Have every kernel of this process forked, where forking is safe."""
    if sys.platform == "linux":
        serve()
        factory = KernelProvisionerFactory.instance()
        group = KernelProvisionerFactory.GROUP_NAME
        factory.provisioners[NAME] = EntryPoint(NAME, f"{__name__}:{Forks.__name__}", group)
        factory.default_provisioner_name = NAME
