"""Measurement of the bytes that a process has sent over TCP."""

import socket
import struct
import sys
from pathlib import Path


def tcp_sent_bytes() -> int | None:
    """Return the number of bytes sent over the open TCP connections of this process.

    Packet headers, retransmissions and closed connections do not count; a connection with two file
    descriptors counts twice. To measure a call, subtract two results, each taken after a barrier;
    the difference includes the messages of the barrier.

    Return ``None`` if the system does not report it, as on Linux before 4.19, macOS and Windows.

    Examples
    --------
    >>> import torch
    >>> from lookup_matmul.sharded import run_on_processes
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
