"""Counted and measured costs of the forms, and recordings of machines.

``python -m lookup_matmul.costs`` records this machine.
"""

from lookup_matmul.costs.count import Case, Kernel, kernels
from lookup_matmul.costs.recorder import processor, record
from lookup_matmul.costs.recordings import (
    describe,
    escaped,
    in_unit,
    read_recordings,
    vocabulary_curves,
)
from lookup_matmul.costs.timing import Spread, time_side_by_side

__all__ = [
    "Case", "Kernel", "Spread", "describe", "escaped", "in_unit", "kernels", "processor",
    "read_recordings", "record", "time_side_by_side", "vocabulary_curves",
]  # fmt: skip
