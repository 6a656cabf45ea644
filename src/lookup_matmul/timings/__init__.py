"""What the forms cost: counted, predicted, measured side by side, recorded with provenance.

Imported by its own name; ``python -m lookup_matmul.timings`` measures the machine at hand.
"""

from lookup_matmul.timings.cases import Case, draw_ids, sweep
from lookup_matmul.timings.ceilings import measure_ceilings, predicted_s
from lookup_matmul.timings.clock import Spread, time_side_by_side
from lookup_matmul.timings.cost import Part, parts
from lookup_matmul.timings.machine import provenance
from lookup_matmul.timings.measure import measure_cases
from lookup_matmul.timings.recorder import record
from lookup_matmul.timings.recording import read_recordings
from lookup_matmul.timings.report import (
    describe,
    escaped,
    in_unit,
    markdown_table,
    ratio_table,
    select,
)

__all__ = [
    "Case",
    "Part",
    "Spread",
    "describe",
    "draw_ids",
    "escaped",
    "in_unit",
    "markdown_table",
    "measure_cases",
    "measure_ceilings",
    "parts",
    "predicted_s",
    "provenance",
    "ratio_table",
    "read_recordings",
    "record",
    "select",
    "sweep",
    "time_side_by_side",
]
