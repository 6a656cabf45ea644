"""What the forms cost: counted, predicted, measured side by side, recorded with provenance.

Imported by its own name; ``python -m lookup_matmul.costs`` measures the machine at hand.
"""

from lookup_matmul.costs.cases import Case, sample_ids
from lookup_matmul.costs.clock import Spread, time_side_by_side
from lookup_matmul.costs.count import Kernel, kernels
from lookup_matmul.costs.machine import provenance
from lookup_matmul.costs.markdown import escaped, in_unit, markdown_table
from lookup_matmul.costs.measure import measure_cases
from lookup_matmul.costs.predict import measure_ceilings, predicted_s
from lookup_matmul.costs.recorder import record
from lookup_matmul.costs.recordings import describe, read_recordings, select

__all__ = [
    "Case", "Kernel", "Spread", "describe", "escaped", "in_unit", "kernels",
    "markdown_table", "measure_cases", "measure_ceilings", "predicted_s", "provenance",
    "read_recordings", "record", "sample_ids", "select", "time_side_by_side",
]  # fmt: skip
