"""Runs the cells of a page in a kernel of its own, whatever the machine's and the user's settings.

What a machine with torch's CUDA build and no driver logs says nothing about a page, and standard
error of a cell stops the build: it is kept away.
"""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat import v4 as nbformat_v4

from run.pages import Page

v4: Any = nbformat_v4  # its functions have no types

CONFIG = Path(__file__).with_name("ipython_kernel_config.py")
START_S = 120  # a kernel imports torch, on a busy machine
QUIET = {
    "KINETO_LOG_LEVEL": "99",  # torch's profiler looks for a GPU and logs that there is none
    "TORCH_CPP_LOG_LEVEL": "ERROR",  # and logs that some memory is older than what it measures
    "CUDA_HOME": "",  # torch.utils.cpp_extension logs a compiler without a driver,
    "CUDA_PATH": "",  # wherever it finds one
    # Threads that wait by turning keep another page's from the cores, up to ten times as long.
    # Pages that measure do it with one thread, which waits for none.
    "OMP_WAIT_POLICY": "PASSIVE",
}


@contextmanager
def surroundings() -> Iterator[dict[str, str]]:
    """Return the environment of kernels: their own profile, and a folder for what they leave."""
    with TemporaryDirectory(prefix="lookup-") as folder:
        profile = Path(folder, "profile_default")
        profile.mkdir()
        shutil.copy(CONFIG, profile)
        compiled = os.environ.get("TORCHINDUCTOR_CACHE_DIR", f"{gettempdir()}/torchinductor")
        own = {"IPYTHONDIR": folder, "TMPDIR": folder, "TORCHINDUCTOR_CACHE_DIR": compiled}
        yield os.environ | QUIET | own


async def run(
    page: Page, environment: dict[str, str], limit_s: int, *, allow_errors: bool = False
) -> bool:
    """Run the cells of a page, and tell whether all did.

    The last output of a cell that ended it says why: an error, its time, or a dead kernel.
    """
    notebook = page.notebook
    assert notebook, f"{page.name} has no cells to run"
    options: Any = {"timeout": limit_s, "allow_errors": allow_errors, "record_timing": False}
    client = NotebookClient(notebook, **options)
    manager: Any = client.create_kernel_manager()  # an asynchronous one, which its type hides
    cell = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if cell is None:
        return True
    try:
        await manager.start_kernel(cwd=page.path.parent, env=environment, stderr=subprocess.DEVNULL)
        client.kc = asked = manager.client()
        asked.start_channels()
        await asked.wait_for_ready(timeout=START_S)
        told = await asked.kernel_info(reply=True, timeout=START_S)
        notebook.metadata["language_info"] = told["content"]["language_info"]
        for index, cell in enumerate(notebook.cells):
            await client.async_execute_cell(cell, index, client.code_cells_executed + 1)
            cell.outputs = merged(cell.get("outputs", []))
    except CellExecutionError:
        pass
    except CellTimeoutError:
        _end(cell, "TimeoutError", f"it ran for too long, more than {limit_s} s")
    except (DeadKernelError, RuntimeError) as error:
        if (task := asyncio.current_task()) and task.cancelling():  # the client mistakes it
            raise asyncio.CancelledError from None
        _end(cell, type(error).__name__, str(error))
    else:
        return True
    finally:
        if client.kc:
            client.kc.stop_channels()
        await manager.shutdown_kernel(now=True)
    return False


def _end(cell: NotebookNode, name: str, reason: str) -> None:
    told = v4.new_output("error", ename=name, evalue=reason, traceback=[])
    cell.outputs = [*merged(cell.outputs), told]


def merged(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join what a cell printed in pieces, standard output and error each where it began.

    MyST-NB and nbclient can do it too, in a time that grows with the square of a line's length.
    """
    kept, pieces = list[NotebookNode](), dict[str, list[str]]()
    for output in outputs:
        if output.output_type != "stream":
            kept.append(output)
        elif output.name in pieces:
            pieces[output.name].append(output.text)
        else:
            kept.append(output)
            pieces[output.name] = [output.text]
    for output in kept:
        if output.output_type == "stream":
            lines = "".join(pieces[output.name]).rstrip().split("\n")
            # A carriage return begins the line anew, as a bar of progress does.
            output.text = "".join(line.rpartition("\r")[2] + "\n" for line in lines)
    return kept
