"""Sharding a table over several processes of this machine.

This requires cloudpickle (the extra ``sharded``) and is not imported by ``lookup_matmul``.
"""

from lookup_matmul.sharded.processes import cut, run_on_processes
from lookup_matmul.sharded.worker import tcp_sent_bytes

__all__ = ["cut", "run_on_processes", "tcp_sent_bytes"]
