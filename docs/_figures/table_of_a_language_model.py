"""Rows of two numbers as points with names."""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib import style

from lookup_matmul.figures.axes import PLOT_STYLE, SERIES_STYLES, create_figure, to_drawing
from lookup_matmul.figures.sheet import Drawing

# Points, of the plot and of the labels beside it.
WIDTH = 270.0
LEFT = 48.0
BOTTOM = 42.0
LINE_HEIGHT = 14.0  # points


def draw_points(
    rows: torch.Tensor,
    names: Sequence[str],
    groups: Sequence[int],
    labels: Sequence[str],
    *,
    alt: str,
    axes: tuple[str, str] = ("first number of the row", "second number"),
) -> Drawing:
    """Draw the name of each row of a table of two columns where its numbers are.

    ``rows`` has shape (number of rows, 2). A row with the name "" is a marker. Each row has a group
    from 0 to 3, which determines its color; ``labels`` has a text for each group. ``axes`` are the
    labels of the axes.
    """
    points = np.array(rows.tolist())
    low = points.min(0)
    high = points.max(0)
    room = max(*(high - low), 1e-6) * np.array([0.08, 0.2])  # for labels
    low = low - room
    high = high + room
    height = WIDTH * (high - low)[1] / (high - low)[0]  # a unit has one length on both axes
    with style.context(PLOT_STYLE):
        size = WIDTH + LEFT, height + BOTTOM
        shares = (LEFT / size[0], BOTTOM / size[1], WIDTH / size[0], height / size[1])
        ax = create_figure(*size).add_axes(shares)
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=axes[0], ylabel=axes[1])
        ax.locator_params(nbins=6)  # short numbers leave room for the axis label
        for (x, y), name, group in zip(points, names, groups, strict=True):
            color, _, marker = SERIES_STYLES[group]
            ax.plot(x, y, marker="" if name else marker, ms=6, color=color)
            ax.text(x, y, name, color=color, ha="center", va="center", weight="bold")
        for group, label in enumerate(labels):
            members = points[np.equal(groups, group)]
            on_right, above = members.mean(0) > (low + high) / 2
            corner = np.where((on_right, above), members.max(0), members.min(0))
            offset = (6 if on_right else -6, LINE_HEIGHT if above else -LINE_HEIGHT)
            note = ax.annotate(label, corner, offset, textcoords="offset points", va="center")
            note.set(color=SERIES_STYLES[group][0], ha="right" if on_right else "left")
        return to_drawing(ax, alt)
