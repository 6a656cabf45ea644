"""Cells of a small table: what the drawings of tables are put together from."""

import torch
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lookup_matmul.figures.palette import INK, LINE, MARK, PICK, QUIET, colours_of
from lookup_matmul.figures.svg import FONT_SIZE, STYLE, sheet

LARGEST = 12
CELL_WIDTH, CELL_HEIGHT, LABEL_WIDTH = 52.0, 26.0, 46.0


def canvas(width: float, height: float) -> Axes:
    """Give empty axes whose unit is one point, with the origin at the upper left."""
    with style.context(STYLE):
        ax = sheet(width, height).add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    return ax


def draw_text(
    ax: Axes,
    x: float,
    row: float,
    text: str,
    colour: str = INK,
    ha: str = "center",
    bold: bool = False,
) -> None:
    """Write text at ``x``, vertically centred where ``row`` says, in heights of a cell."""
    font = {"fontsize": FONT_SIZE, "fontweight": "bold" if bold else "normal"}
    ax.text(x, row * CELL_HEIGHT, text, color=colour, ha=ha, va="center_baseline", fontdict=font)


def draw_caption(ax: Axes, row: float, text: str) -> None:
    """Write a quiet line above the cells, flush with their left edge."""
    draw_text(ax, LABEL_WIDTH, row, text, QUIET, ha="left")


def draw_row(
    ax: Axes,
    row: float,
    label: str,
    values: torch.Tensor,
    *,
    picked: bool,
    token: int | None = None,
    left: float = LABEL_WIDTH,
) -> None:
    """Draw one row of cells that begin at ``left``, the label before them.

    A picked row has the colour of the id ``token``; its outline and bold type say the same
    without colour.
    """
    fill, stroke = (PICK, MARK) if token is None else colours_of(token)
    colour = stroke if picked else QUIET
    draw_text(ax, left - 6, row + 0.5, label, colour, ha="right", bold=picked)
    top, width = row * CELL_HEIGHT, len(values) * CELL_WIDTH
    for j, value in enumerate(values.tolist()):
        x = left + j * CELL_WIDTH
        face = fill if picked else "none"
        ax.add_patch(
            Rectangle((x, top), CELL_WIDTH, CELL_HEIGHT, facecolor=face, edgecolor=LINE, lw=0.8)
        )
        ink = INK if picked else QUIET
        draw_text(ax, x + CELL_WIDTH / 2, row + 0.5, _number(value), ink, bold=picked)
    if picked:
        ax.add_patch(Rectangle((left, top), width, CELL_HEIGHT, fill=False, edgecolor=stroke, lw=2))


def _number(value: float) -> str:
    """Write four decimals, as torch prints them, and fewer digits where a cell has no room."""
    fitting = (text for spec in (".4f", ".4g", ".3g") if len(text := f"{value:{spec}}") <= 7)
    return next(fitting, f"{value:.0e}")


def in_words(values: torch.Tensor) -> str:
    """Write a row of numbers as the cells show them, for those who hear the drawing."""
    return f"({', '.join(map(_number, values.tolist()))})"
