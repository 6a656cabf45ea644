"""What a process has really sent, read from its sockets."""

import socket
import struct
import sys
from pathlib import Path


def tcp_sent_bytes() -> int | None:
    """Return how many bytes the open TCP connections of this process have sent; None if untold.

    Linux tells it since version 4.19, other systems do not. Counted is the data alone, without the
    headers of packets and without what had to be sent twice; a connection that was closed no longer
    counts, and one with two descriptors counts twice. What a call sends is the difference of two
    readings, each after a barrier, so that nothing is still on its way; headers of the library and
    of the barrier come with it.

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
            one = socket.socket(fileno=int(entry.name))
        except OSError:  # no socket, or closed meanwhile
            continue
        try:
            if one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM:
                told = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 216)
                if len(told) < 216:
                    return None
                sent, again = struct.unpack_from("=QQ", told, 200)  # of struct tcp_info
                total += sent - again
        finally:
            one.detach()  # or it would be closed
    return total
