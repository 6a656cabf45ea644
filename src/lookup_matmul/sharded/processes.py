"""Run a function on several processes of this machine in one process group."""

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

GRACE_S = 10.0  # for a process to end, or for its exit code, also on a busy machine
GLOO_EXTRA_S = 3600.0  # gloo's timeout is longer, so that the caller's always expires first


def run_on_processes(
    function: Callable[..., Any], count: int, *args: Any, timeout_s: float = 300.0
) -> list[Any]:
    """Run ``function(*args)`` on ``count`` new processes, and return their results by rank.

    The processes form the default process group of :mod:`torch.distributed` with the backend gloo,
    one thread each, and listen on the loopback interface only; the environment variables of
    ``torchrun`` are not set. The function, which a notebook's cell may define, and ``args`` are
    pickled by cloudpickle. All processes have ended when the call returns or raises.

    The first call imports torch in a fork server, which later processes are copies of; Windows has
    none, so each process imports torch there. As always with :mod:`multiprocessing`, a script needs
    ``if __name__ == "__main__":``.

    Raises
    ------
    ValueError
        If ``count`` is not positive.
    RuntimeError
        If a process raised or died, with its rank, its error and its output.
    TimeoutError
        If a process has no result ``timeout_s`` seconds after all have started.

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
    if count < 1:
        raise ValueError(f"count is {count}, expected at least 1 process.")
    job = cloudpickle.dumps((function, args))
    context = _context()
    # The fork server removes the folder of its socket when all processes have ended.
    with TemporaryDirectory(prefix="lookup-matmul-", dir=util.get_temp_dir()) as name:
        folder, processes, ends = Path(name), list[BaseProcess](), list[Connection]()
        try:
            for rank in range(count):
                parent_end, child_end = context.Pipe()
                ends.append(parent_end)
                arguments = (rank, count, folder, job, child_end, timeout_s + GLOO_EXTRA_S)
                process = context.Process(target=work, args=arguments, daemon=True)
                process.start()
                processes.append(process)  # kill() needs a started process
                child_end.close()  # so that reading fails once the process has ended
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
    """Return a context whose fork server has imported torch."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([work.__module__])
    from multiprocessing import forkserver  # which Windows lacks

    forkserver.ensure_running()  # creates the folder of its socket
    return context


def _collect(
    processes: list[BaseProcess], ends: list[Connection], folder: Path, timeout_s: float
) -> list[Any]:
    """Return the results by rank; raise as soon as a process has failed."""
    results: dict[int, Any] = {}
    deadline = time.monotonic() + timeout_s
    while len(results) < len(ends):
        missing = {ends[rank]: rank for rank in range(len(ends)) if rank not in results}
        ready = wait(list(missing), max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError(_timeout_message(sorted(missing.values()), folder, timeout_s))
        for end in ready:
            rank = missing[end]  # type: ignore[index]
            try:
                error, result = pickle.loads(end.recv_bytes())  # type: ignore[union-attr]
            except (EOFError, ConnectionError):
                raise RuntimeError(_exit_message(processes, rank, folder)) from None
            if error is not None:
                raise RuntimeError(_error_message(processes, rank, folder, error, result))
            results[rank] = result
    return [results[rank] for rank in range(len(ends))]


def _timeout_message(ranks: list[int], folder: Path, timeout_s: float) -> str:
    return (
        f"no answer of process {', '.join(map(str, ranks))} within {timeout_s:g} s; stopped. "
        "Do all processes call the same collectives in the same order? If so, raise timeout_s."
        + "".join(_output(folder, rank) for rank in ranks)
    )


def _error_message(
    processes: list[BaseProcess], rank: int, folder: Path, error: str, traceback: str
) -> str:
    if "gloo" in error:  # the error may be that another process, which has to be named, has ended
        wait([process.sentinel for process in processes], GRACE_S)
        for peer, process in enumerate(processes):
            if process.exitcode is not None:
                return _exit_message(processes, peer, folder)
    return f"process {rank} of {len(processes)} raised {error}\n{traceback}{_output(folder, rank)}"


def _exit_message(processes: list[BaseProcess], rank: int, folder: Path) -> str:
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
        f"expected it to return.{_output(folder, rank)}"
    )


def _output(folder: Path, rank: int) -> str:
    file = output_file(folder, rank)
    text = file.read_text("utf-8", "replace").strip() if file.exists() else ""
    return f"\nProcess {rank} printed:\n{text[-4000:]}" if text else ""
