"""A function run on several processes of this machine that can talk to each other."""

import multiprocessing
import pickle
import time
from collections.abc import Callable
from multiprocessing import util
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cloudpickle

from lookup_matmul.sharded.worker import output_file, work

GRACE_S = 10.0  # within which a death is seen, and an end comes, however busy the machine
LATER_S = 3600.0  # gloo's own limit is so much longer, so that the caller's always comes first


def run_on_processes(
    function: Callable[..., Any], count: int, *args: Any, timeout_s: float = 300.0
) -> list[Any]:
    """Run ``function(*args)`` on ``count`` new processes in one process group, and end them.

    The group is torch's own, with the backend gloo and one thread for each process,
    so inside ``function`` :mod:`torch.distributed` works, and ``get_rank()`` tells the processes
    apart; the environment variables of ``torchrun`` are not set.

    The function may be one from a notebook's cell: it travels by value, with the globals that it
    names, and ``args`` are pickled, the same for each process. From the moment at which all have
    started, they have ``timeout_s`` seconds. Returns what the function returned in each process,
    in the order of the ranks. A process that raised or died is a RuntimeError with its rank, its
    error and what it printed; one that has not answered in time is a TimeoutError.

    Processes meet through a file in a temporary folder and not at a fixed port,
    so nothing can be in use already, and they listen on the loopback interface only.
    They have ended and the folder is gone when the call returns, however it returns;
    if this process is killed, they end by themselves, and the folder goes after them.

    The first call imports torch in a fork server, of which the processes are then copies;
    it ends with this process. Windows has none, so each process imports torch there.
    As always with :mod:`multiprocessing`, a script needs ``if __name__ == "__main__":``.

    Examples
    --------
    >>> import torch
    >>> def total(weight):
    ...     part = weight * (torch.distributed.get_rank() + 1)
    ...     torch.distributed.all_reduce(part)
    ...     return part
    >>> run_on_processes(total, 2, torch.tensor([1.0, 10.0]))
    [tensor([ 3., 30.]), tensor([ 3., 30.])]
    """
    job = cloudpickle.dumps((function, args))
    context = _context()
    # In the folder of the fork server's socket, which the server removes when all have ended.
    with TemporaryDirectory(prefix="lookup-matmul-", dir=util.get_temp_dir()) as name:
        folder, processes, ends = Path(name), list[BaseProcess](), list[Connection]()
        try:
            for rank in range(count):
                here, there = context.Pipe()
                ends.append(here)
                about = (rank, count, folder, job, there, timeout_s + LATER_S)
                process = context.Process(target=work, args=about, daemon=True)
                process.start()
                processes.append(process)  # only now can it be killed
                there.close()  # so that its end is seen when the process ends
            results = _collect(processes, ends, folder, timeout_s)
            for end in ends:
                end.send_bytes(b"all have answered")
            for process in processes:
                process.join(GRACE_S)
        finally:
            for process in processes:
                process.kill()
                process.join()
                process.close()
            for end in ends:
                end.close()
    return results


def _context() -> Any:
    """Return the way to start processes: copies of one that has imported torch already."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__])
    from multiprocessing import forkserver  # which Windows lacks

    forkserver.ensure_running()  # makes the one folder of its socket, whichever thread is first
    return context


def _collect(
    processes: list[BaseProcess], ends: list[Connection], folder: Path, timeout_s: float
) -> list[Any]:
    """Wait for an answer of each process, and raise as soon as one failed."""
    results: dict[int, Any] = {}
    deadline = time.monotonic() + timeout_s
    while len(results) < len(ends):
        missing = {ends[rank]: rank for rank in range(len(ends)) if rank not in results}
        ready = wait(list(missing), max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError(_late(sorted(missing.values()), folder, timeout_s))
        for end in ready:
            rank = missing[end]  # type: ignore[index]
            try:
                error, result = pickle.loads(end.recv_bytes())  # type: ignore[union-attr]
            except (EOFError, ConnectionError):
                raise RuntimeError(_dead(processes, rank, folder)) from None
            if error is not None:
                raise RuntimeError(_failed(processes, rank, folder, error, result))
            results[rank] = result
    return [results[rank] for rank in range(len(ends))]


def _late(ranks: list[int], folder: Path, timeout_s: float) -> str:
    return (
        f"no answer of process {', '.join(map(str, ranks))} within {timeout_s:g} s; stopped. "
        "Do all processes call the same collectives in the same order? If so, raise timeout_s."
        + "".join(_printed(folder, rank) for rank in ranks)
    )


def _failed(
    processes: list[BaseProcess], rank: int, folder: Path, error: str, traceback: str
) -> str:
    if "gloo" in error:  # it complains that its partner is gone, who is to be named
        wait([process.sentinel for process in processes], GRACE_S)
        for other, process in enumerate(processes):
            if process.exitcode is not None:
                return _dead(processes, other, folder)
    return f"process {rank} of {len(processes)} raised {error}\n{traceback}{_printed(folder, rank)}"


def _dead(processes: list[BaseProcess], rank: int, folder: Path) -> str:
    processes[rank].join(GRACE_S)
    code = processes[rank].exitcode
    how = f"was killed by signal {-code}" if code and code < 0 else f"ended with exit code {code}"
    if not output_file(folder, rank).exists():
        return (
            f"process {rank} of {len(processes)} {how} before it began. "
            'In a script, call run_on_processes under if __name__ == "__main__": only.'
        )
    return (
        f"process {rank} of {len(processes)} {how} before it answered; "
        f"expected it to return.{_printed(folder, rank)}"
    )


def _printed(folder: Path, rank: int) -> str:
    file = output_file(folder, rank)
    text = file.read_text("utf-8", "replace").strip() if file.exists() else ""
    return f"\nProcess {rank} printed:\n{text[-4000:]}" if text else ""
