"""The process of one rank, which runs the function and counts the bytes that it sends."""

import faulthandler
import multiprocessing
import os
import pickle
import socket
import struct
import sys
import threading
import traceback
from datetime import timedelta
from multiprocessing.connection import Connection
from pathlib import Path

import cloudpickle
import torch
from torch import distributed


def output_path(folder: Path, rank: int) -> Path:
    return folder / f"output-{rank}"


def run_rank(
    rank: int, size: int, folder: Path, call: bytes, connection: Connection, timeout: timedelta
) -> None:
    """Join the process group, and send ``(None, result)`` or ``(error, traceback)`` as a pickle."""
    with output_path(folder, rank).open("wb") as file:  # also for C++ libraries and crashes
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    faulthandler.enable(2)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    loopback_names = [name for _, name in socket.if_nameindex() if name.startswith("lo")]
    if loopback_names:  # else gloo listens on the address of the host
        os.environ["GLOO_SOCKET_IFNAME"] = loopback_names[0]
    try:
        # torch.distributed re-exports FileStore from a compiled module without declaring it.
        store = distributed.FileStore(str(folder / "store"), size)  # type: ignore[attr-defined]
        distributed.init_process_group(
            "gloo", store=store, rank=rank, world_size=size, timeout=timeout
        )
        function, args = pickle.loads(call)
        message = cloudpickle.dumps((None, function(*args)))
    except Exception as error:
        message = pickle.dumps((f"{type(error).__name__}: {error}", traceback.format_exc()))
    connection.send_bytes(message)
    connection.recv_bytes()
    if distributed.is_initialized():
        distributed.destroy_process_group()


def tcp_sent_bytes() -> int | None:
    """Return the number of bytes sent over the open TCP connections of this process.

    Packet headers, retransmissions and closed connections do not count; a barrier sends messages,
    too. Return ``None`` on Linux before 4.19, macOS and Windows, which do not report the number.

    >>> def sent(weight):
    ...     torch.distributed.barrier()
    ...     before = tcp_sent_bytes()
    ...     torch.distributed.all_reduce(weight)
    ...     torch.distributed.barrier()
    ...     return before is None or tcp_sent_bytes() - before >= weight.nbytes
    >>> run_on_processes(sent, 2, torch.ones(1000))
    [True, True]
    """
    if sys.platform != "linux":
        return None
    total = 0
    for entry in Path("/proc/self/fd").iterdir():
        try:
            sock = socket.socket(fileno=int(entry.name))
        except OSError:  # not a socket, or closed meanwhile
            continue
        try:
            if sock.family in (socket.AF_INET, socket.AF_INET6) and sock.type == socket.SOCK_STREAM:
                tcp_info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 216)
                if len(tcp_info) < 216:
                    return None
                bytes_sent, bytes_retransmitted = struct.unpack_from("=QQ", tcp_info, 200)
                total += bytes_sent - bytes_retransmitted
        finally:
            sock.detach()  # keeps the descriptor open
    return total


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
