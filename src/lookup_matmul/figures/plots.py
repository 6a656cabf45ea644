"""Plots of measured or computed numbers, in the style of the other drawings."""

from collections.abc import Mapping, Sequence

import torch
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lookup_matmul.figures.palette import INK, LINE, MARK, OTHER, QUIET
from lookup_matmul.figures.svg import STYLE, Drawing, finish

WIDTH, HEIGHT = 354.0, 240.0
# Colour, dash and marker change together, so that no curve is told by its colour alone.
KINDS = [(MARK, "-", "o"), (OTHER, "--", "s"), (INK, ":", "^"), (QUIET, "-.", "D")]
PLOT = STYLE | {
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "axes.formatter.use_mathtext": False,
    "legend.frameon": False,
}


def draw_curves(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    log_x: bool = False,
    log_y: bool = False,
) -> Drawing:
    """Draw one to four curves over common x values.

    Parameters
    ----------
    x : collections.abc.Sequence
        Common to all curves.
    curves : collections.abc.Mapping
        Name and y values of each curve, as many as ``x`` has.
    x_label, y_label : str
        What the axes show, with units.
    alt : str
        The story of the plot in words, made from the same numbers.
    log_x, log_y : bool
        Whether an axis is logarithmic.

    Returns
    -------
    Drawing
        Curves that differ in colour, dash and marker, with a legend.

    Raises
    ------
    ValueError
        If there are no or more than four curves, or one has another length than ``x``.

    Examples
    --------
    >>> draw_curves([1, 2], {"loss": [3.0, 1.5]}, x_label="step", y_label="loss", alt="It falls.")
    It falls.
    """
    if not 1 <= len(curves) <= len(KINDS):
        raise ValueError(f"curves has {len(curves)} entries, expected 1 to {len(KINDS)}; split it.")
    for name, y in curves.items():
        if len(y) != len(x):
            raise ValueError(f"curve {name!r} has {len(y)} values, expected {len(x)}, as x has.")
    with style.context(PLOT):
        ax = _axes(HEIGHT, x_label, y_label)
        for (colour, dash, marker), (name, y) in zip(KINDS, curves.items(), strict=False):
            (line,) = ax.plot(x, y, color=colour, linestyle=dash, label=name, lw=1.6)
            line.set(marker=marker, markevery=max(1, len(x) // 12), markersize=4)
        ax.set_xscale("log" if log_x else "linear")
        ax.set_yscale("log" if log_y else "linear")
        if len(curves) > 1:
            ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, handlelength=3)
        return finish(ax, alt)


def draw_heat_map(
    values: torch.Tensor,
    *,
    x_label: str,
    y_label: str,
    alt: str,
    threshold: float = 0.0,
    dots: torch.Tensor | None = None,
    x_ticks: Sequence[str] | None = None,
    y_ticks: Sequence[str] | None = None,
) -> Drawing:
    """Draw a small matrix as shaded cells, with a dot in some of them.

    Parameters
    ----------
    values : torch.Tensor
        Shape (rows, columns), each 1 to 24, none negative or infinite; a NaN is left blank.
    x_label, y_label : str
        What columns and rows are.
    alt : str
        The story of the drawing in words, made from the same numbers.
    threshold : float
        A cell gets a dot if its value is above this, unless ``dots`` are given.
    dots : torch.Tensor, optional
        Which cells get a dot, in the shape of ``values``; dtype bool.
    x_ticks, y_ticks : collections.abc.Sequence, optional
        A label for each column and row; by default their numbers.

    Returns
    -------
    Drawing
        Row 0 on top; the shade is the value as a share of the largest.

    Raises
    ------
    ValueError
        If ``values`` or ``dots`` has another shape, a value is negative or infinite,
        or labels are missing.

    Examples
    --------
    >>> moved = torch.tensor([[0.0, 0.1], [0.2, 0.0]])
    >>> draw_heat_map(moved, x_label="step", y_label="row", alt="Each step moves one row.")
    Each step moves one row.
    """
    if values.dim() != 2 or not all(1 <= size <= 24 for size in values.shape):
        raise ValueError(
            f"values has shape {tuple(values.shape)}, expected (rows, columns), each 1 to 24."
        )
    if ((values < 0) | values.isinf()).any():
        raise ValueError("values has a negative or infinite element, expected finite ones >= 0.")
    dots = values > threshold if dots is None else dots
    if dots.shape != values.shape:
        raise ValueError(
            f"dots has shape {tuple(dots.shape)}, expected {tuple(values.shape)}, as values has."
        )
    rows, columns = values.shape
    for name, ticks, size in (("x_ticks", x_ticks, columns), ("y_ticks", y_ticks, rows)):
        if ticks is not None and len(ticks) != size:
            raise ValueError(f"{name} has {len(ticks)} labels, expected {size}, as values has.")
    largest = float(values.nan_to_num(0.0).max())
    shades = values.double() / max(largest, torch.finfo(torch.float64).tiny)
    with style.context(PLOT):
        ax = _axes(60 + 22 * rows, x_label, y_label)
        for i, j in ((i, j) for i in range(rows) for j in range(columns)):
            place = (j - 0.5, i - 0.5)
            if values[i, j].isnan():
                continue
            shade = 0.6 * float(shades[i, j])  # so that the dot stays visible on the darkest
            ax.add_patch(Rectangle(place, 1, 1, facecolor=MARK, alpha=shade, edgecolor="none"))
            ax.add_patch(Rectangle(place, 1, 1, fill=False, edgecolor=LINE, lw=0.5))
            if dots[i, j]:
                ax.plot(j, i, marker="o", markersize=4, color=INK)
        ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), yticks=range(rows))
        if y_ticks is not None:
            ax.set_yticks(range(rows), y_ticks)
        ax.set_xticks(range(0, columns, 1 + columns // 12))
        if x_ticks is not None:
            ax.set_xticks(range(columns), x_ticks)
        return finish(ax, alt)


def _axes(height: float, x_label: str, y_label: str) -> Axes:
    figure = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
    ax = figure.add_subplot()
    ax.set(xlabel=x_label, ylabel=y_label)
    return ax
