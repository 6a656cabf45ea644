"""Drawings made from tensors: SVG for light and dark, and the same story in words."""

from importlib import import_module
from typing import Any

from lookup_matmul.figures.bits import draw_bits
from lookup_matmul.figures.sheet import Drawing
from lookup_matmul.figures.tables import (
    draw_blocks,
    draw_lookup,
    draw_one_hot_product,
    draw_scatter_add,
)
from lookup_matmul.figures.two_ways import draw_equality

__all__ = [
    "Drawing", "draw_bits", "draw_blocks", "draw_curves", "draw_equality",
    "draw_intervals", "draw_lookup", "draw_one_hot_product", "draw_parts",
    "draw_points", "draw_scatter_add",
]  # fmt: skip
# Plots need Matplotlib, which takes longer to import than tables take to be drawn.
PLOTS = {
    "draw_curves": "curves",
    "draw_intervals": "bars",
    "draw_parts": "bars",
    "draw_points": "points",
}


def __getattr__(name: str) -> Any:
    """Import a plot when it is first asked for."""
    if name in PLOTS:
        return getattr(import_module(f"{__name__}.{PLOTS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
