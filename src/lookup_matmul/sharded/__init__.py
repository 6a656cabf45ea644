"""One table on several processes: started, looked up in, and what travels between them.

It needs cloudpickle (the extra ``sharded``) and is imported by its own name.
"""

from lookup_matmul.sharded.cuts import cut
from lookup_matmul.sharded.lookups import (
    add_up,
    column_lookup,
    exchanged_lookup,
    masked_lookup,
    scattered_lookup,
)
from lookup_matmul.sharded.processes import run_on_processes
from lookup_matmul.sharded.sockets import tcp_sent_bytes
from lookup_matmul.sharded.traffic import Collective, collectives

__all__ = [
    "Collective", "add_up", "collectives", "column_lookup", "cut", "exchanged_lookup",
    "masked_lookup", "run_on_processes", "scattered_lookup", "tcp_sent_bytes",
]  # fmt: skip
