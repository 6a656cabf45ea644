"""Drawings made from tensors: SVG for light and dark, and the same story in words."""

from lookup_matmul.figures.bits import draw_bits
from lookup_matmul.figures.csr import draw_csr
from lookup_matmul.figures.halves import draw_equality
from lookup_matmul.figures.intervals import draw_intervals
from lookup_matmul.figures.names import draw_names
from lookup_matmul.figures.paths import draw_path
from lookup_matmul.figures.plots import draw_curves, draw_heat_map
from lookup_matmul.figures.points import draw_points
from lookup_matmul.figures.scatter import draw_scatter_add
from lookup_matmul.figures.spread import draw_spread
from lookup_matmul.figures.strips import draw_strips
from lookup_matmul.figures.sums import draw_sum_of_rows
from lookup_matmul.figures.svg import Drawing
from lookup_matmul.figures.tables import draw_lookup, draw_one_hot_product

__all__ = [
    "Drawing",
    "draw_bits",
    "draw_csr",
    "draw_curves",
    "draw_equality",
    "draw_heat_map",
    "draw_intervals",
    "draw_lookup",
    "draw_names",
    "draw_one_hot_product",
    "draw_path",
    "draw_points",
    "draw_scatter_add",
    "draw_spread",
    "draw_strips",
    "draw_sum_of_rows",
]
