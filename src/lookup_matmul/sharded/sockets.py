"""Count the bytes that a process has sent, from the statistics of its sockets."""

import socket
import struct
import sys
from pathlib import Path


def tcp_sent_bytes() -> int | None:
    """Return how many bytes the open TCP connections of this process have sent.

    Return None on systems other than Linux 4.19 and later. Packet headers, retransmissions and
    closed connections do not count; a connection with two descriptors counts twice. The difference
    of two readings, each after a barrier, is what the calls between them sent, including headers of
    gloo and of the barrier.

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
            connection = socket.socket(fileno=int(entry.name))
        except OSError:  # no socket, or closed meanwhile
            continue
        try:
            if (
                connection.family in (socket.AF_INET, socket.AF_INET6)
                and connection.type == socket.SOCK_STREAM
            ):
                tcp_info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 216)
                if len(tcp_info) < 216:
                    return None
                sent, resent = struct.unpack_from("=QQ", tcp_info, 200)
                total += sent - resent
        finally:
            connection.detach()  # closing it would close the descriptor
    return total
