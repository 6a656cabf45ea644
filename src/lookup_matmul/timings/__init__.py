"""What the forms cost: contenders on shared inputs, timed side by side and checked first."""

from lookup_matmul.timings.bags import bag_contenders, check_bag_contenders, zipf_bags
from lookup_matmul.timings.clock import Spread, check_results, stopwatch, time_side_by_side
from lookup_matmul.timings.report import in_unit, markdown_table, ratio_table

__all__ = [
    "Spread",
    "bag_contenders",
    "check_bag_contenders",
    "check_results",
    "in_unit",
    "markdown_table",
    "ratio_table",
    "stopwatch",
    "time_side_by_side",
    "zipf_bags",
]
