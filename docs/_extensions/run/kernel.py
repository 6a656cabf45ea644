"""Run the cells of a page in a kernel of its own."""

import ast
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from nbformat import NotebookNode

from _extensions.page_record import Page
from _extensions.run.forked_kernel import ForkedKernel, fork_server
from _extensions.run.observer.sitecustomize import (
    FOLDERS_VARIABLE,
    HIDDEN_VARIABLE,
    LOG_VARIABLE,
)
from _extensions.run.pages import FIGURES_FOLDER, observed_folders
from _extensions.run.requirements import find_hidden_modules
from _extensions.run.settings import FLAGS, QUIET, REPORT

MANY_PAGES = 8  # several of these import the same large libraries
START_S = 120  # a kernel imports torch, on a busy machine
MAX_OUTPUT_CHARACTERS = 200_000  # of a cell; a large figure has 50,000
OBSERVER_FOLDER = Path(__file__).with_name("observer")


class Kernels(NamedTuple):
    """The environment of all kernels, and the server that forks them, if there is one."""

    environment: dict[str, str]
    server: subprocess.Popen[str] | None


@contextmanager
def prepare_kernels(page_count: int = 1) -> Iterator[Kernels]:
    """Yield an environment with an observer and a folder for profiles, and a server if it can fork.

    Only on Linux can a process with libraries be forked safely.
    """
    with TemporaryDirectory(prefix="lookup-") as folder:
        inductor_folder = os.environ.get("TORCHINDUCTOR_CACHE_DIR", f"{gettempdir()}/torchinductor")
        python_path = [OBSERVER_FOLDER, FIGURES_FOLDER.parent, os.environ.get("PYTHONPATH", "")]
        variables = {
            "IPYTHONDIR": folder,
            "MPLCONFIGDIR": folder,
            "TMPDIR": folder,
            "TORCHINDUCTOR_CACHE_DIR": inductor_folder,
            "PYTHONPATH": os.pathsep.join(str(path) for path in python_path if path),
            FOLDERS_VARIABLE: os.pathsep.join(map(str, observed_folders())),
        }
        environment = os.environ | QUIET | variables
        server_context = fork_server(environment, page_count >= MANY_PAGES)
        with server_context if sys.platform == "linux" else nullcontext() as server:
            yield Kernels(environment, server)


async def run_page(page: Page, kernels: Kernels, timeout_s: int) -> None:
    """Run the cells of a page, and record the run and the outputs, which an error may end."""
    assert page.notebook
    with TemporaryDirectory(
        prefix="page-", dir=kernels.environment["TMPDIR"], ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        log, working_directory = folder / "reads.log", folder / "empty"
        working_directory.mkdir()
        manager = AsyncKernelManager(
            kernel_name="python3",
            # Without folders of kernel specs it is this Python, whatever a user has installed.
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[]),
            connection_file=str(folder / "kernel.json"),
        )
        options: Any = {"timeout": timeout_s, "record_timing": False, "coalesce_streams": True}
        client = NotebookClient(page.notebook, manager, **options)
        client.on_cell_executed = _refuse_large_output
        if kernels.server:
            manager.provisioner = ForkedKernel(
                parent=manager, kernel_id=page.name, kernel_spec=manager.kernel_spec
            )
            manager.provisioner.server = kernels.server
        sources = (cell.source for cell in page.cells if cell.cell_type == "code")
        hidden = find_hidden_modules(sources) if page.head.get("notebook", True) else []
        variables = {LOG_VARIABLE: str(log), HIDDEN_VARIABLE: " ".join(hidden)}
        environment = kernels.environment | variables
        succeeded = await _run_cells(client, manager, environment, working_directory, page)
        page.run.failed = not succeeded
        if succeeded and client.code_cells_executed:
            # The digest of each path that the page read, as of its first reading.
            lines = reversed(log.read_text("utf-8", "surrogateescape").splitlines())
            records = (line.split(" ", 1) for line in lines)
            page.run.digests = {path: digest for digest, path in records}


async def _run_cells(
    client: NotebookClient,
    manager: Any,  # mypy takes its methods for those of a synchronous one
    environment: dict[str, str],
    working_directory: Path,
    page: Page,
) -> bool:
    notebook = client.nb
    cell = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if cell is None:
        return True
    try:
        options: Any = {"cwd": working_directory, "env": environment, "stderr": subprocess.DEVNULL}
        await manager.start_kernel(extra_arguments=FLAGS, **options)
        client.kc = kernel_client = manager.client()
        # The manager checks whether the process of a kernel is alive. Jupyter's heartbeat is a
        # thread that never ends if it is stopped while it starts, which would block an interrupt.
        kernel_client.start_channels(hb=False)
        await kernel_client.wait_for_ready(timeout=START_S)
        reply = await kernel_client.kernel_info(reply=True, timeout=START_S)
        notebook.metadata["language_info"] = reply["content"]["language_info"]
        for index, cell in enumerate(notebook.cells):
            if _is_cancelled():  # a call that ended at the same moment does not raise it
                raise asyncio.CancelledError
            await client.async_execute_cell(cell, index, client.code_cells_executed + 1)
            if names := ", ".join(sorted(path.name for path in working_directory.iterdir())):
                raise RuntimeError(f"it left {names} behind; write files into a TemporaryDirectory")
        execution = {"silent": True, "user_expressions": {"report": REPORT}}
        reply = await kernel_client.execute("", **execution, reply=True, timeout=START_S)
        text = reply["content"]["user_expressions"]["report"]["data"]["text/plain"]
        report, sources = json.loads(ast.literal_eval(text)), [c.source for c in notebook.cells]
        page.run.assertions = report["assertions"]
        page.run.powerless = [(sources.index(cell), *fault) for cell, *fault in report["powerless"]]
    except CellExecutionError:
        pass
    except Exception as error:  # a dead kernel, or one that could not start for any reason
        if _is_cancelled():  # nbclient takes it for a dead kernel
            raise asyncio.CancelledError from None
        name, message = type(error).__name__, str(error)
        if isinstance(error, CellTimeoutError):
            message = f"it ran for too long, more than {client.timeout} s"
        cell.outputs = [*cell.get("outputs", []), _error_output(name, message)]
    else:
        return True
    finally:
        if client.kc:
            client.kc.stop_channels()
        if manager.has_kernel:
            await manager.shutdown_kernel(now=True)
    return False


def _error_output(name: str, message: str) -> NotebookNode:
    error = {"output_type": "error", "ename": name, "evalue": message, "traceback": []}
    return NotebookNode(error)  # type: ignore[no-untyped-call]


def _refuse_large_output(cell: NotebookNode, **_: Any) -> None:
    """Raise RuntimeError for a large output before nbclient merges its lines, which is slow."""
    if (size := len(json.dumps(cell.get("outputs", [])))) > MAX_OUTPUT_CHARACTERS:
        cell.outputs = []
        limit = f"{MAX_OUTPUT_CHARACTERS:,}"
        raise RuntimeError(f"its output has {size:,} characters, at most {limit}; show less")


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
