"""Drawings made from tensors: SVG for light and dark, and the same story in words."""

from lookup_matmul.figures.bits import draw_bits
from lookup_matmul.figures.blocks import draw_blocks
from lookup_matmul.figures.both_ends import draw_both_ends
from lookup_matmul.figures.coinciding import draw_coinciding
from lookup_matmul.figures.column_votes import draw_votes
from lookup_matmul.figures.csr import draw_csr
from lookup_matmul.figures.curves import draw_curves
from lookup_matmul.figures.differences import draw_differences
from lookup_matmul.figures.distances import draw_distances
from lookup_matmul.figures.equality import draw_equality
from lookup_matmul.figures.hashes import draw_hashes
from lookup_matmul.figures.heat_map import draw_heat_map
from lookup_matmul.figures.intervals import draw_intervals
from lookup_matmul.figures.measured import draw_measured
from lookup_matmul.figures.memory_order import draw_strips
from lookup_matmul.figures.names import draw_names
from lookup_matmul.figures.parts import draw_parts
from lookup_matmul.figures.paths import draw_path
from lookup_matmul.figures.points import draw_points
from lookup_matmul.figures.predictions import draw_predictions
from lookup_matmul.figures.roofline import draw_roofline
from lookup_matmul.figures.scatter import draw_scatter_add
from lookup_matmul.figures.shards import draw_shards
from lookup_matmul.figures.spread import draw_spread
from lookup_matmul.figures.sums import draw_sum_of_rows
from lookup_matmul.figures.svg import Drawing
from lookup_matmul.figures.swaps import draw_swap
from lookup_matmul.figures.tables import draw_lookup, draw_one_hot_product
from lookup_matmul.figures.words import draw_bag_of_words

__all__ = [
    "Drawing",
    "draw_bag_of_words",
    "draw_bits",
    "draw_blocks",
    "draw_both_ends",
    "draw_coinciding",
    "draw_csr",
    "draw_curves",
    "draw_differences",
    "draw_distances",
    "draw_equality",
    "draw_hashes",
    "draw_heat_map",
    "draw_intervals",
    "draw_lookup",
    "draw_measured",
    "draw_names",
    "draw_one_hot_product",
    "draw_parts",
    "draw_path",
    "draw_points",
    "draw_predictions",
    "draw_roofline",
    "draw_scatter_add",
    "draw_shards",
    "draw_spread",
    "draw_strips",
    "draw_sum_of_rows",
    "draw_swap",
    "draw_votes",
]
