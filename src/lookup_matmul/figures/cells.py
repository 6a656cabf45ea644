"""Cells of a small table: what the drawings of tables are put together from."""

from collections.abc import Sequence

import torch
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from lookup_matmul.figures.palette import INK, LINE, MARK, PICK, QUIET, colours_of
from lookup_matmul.figures.svg import FONT_SIZE, STYLE, sheet

LARGEST = 12
CELL_WIDTH, CELL_HEIGHT, LABEL_WIDTH = 49.0, 26.0, 42.0


def canvas(width: float, rows: float, *, row_height: float = CELL_HEIGHT) -> Axes:
    """Give empty axes, the origin at the upper left: x counts points and y rows of cells."""
    with style.context(STYLE):
        ax = sheet(width, rows * row_height).add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(rows, 0))
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
    """Write text at ``x``, vertically centred at ``row``."""
    font = {"fontsize": FONT_SIZE, "fontweight": "bold" if bold else "normal"}
    ax.text(x, row, text, color=colour, ha=ha, va="center_baseline", fontdict=font)


def draw_caption(ax: Axes, row: float, text: str) -> None:
    """Write a quiet line above the cells, flush with their left edge."""
    draw_text(ax, LABEL_WIDTH, row, text, QUIET, ha="left")


def draw_cell(
    ax: Axes,
    left: float,
    row: float,
    width: float,
    text: str = "",
    *,
    height: float = 1.0,
    fill: str = "none",
    edge: str = LINE,
    lw: float = 0.8,
    dash: str | tuple[float, tuple[float, float]] = "-",
    zorder: float = 1.0,
    ink: str = INK,
    bold: bool = False,
) -> None:
    """Draw one cell, its upper left corner at ``left`` and ``row``, and text in its middle."""
    box = Rectangle((left, row), width, height, facecolor=fill, edgecolor=edge, lw=lw)
    box.set(linestyle=dash, zorder=zorder)
    ax.add_patch(box)
    if text:
        draw_text(ax, left + width / 2, row + height / 2, text, ink, bold=bold)


def draw_cells(
    ax: Axes,
    left: float,
    row: float,
    width: float,
    texts: Sequence[str],
    *,
    fill: str = "none",
    ink: str = INK,
    bold: bool = False,
) -> None:
    """Draw cells of one look beside each other."""
    for j, text in enumerate(texts):
        draw_cell(ax, left + j * width, row, width, text, fill=fill, ink=ink, bold=bold)


def draw_row(
    ax: Axes,
    row: float,
    label: str,
    texts: Sequence[str],
    *,
    picked: bool,
    token: int | None = None,
    left: float = LABEL_WIDTH,
    width: float = CELL_WIDTH,
) -> None:
    """Draw one row of cells that begin at ``left``, the label before them.

    A picked row has the colour of the id ``token``; its outline and bold type say the same
    without colour.
    """
    fill, stroke = (PICK, MARK) if token is None else colours_of(token)
    draw_text(ax, left - 6, row + 0.5, label, stroke if picked else QUIET, ha="right", bold=picked)
    face, ink = (fill, INK) if picked else ("none", QUIET)
    draw_cells(ax, left, row, width, texts, fill=face, ink=ink, bold=picked)
    if picked:
        draw_cell(ax, left, row, width * len(texts), edge=stroke, lw=2)


def draw_rule(ax: Axes, row: float, right: float) -> None:
    """Draw the line above a sum, from the left edge of the drawing to ``right``."""
    ax.plot([4, right], [row, row], color=INK, lw=1.2)


def draw_arrow(
    ax: Axes,
    begin: tuple[float, float],
    end: tuple[float, float],
    colour: str = INK,
    *,
    bend: float = 0.0,
    size: float = 11.0,
    lw: float = 1.4,
) -> None:
    """Draw an arrow between two places, each an x and a row; it may bend to the right."""
    arrow = FancyArrowPatch(begin, end, arrowstyle="->", color=colour, mutation_scale=size, lw=lw)
    arrow.set_connectionstyle(f"arc3,rad=-{bend:.2f}")
    ax.add_patch(arrow)


def in_cells(values: torch.Tensor) -> list[str]:
    """Write four decimals, as torch prints them, and fewer digits where a cell has no room."""
    return list(map(_number, values.tolist()))


def _number(value: float) -> str:
    fitting = (text for spec in (".4f", ".4g", ".3g") if len(text := f"{value:{spec}}") <= 7)
    return next(fitting, f"{value:.0e}")


def in_words(values: torch.Tensor) -> str:
    """Write a row of numbers as the cells show them, for those who hear the drawing."""
    return f"({', '.join(in_cells(values))})"


def check_sizes(
    ids: torch.Tensor,
    weight: torch.Tensor,
    rows: int = LARGEST,
    columns: tuple[int, int] = (1, LARGEST),
) -> None:
    """Raise ValueError unless there are few enough ids, rows and columns to be readable."""
    least, most = columns
    shape = tuple(weight.shape)
    if (
        ids.dim() != 1
        or not all(1 <= size <= rows for size in (len(ids), shape[0]))
        or not least <= shape[1] <= most
    ):
        raise ValueError(
            f"ids has shape {tuple(ids.shape)} and weight {shape}, expected (n,) and two sizes: "
            f"1 to {rows} ids and rows, {least} to {most} columns, to be readable; draw a slice."
        )
