"""A function on several processes of this machine, and the split of a table among them."""

import multiprocessing
import pickle
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from itertools import pairwise
from multiprocessing import util
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import cloudpickle

from lookup_matmul.sharded.worker import output_path, run_rank

EXIT_TIMEOUT_S = 10.0  # for a process to exit by itself, however busy the machine
# Imported once, by the fork server: each process would import torch._dynamo with its optimizer.
PRELOAD = [run_rank.__module__, "torch._dynamo", "torch.distributed.fsdp"]
GLOO_EXTRA_S = 3600.0  # added to the timeout of gloo, so that timeout_s always expires first


def cut(size: int, parts: int) -> list[slice]:
    """Cut ``size`` rows into one slice per part, as :func:`torch.chunk` and a ``DTensor`` do.

    Raise ValueError if ``size`` is negative or ``parts`` is less than one.

    >>> cut(7, 4)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None), slice(6, 7, None)]
    """
    if size < 0 or parts < 1:
        raise ValueError(
            f"size is {size} and parts is {parts}, expected size >= 0 and parts >= 1; "
            "pass the number of rows and the number of processes."
        )
    chunk_size = -(-size // parts)
    starts = [min(k * chunk_size, size) for k in range(parts + 1)]
    return [slice(start, stop) for start, stop in pairwise(starts)]


def run_on_processes(
    function: Callable[..., Any], count: int, *args: Any, timeout_s: float = 300.0
) -> list[Any]:
    """Run ``function(*args)`` on ``count`` new processes in one process group.

    Inside ``function``, which a notebook may define, :mod:`torch.distributed` is initialized with
    the backend gloo, and each process has one thread. A script calls it under
    ``if __name__ == "__main__":``.

    Return the results in the order of the ranks. Raise RuntimeError if a process raises or dies,
    with its error and output, TimeoutError if one has not returned ``timeout_s`` seconds after all
    have started, and ValueError if ``count`` is less than one. No process outlives the call.

    >>> def sum_over_ranks(weight):
    ...     torch.distributed.all_reduce(weight)
    ...     return weight
    >>> run_on_processes(sum_over_ranks, 2, torch.tensor([1.0, 10.0]))
    [tensor([ 2., 20.]), tensor([ 2., 20.])]
    """
    if count < 1:
        raise ValueError(f"count is {count}, expected at least 1; pass the number of processes.")
    pickled_call = cloudpickle.dumps((function, args))
    gloo_timeout = timedelta(seconds=timeout_s + GLOO_EXTRA_S)
    context = _start_context()
    # The parent folder is that of the fork server's socket, which multiprocessing deletes. If this
    # process is killed, as a kernel of Jupyter may be, both folders remain: a few kilobytes.
    temporary_folder = TemporaryDirectory(prefix="lookup-matmul-", dir=util.get_temp_dir())
    with temporary_folder as name, ExitStack() as stack:
        folder = Path(name)
        processes = list[BaseProcess]()
        connections = list[Connection]()
        for rank in range(count):
            connection, child_connection = context.Pipe()
            connections.append(stack.enter_context(connection))
            arguments = (rank, count, folder, pickled_call, child_connection, gloo_timeout)
            process = context.Process(target=run_rank, args=arguments, daemon=True)
            process.start()
            processes.append(process)
            for clean_up in (process.close, process.join, process.kill):  # the last is called first
                stack.callback(clean_up)
            child_connection.close()  # so that recv_bytes() raises EOFError if the child dies
        results = _receive_results(processes, connections, folder, timeout_s)
        for connection in connections:
            connection.send_bytes(b"exit")
        for process in processes:
            process.join(EXIT_TIMEOUT_S)
    return results


def _start_context() -> Any:
    """Return a multiprocessing context whose fork server, if there is one, has imported torch."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    from multiprocessing import forkserver  # missing on Windows

    forkserver.ensure_running()  # thread-safe, unlike the first util.get_temp_dir()
    return context


def _receive_results(
    processes: list[BaseProcess], connections: list[Connection], folder: Path, timeout_s: float
) -> list[Any]:
    results: dict[int, Any] = {}
    deadline = time.monotonic() + timeout_s
    while len(results) < len(connections):
        pending = [rank for rank in range(len(connections)) if rank not in results]
        ready = wait([connections[rank] for rank in pending], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError(
                f"no answer of process {', '.join(map(str, pending))} within {timeout_s:g} s; "
                "stopped. Do all processes call the same collectives in the same order? If so, "
                "raise timeout_s." + "".join(_read_output(folder, rank) for rank in pending)
            )
        for rank in pending:
            if connections[rank] not in ready:
                continue
            try:
                error, result = pickle.loads(connections[rank].recv_bytes())
            except (EOFError, ConnectionError):
                raise RuntimeError(_describe_exit(processes, rank, folder)) from None
            if error is not None:
                raise RuntimeError(_describe_error(processes, rank, folder, error, result))
            results[rank] = result
    return [results[rank] for rank in range(len(connections))]


def _describe_error(
    processes: list[BaseProcess], rank: int, folder: Path, error: str, traceback: str
) -> str:
    if "gloo" in error:  # possibly because another process died: report that one
        wait([process.sentinel for process in processes], EXIT_TIMEOUT_S)
        for peer_rank, process in enumerate(processes):
            if process.exitcode is not None:
                return _describe_exit(processes, peer_rank, folder)
    output_text = _read_output(folder, rank)
    return f"process {rank} of {len(processes)} raised {error}\n{traceback}{output_text}"


def _describe_exit(processes: list[BaseProcess], rank: int, folder: Path) -> str:
    processes[rank].join(EXIT_TIMEOUT_S)
    code = processes[rank].exitcode
    reason = (
        f"was killed by signal {-code}" if code and code < 0 else f"ended with exit code {code}"
    )
    problem = f"process {rank} of {len(processes)} {reason}"
    if output_path(folder, rank).exists():
        return f"{problem} before it answered; expected it to return.{_read_output(folder, rank)}"
    remedy = 'In a script, call run_on_processes under if __name__ == "__main__": only.'
    return f"{problem} before it began. {remedy}"


def _read_output(folder: Path, rank: int) -> str:
    path = output_path(folder, rank)
    text = path.read_text("utf-8", "replace").strip() if path.exists() else ""
    return f"\nProcess {rank} printed:\n{text[-4000:]}" if text else ""
