"""What the forms cost: counted, predicted, measured side by side, recorded with provenance.

Needs the extra ``timings`` and is imported by its own name;
``python -m lookup_matmul.timings`` measures the machine at hand.
"""

from lookup_matmul.timings.bags import bag_contenders, check_bag_contenders, zipf_bags
from lookup_matmul.timings.cases import BACKWARD, DTYPES, FORWARD, Case, sweep
from lookup_matmul.timings.clock import (
    Spread,
    check_results,
    cuda_stopwatch,
    stopwatch,
    time_side_by_side,
)
from lookup_matmul.timings.contenders import case_cost, contender, draw_ids, expected_result
from lookup_matmul.timings.cost import (
    Cost,
    Sizes,
    bag_cost,
    lookup_cost,
    one_hot_cost,
    predicted_s,
    product_cost,
    sectors_of_row,
)
from lookup_matmul.timings.machine import (
    free_bytes,
    measure_ceilings,
    precision_of,
    provenance,
)
from lookup_matmul.timings.measure import measure_group
from lookup_matmul.timings.reading import copy_share, describe, read_recordings, select
from lookup_matmul.timings.recorder import record
from lookup_matmul.timings.recording import (
    Recording,
    check_recording,
    checksum,
    over_limit,
    read_recording,
    write_recording,
)
from lookup_matmul.timings.report import in_unit, markdown_table, ratio_table

__all__ = [
    "BACKWARD",
    "DTYPES",
    "FORWARD",
    "Case",
    "Cost",
    "Recording",
    "Sizes",
    "Spread",
    "bag_contenders",
    "bag_cost",
    "case_cost",
    "check_bag_contenders",
    "check_recording",
    "check_results",
    "checksum",
    "contender",
    "copy_share",
    "cuda_stopwatch",
    "describe",
    "draw_ids",
    "expected_result",
    "free_bytes",
    "in_unit",
    "lookup_cost",
    "markdown_table",
    "measure_ceilings",
    "measure_group",
    "one_hot_cost",
    "over_limit",
    "precision_of",
    "predicted_s",
    "product_cost",
    "provenance",
    "ratio_table",
    "read_recording",
    "read_recordings",
    "record",
    "sectors_of_row",
    "select",
    "stopwatch",
    "sweep",
    "time_side_by_side",
    "write_recording",
    "zipf_bags",
]
