"""Have kernels forked by ``observer/fork_server.py``, which saves each the import of torch."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from jupyter_client.provisioning.local_provisioner import LocalProvisioner

SCRIPT = Path(__file__).with_name("observer") / "fork_server.py"


class ForkedProcess:
    """A process that the server started, with the part of ``Popen`` that jupyter_client uses."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """Return None while the process runs; its exit code is unknown."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 1
        return None

    wait = poll

    def send_signal(self, number: int) -> None:
        """Send a signal to the process unless it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


class ForkedKernel(LocalProvisioner):
    """Starts a kernel by a line to the server instead of a command."""

    server: Any = None

    async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
        """Start the kernel, and return how to connect to it."""
        arguments = cmd[cmd.index("ipykernel_launcher") + 1 :]
        line = json.dumps([arguments, options["env"], str(options["cwd"])])
        with suppress(BrokenPipeError):  # then it answers nothing
            print(line, file=self.server.stdin, flush=True)
        answer = self.server.stdout.readline()
        if not answer:
            raise RuntimeError(f"no kernel can start; `python {SCRIPT}` shows why")
        self.process: Any = ForkedProcess(int(answer))
        self.pid = self.pgid = self.process.pid
        return self.connection_info


@contextmanager
def fork_server(
    environment: dict[str, str], has_many_pages: bool
) -> Iterator[subprocess.Popen[str]]:
    """Run the server with an environment; an interrupt from the keyboard does not reach it."""
    options = ["--many-pages"] if has_many_pages else []
    with subprocess.Popen(
        [sys.executable, str(SCRIPT), *options],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as process:
        # A kernel binds ports that were free when it was asked for, so no kernel waits for imports.
        process.stdout.readline()  # type: ignore[union-attr]
        try:
            yield process
        finally:
            with suppress(BrokenPipeError):  # of a line that the server did not live to read
                process.stdin.close()  # type: ignore[union-attr]
