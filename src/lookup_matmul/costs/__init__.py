"""What the forms cost: counted, predicted, measured side by side, recorded with provenance.

Imported by its own name; ``python -m lookup_matmul.costs`` measures the machine at hand.
"""

from lookup_matmul.costs.cases import Case, draw_ids
from lookup_matmul.costs.clock import Spread, time_side_by_side
from lookup_matmul.costs.count import Part, parts
from lookup_matmul.costs.machine import describe, provenance
from lookup_matmul.costs.markdown import escaped, in_unit, markdown_table
from lookup_matmul.costs.measure import DeviceLost, measure_cases
from lookup_matmul.costs.predict import measure_ceilings, predicted_s
from lookup_matmul.costs.recorder import record
from lookup_matmul.costs.recording import read_recordings, select

__all__ = [
    "Case", "DeviceLost", "Part", "Spread", "describe", "draw_ids", "escaped", "in_unit",
    "markdown_table", "measure_cases", "measure_ceilings", "parts", "predicted_s", "provenance",
    "read_recordings", "record", "select", "time_side_by_side",
]  # fmt: skip
