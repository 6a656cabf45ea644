"""A small matrix as shaded cells, with a dot in some of them."""

from collections.abc import Sequence

import torch
from matplotlib import style
from matplotlib.patches import Rectangle

from lookup_matmul.figures.palette import INK, LINE, MARK
from lookup_matmul.figures.plots import PLOT, plot_axes
from lookup_matmul.figures.svg import Drawing, finish
from lookup_matmul.inputs import check_type as expect


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
    TypeError
        If ``values`` or ``dots`` is no tensor.
    ValueError
        If ``values`` or ``dots`` has another shape, a value is negative or infinite,
        or labels are missing.

    Examples
    --------
    >>> moved = torch.tensor([[0.0, 0.1], [0.2, 0.0]])
    >>> draw_heat_map(moved, x_label="step", y_label="row", alt="Each step moves one row.")
    Each step moves one row.
    """
    for name, given in (("values", values), ("dots", values if dots is None else dots)):
        expect(name, given, torch.Tensor, "wrap it in torch.tensor(...)")
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
        ax = plot_axes(x_label, y_label, height=60 + 22 * rows)
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
