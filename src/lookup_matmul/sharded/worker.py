"""The code of one worker process: join the group, run the function, send the result.

The fork server imports this module, so that each worker, a copy of it, starts with torch imported.
"""

import atexit
import faulthandler
import multiprocessing
import os
import pickle
import shutil
import signal
import socket
import sys
import threading
import traceback
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import cloudpickle
import torch
from torch import distributed


def output_file(folder: Path, rank: int) -> Path:
    """Return the file with the output of a process."""
    return folder / f"output-{rank}"


def work(
    rank: int, size: int, folder: Path, job: bytes, answers: Connection, limit_s: float
) -> None:
    """Join a process group, run the function of ``job``, and send its result.

    The result is a pickled ``(None, value)`` or ``(error in one line, traceback)``. The process
    stays in the group until its parent has all results, so that no peer loses its connection.
    """
    _redirect_output(output_file(folder, rank))
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the fork server has a handler of its own
    torch.set_num_threads(1)  # the processes share the cores
    _use_loopback()
    try:
        # mypy: torch.distributed has it from a compiled module without declaring it.
        store = distributed.FileStore(str(folder / "store"), size)  # type: ignore[attr-defined]
        limit = timedelta(seconds=limit_s)
        distributed.init_process_group(
            "gloo", store=store, rank=rank, world_size=size, timeout=limit
        )
        function, args = pickle.loads(job)
        answer = cloudpickle.dumps((None, function(*args)))
    except Exception as error:
        answer = pickle.dumps((f"{type(error).__name__}: {error}", traceback.format_exc()))
    answers.send_bytes(answer)
    answers.recv_bytes()
    if distributed.is_initialized():
        distributed.destroy_process_group()


def _redirect_output(path: Path) -> None:
    """Redirect all output to a file, including that of libraries and of crashes."""
    with path.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    faulthandler.enable(2)


def _exit_with_parent() -> None:
    """Exit when the parent process has ended."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _use_loopback() -> None:
    """Make gloo listen on the loopback interface instead of the host's address."""
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    if loopback:
        os.environ["GLOO_SOCKET_IFNAME"] = loopback[0]


def _clean_up_at_exit() -> None:
    """Make the fork server remove the folder of its socket when its parent has ended.

    Jupyter kills a kernel that it restarts, with all processes of its session. The server
    therefore starts a new session and cleans up itself.
    """
    os.setsid()
    signal.signal(signal.SIGTERM, _exit)
    atexit.register(_remove_listener)


def _exit(*_: object) -> NoReturn:
    sys.exit(0)


def _remove_listener() -> None:
    from multiprocessing import forkserver  # which Windows lacks

    address = getattr(forkserver._forkserver, "_forkserver_address", None)
    if isinstance(address, str) and Path(address).parent.name.startswith("pymp-"):
        shutil.rmtree(Path(address).parent, ignore_errors=True)


if "multiprocessing.forkserver" in sys.orig_argv[-1]:  # in the fork server only
    import torch._dynamo  # slow, and used by gradients of collectives and by optimizers
    import torch.distributed.fsdp
    import torch.distributed.tensor.parallel

    _clean_up_at_exit()
