"""Drawings of tensors: SVG for light and dark pages, with alt text from the same numbers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookup_matmul.figures.equality import draw_equality
    from lookup_matmul.figures.plots import draw_curves, draw_intervals, draw_parts
    from lookup_matmul.figures.sheet import Drawing
    from lookup_matmul.figures.tables import draw_lookup, draw_one_hot_product, draw_scatter_add

__all__ = [
    "Drawing", "draw_curves", "draw_equality", "draw_intervals", "draw_lookup",
    "draw_one_hot_product", "draw_parts", "draw_scatter_add",
]  # fmt: skip
# Modules are imported on first use: Matplotlib takes longer to import than a table to draw.
MODULES = {
    "Drawing": "sheet", "draw_curves": "plots", "draw_equality": "equality",
    "draw_intervals": "plots", "draw_lookup": "tables", "draw_one_hot_product": "tables",
    "draw_parts": "plots", "draw_scatter_add": "tables",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
