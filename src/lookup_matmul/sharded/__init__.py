"""One table on several processes: cut, run and counted.

It needs cloudpickle (the extra ``sharded``) and is imported by its own name.
"""

from lookup_matmul.sharded.cuts import cut
from lookup_matmul.sharded.processes import run_on_processes
from lookup_matmul.sharded.sockets import tcp_sent_bytes

__all__ = ["cut", "run_on_processes", "tcp_sent_bytes"]
