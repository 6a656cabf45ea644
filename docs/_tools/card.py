"""Draws what other sites show beside a link to this one: three ids, and the same as one-hot rows.

``python docs/_tools/card.py`` writes ``docs/_static/card.png``, which is committed: its type is
Matplotlib's, so no build draws it.
"""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

CARD = Path(__file__).parents[1] / "_static" / "card.png"
IDS = [2, 3, 1]
FILLS = {1: "#ffe3b3", 2: "#d6f5dc", 3: "#ebdfff"}  # of the site's figures, in the light scheme
STROKES = {1: "#963a02", 2: "#116329", 3: "#6f42c1"}
INK, QUIET, LINE = "#1f2328", "#5b626b", "#8c959f"
SIDE = 74  # of a cell, in pixels
WORDS = """nn.Embedding copies rows, nn.Linear multiplies:
the same bits, checked while the pages are built"""


def main() -> None:
    """Write a picture of 1200 × 630 pixels, the size that is asked for everywhere."""
    figure = Figure(figsize=(12, 6.3), dpi=100, facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 1200), ylim=(630, 0))
    axes.axis("off")
    _write(axes, 600, 118, "Lookup ≡ Matmul", size=60, weight="bold", color=INK)
    _write(axes, 487, 228 + 1.5 * SIDE, "≡", size=76, color=STROKES[1])
    _write(axes, 600, 538, WORDS, size=22, color=QUIET, linespacing=1.5)
    for row, name in enumerate(IDS):
        top = 228 + row * SIDE
        _cell(axes, 310, top, str(name), name)
        for column in range(4):
            bit = int(column == name)
            _cell(axes, 590 + column * SIDE, top, str(bit), name * bit)
    figure.savefig(CARD, pil_kwargs={"optimize": True})


def _write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    axes.text(x, y, text, ha="center", va="center", zorder=4, **style)


def _cell(axes: Axes, left: float, top: float, text: str, name: int) -> None:
    """Draw a cell in the colors of an id, or plainly for 0."""
    fill, stroke, width = FILLS.get(name, "white"), STROKES.get(name, LINE), 3 if name else 1
    box = Rectangle((left, top), SIDE, SIDE, facecolor=fill, edgecolor=stroke, linewidth=width)
    box.set_zorder(width)
    axes.add_patch(box)
    weight, ink = ("bold", INK) if name else ("normal", QUIET)
    _write(axes, left + SIDE / 2, top + SIDE / 2, text, size=28, weight=weight, color=ink)


if __name__ == "__main__":
    main()
