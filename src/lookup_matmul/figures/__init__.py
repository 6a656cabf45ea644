"""Drawings made from tensors: SVG for light and dark, and the same story in words."""

from lookup_matmul.figures.csr import draw_csr
from lookup_matmul.figures.intervals import draw_intervals
from lookup_matmul.figures.plots import draw_curves, draw_heat_map
from lookup_matmul.figures.sums import draw_sum_of_rows
from lookup_matmul.figures.svg import Drawing
from lookup_matmul.figures.tables import draw_lookup, draw_one_hot_product

__all__ = [
    "Drawing",
    "draw_csr",
    "draw_curves",
    "draw_heat_map",
    "draw_intervals",
    "draw_lookup",
    "draw_one_hot_product",
    "draw_sum_of_rows",
]
