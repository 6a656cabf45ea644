"""One of several processes: it joins the others, runs a function and answers.

Imported by the fork server, of which the processes are copies, it imports for all of them what
takes long, and sees to it that the server leaves nothing behind.
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
    """Name the file that keeps what a process prints."""
    return folder / f"output-{rank}"


def work(
    rank: int, size: int, folder: Path, job: bytes, answers: Connection, limit_s: float
) -> None:
    """Join a process group of this size, run the function of ``job``, answer, and wait.

    The answer is ``(None, result)`` or ``(error in one line, traceback)``, pickled.
    The process stays in the group until the one that started it has all answers,
    so that none loses its partner in the last exchange.
    """
    _print_into(output_file(folder, rank))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not as the fork server does
    torch.set_num_threads(1)  # they share the machine
    _stay_on_this_machine()
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
        told = (f"{type(error).__name__}: {error}", traceback.format_exc())
        answer = pickle.dumps(told)
    answers.send_bytes(answer)
    answers.recv_bytes()
    if distributed.is_initialized():
        distributed.destroy_process_group()


def _print_into(path: Path) -> None:
    """Send all output to a file, that of libraries and of a crash as well."""
    with path.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    faulthandler.enable(2)


def _end_with_parent() -> None:
    """End when the process that started this one is gone, which then cannot end it."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _stay_on_this_machine() -> None:
    """Let gloo listen on the loopback interface only; it would take the host's address."""
    loopback = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    if loopback:
        os.environ["GLOO_SOCKET_IFNAME"] = loopback[0]


def _leave_nothing_behind() -> None:
    """See to it that the server removes the folder of its socket, however its owner ends.

    A Jupyter kernel that is shut down terminates its children and is then killed; one that is
    restarted is killed at once, with all that is in its session. So the server gets a session of
    its own, notices that its owner is gone, and removes what that would have removed.
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


if "multiprocessing.forkserver" in sys.orig_argv[-1]:  # any other process only reads this
    import torch._dynamo  # which the first gradient of a collective and the first optimizer import
    import torch.distributed.fsdp
    import torch.distributed.tensor.parallel

    _leave_nothing_behind()
