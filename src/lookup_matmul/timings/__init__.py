"""What the forms cost: counted, predicted, measured side by side, recorded with provenance.

Needs the extra ``timings`` and is imported by its own name;
``python -m lookup_matmul.timings`` measures the machine at hand.
"""

from lookup_matmul.timings.bags import bag_contenders, check_bag_contenders, zipf_bags
from lookup_matmul.timings.behaviour import behaviour, outcome
from lookup_matmul.timings.cases import BACKWARD, BAGS, DTYPES, FORWARD, Case, forms_of, sweep
from lookup_matmul.timings.clock import (
    Spread,
    cuda_stopwatch,
    launch_s,
    stopwatch,
    time_side_by_side,
)
from lookup_matmul.timings.contenders import contender
from lookup_matmul.timings.cost import (
    Cost,
    Sizes,
    bag_cost,
    lookup_cost,
    one_hot_cost,
    product_cost,
    sectors_of_row,
)
from lookup_matmul.timings.inputs import Inputs, draw_ids, draw_inputs
from lookup_matmul.timings.limits import (
    case_cost,
    copy_share,
    over_limit,
    predicted_case_s,
    predicted_s,
)
from lookup_matmul.timings.machine import (
    free_bytes,
    measure_ceilings,
    precision_of,
    provenance,
)
from lookup_matmul.timings.measure import measure_cases, measure_group
from lookup_matmul.timings.oracle import (
    check_results,
    error_bound,
    expected_columns,
    largest_error,
    repeats_bitwise,
)
from lookup_matmul.timings.profiled import profiled
from lookup_matmul.timings.reading import (
    compare,
    describe,
    read_recordings,
    select,
    usual,
)
from lookup_matmul.timings.recorder import record
from lookup_matmul.timings.recording import (
    Recording,
    check_recording,
    checksum,
    read_recording,
    write_recording,
)
from lookup_matmul.timings.report import in_unit, markdown_table, pivot_table, ratio_table
from lookup_matmul.timings.text import escaped

__all__ = [
    "BACKWARD",
    "BAGS",
    "DTYPES",
    "FORWARD",
    "Case",
    "Cost",
    "Inputs",
    "Recording",
    "Sizes",
    "Spread",
    "bag_contenders",
    "bag_cost",
    "behaviour",
    "case_cost",
    "check_bag_contenders",
    "check_recording",
    "check_results",
    "checksum",
    "compare",
    "contender",
    "copy_share",
    "cuda_stopwatch",
    "describe",
    "draw_ids",
    "draw_inputs",
    "error_bound",
    "escaped",
    "expected_columns",
    "forms_of",
    "free_bytes",
    "in_unit",
    "largest_error",
    "launch_s",
    "lookup_cost",
    "markdown_table",
    "measure_cases",
    "measure_ceilings",
    "measure_group",
    "one_hot_cost",
    "outcome",
    "over_limit",
    "pivot_table",
    "precision_of",
    "predicted_case_s",
    "predicted_s",
    "product_cost",
    "profiled",
    "provenance",
    "ratio_table",
    "read_recording",
    "read_recordings",
    "record",
    "repeats_bitwise",
    "sectors_of_row",
    "select",
    "stopwatch",
    "sweep",
    "time_side_by_side",
    "usual",
    "write_recording",
    "zipf_bags",
]
