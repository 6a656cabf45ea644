"""Runs the cells of a page in a kernel of its own, whatever the machine's and the user's settings.

What a machine with torch's CUDA build and no driver logs says nothing about a page, and standard
error of a cell stops the build: it is kept away.
"""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat import v4 as nbformat_v4

from _extensions.run.pages import Page

v4: Any = nbformat_v4  # its functions have no types

# Tensors of five columns fit a phone. linewidth counts characters.
PRINTING = """import torch as _torch
_torch.set_printoptions(linewidth=56, sci_mode=False)
del _torch"""
# What a library writes below Python comes to the page by way of a thread, which a kernel does not
# wait for: on a busy machine the end of a cell could overtake it, and a warning would be lost.
# A cell that replaces a stream and does not put it back would keep the next one from ending.
SETTLE = """
import select as _select, sys as _sys, time as _time

_streams = (_sys.stdout, _sys.stderr)

def _settle(*_, streams=_streams, select=_select.select, sys=_sys, sleep=_time.sleep):
    if (sys.stdout, sys.stderr) != streams:
        sys.stdout, sys.stderr = streams
        print("sys.stdout was replaced; use contextlib.redirect_stdout", file=sys.stderr)
    pipes = [stream._fid for stream in streams if stream._fid is not None]
    sleep(0.001)
    while select(pipes, [], [], 0)[0]:
        sleep(0.001)

get_ipython().events.register("post_run_cell", _settle)
del _select, _settle, _streams, _sys, _time
"""
XMODE = "Minimal"  # an expected error shows its message, not a machine's paths
FLAGS = [
    f"--InteractiveShell.xmode={XMODE}",
    "--HistoryManager.enabled=False",
    f"--IPKernelApp.exec_lines={PRINTING}",
    f"--IPKernelApp.exec_lines={SETTLE}",
]
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
    """Return the environment of kernels: an empty profile, and a folder for what they leave."""
    with TemporaryDirectory(prefix="lookup-") as folder:
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
        own: Any = {"cwd": page.path.parent, "env": environment, "stderr": subprocess.DEVNULL}
        await manager.start_kernel(extra_arguments=FLAGS, **own)
        client.kc = asked = manager.client()
        # Whether a kernel lives is asked of its process. Jupyter's heartbeat is a thread that never
        # ends if it is stopped while it starts, and then a build could not be interrupted.
        asked.start_channels(hb=False)
        await asked.wait_for_ready(timeout=START_S)
        told = await asked.kernel_info(reply=True, timeout=START_S)
        notebook.metadata["language_info"] = told["content"]["language_info"]
        for index, cell in enumerate(notebook.cells):
            if _cancelled():  # which a call that ended at the same moment keeps to itself
                raise asyncio.CancelledError
            await client.async_execute_cell(cell, index, client.code_cells_executed + 1)
            cell.outputs = merged(cell.get("outputs", []))
    except CellExecutionError:
        pass
    except CellTimeoutError:
        _end(cell, "TimeoutError", f"it ran for too long, more than {limit_s} s")
    except (DeadKernelError, RuntimeError) as error:
        if _cancelled():  # the client mistakes it
            raise asyncio.CancelledError from None
        _end(cell, type(error).__name__, str(error))
    else:
        return True
    finally:
        if client.kc:
            client.kc.stop_channels()
        await manager.shutdown_kernel(now=True)
    return False


def _cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


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
