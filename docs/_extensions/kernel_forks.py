"""Lets Jupyter's client ask ``kernel_server.py`` for kernels instead of starting a Python for each.

A Python that imports torch takes seconds; a fork of one that has, none. A page sees no difference.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, TextIO

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

SERVER = Path(__file__).with_name("kernel_server.py")
ASKING = threading.Lock()
NAME = "forks"


@cache
def server() -> TextIO:
    """Start the server and give the socket on which it is asked."""
    mine, its = socket.socketpair()
    call = [sys.executable, str(SERVER), str(its.fileno())]
    subprocess.Popen(
        call, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
    )
    its.close()
    return mine.makefile("rw")


class Fork:
    """A kernel's process, with what Jupyter's client uses of :class:`subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, argv: list[str], folder: str, environment: dict[str, str]) -> None:
        asked = {"argv": argv, "folder": folder, "environment": environment}
        with ASKING:
            print(json.dumps(asked), file=server(), flush=True)
            answer = server().readline()
        if not answer:
            raise RuntimeError(f"{SERVER.name} has ended; what it printed stands above.")
        self.pid = int(answer)

    def poll(self) -> int | None:
        """Tell whether it has ended; how, only its parent knows."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 1
        return None

    def wait(self) -> int:
        """Wait until it has ended."""
        while self.poll() is None:
            time.sleep(0.01)
        return 1

    def send_signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class Forks(LocalProvisioner):  # type: ignore[misc]  # Jupyter's client says nothing of its types
    """What Jupyter's client asks for a kernel."""

    async def launch_kernel(self, cmd: list[str], **options: Any) -> KernelConnectionInfo:
        """Fork a kernel."""
        self.process = Fork(cmd[2:], str(options.get("cwd") or Path.cwd()), options["env"])
        self.pid = self.pgid = self.process.pid
        return self.connection_info


def use_forks() -> None:
    """Have every kernel of this process forked, where forking is safe."""
    if sys.platform == "linux":
        factory = KernelProvisionerFactory.instance()
        group = KernelProvisionerFactory.GROUP_NAME
        factory.provisioners[NAME] = EntryPoint(NAME, f"{__name__}:{Forks.__name__}", group)
        factory.default_provisioner_name = NAME
