"""Rows of two numbers as points with names."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib import style

from lookup_matmul.figures.axes import PLOT_STYLE, SERIES_STYLES, create_figure, to_drawing
from lookup_matmul.figures.sheet import QUIET, Drawing

SIZE, AXES_SHARE = 320.0, 0.84  # of the figure, and the share of it that the axes fill
LINE_HEIGHT, NAME_WIDTH = 14.0, 40.0  # points


def draw_points(
    rows: torch.Tensor,
    names: Sequence[str],
    groups: Sequence[int],
    *,
    alt: str,
    axes: tuple[str, str] = ("first number of the row", "second number"),
) -> Drawing:
    """Draw each row of a table of two columns as a point with its name.

    ``rows`` has shape (number of rows, 2). Each row has a name and a group from 0 to 3, which
    determines color and marker. ``axes`` are the labels of the axes.

    >>> draw_points(torch.eye(2), ["cat", "tea"], [0, 1], alt="cat and tea lie apart.")
    cat and tea lie apart.
    """
    points = rows.tolist()
    markers = np.array(points)
    low, high = markers.min(0), markers.max(0)
    side = 1.35 * max(*(high - low), 1e-6)  # with room for names on the right
    corner = np.array([low[0] - 0.06 * side, (low[1] + high[1] - side) / 2])
    with style.context(PLOT_STYLE):
        ax = create_figure(SIZE, SIZE).add_axes((0.15, 0.13, AXES_SHARE, AXES_SHARE))
        ax.set(xlim=(corner[0], corner[0] + side), ylim=(corner[1], corner[1] + side))
        ax.set(xlabel=axes[0], ylabel=axes[1])
        ax.locator_params(nbins=6)  # short tick labels leave room for the axis label
        for k, (x, y) in enumerate(points):
            color, _, marker = SERIES_STYLES[groups[k]]
            ax.plot(x, y, marker=marker, ms=6, color=color)
        line = {"arrowstyle": "-", "color": QUIET, "lw": 0.8, "ls": ":", "shrinkB": 3}
        positions = (markers - corner) * AXES_SHARE * SIZE / side
        for k, (x, y, alignment) in place_names(positions, len(points)).items():
            options: Any = {"textcoords": "axes points", "ha": alignment, "va": "center"}
            ax.annotate(names[k], points[k], (x, y), arrowprops=line, **options)
        return to_drawing(ax, alt)


def place_names(markers: np.ndarray, count: int) -> dict[int, tuple[float, float, str]]:
    """Return position, in points, and alignment ("left" or "right") of the first ``count`` names.

    Names of markers that are close to each other form a column on the side with fewer markers.
    """
    places: dict[int, tuple[float, float, str]] = {}
    remaining = np.argsort(markers[:count, 1]).tolist()
    while remaining:
        cluster = [remaining.pop(0)]
        for k in cluster:  # the loop also visits the markers that it appends
            dx, dy = np.abs(markers - markers[k]).T
            cluster += [j for j in remaining if dx[j] < NAME_WIDTH and dy[j] < 1.4 * LINE_HEIGHT]
            remaining = [j for j in remaining if j not in cluster]
        cluster.sort(key=lambda k: markers[k, 1])
        gap = 8 if len(cluster) == 1 else 16
        x, y = markers[cluster].T
        name_y = y.mean() + LINE_HEIGHT * (np.arange(len(cluster)) - (len(cluster) - 1) / 2)
        sides = (x.min() - gap, "right"), (x.max() + gap, "left")
        hidden = [_count_hidden(markers, cluster, name_x, name_y) for name_x, _ in sides]
        on_left = hidden[0] < hidden[1] and sides[0][0] > NAME_WIDTH
        name_x, alignment = sides[0] if on_left else sides[1]
        for k, y in zip(cluster, name_y.tolist(), strict=True):
            places[k] = (float(name_x), y, alignment)
    return places


def _count_hidden(markers: np.ndarray, cluster: list[int], x: float, name_y: np.ndarray) -> int:
    """Count the markers under the names of a cluster, and those that lines to its names cross."""
    near = markers[cluster]
    begin = x if x > near[:, 0].max() else x - NAME_WIDTH
    same_line = np.abs(markers[:, 1:] - name_y).min(1) < LINE_HEIGHT / 2
    count = (same_line & (markers[:, 0] > begin) & (markers[:, 0] < begin + NAME_WIDTH)).sum()
    for marker, y in zip(near, name_y, strict=True):
        line, offsets = np.array([x, y]) - marker, near - marker
        share = np.clip(offsets @ line / (line @ line), 0, 1)
        crossed = np.hypot(*(offsets - np.outer(share, line)).T) < 4
        count += crossed.sum()  # with the line's own marker, on either side
    return int(count)
