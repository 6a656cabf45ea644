"""Rows of two numbers as points: with names, and with a path from one of them to another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib import style
from matplotlib.axes import Axes

from lookup_matmul.figures.axes import (
    KINDS,
    PLOT,
    check_count,
    check_finite,
    finish,
    paper,
    plot_axes,
)
from lookup_matmul.figures.palette import INK, LINE, QUIET, colours_of
from lookup_matmul.figures.sheet import FONT_SIZE, Drawing

SIZE = 320.0
PLOTTED = 0.84  # share of the size that the axes have, in both directions
LINE_HEIGHT, NAME_WIDTH = 14.0, 40.0  # of a name, in points


def draw_points(
    rows: torch.Tensor,
    names: Sequence[str],
    groups: Sequence[int],
    *,
    alt: str,
    start: torch.Tensor | None = None,
    axes: tuple[str, str] = ("first number of the row", "second number"),
) -> Drawing:
    """Draw each row of a table of two columns as a point with its name.

    Parameters
    ----------
    rows : torch.Tensor
        Shape (number of rows, 2), 1 to 16 rows.
    names : collections.abc.Sequence
        One for each row.
    groups : collections.abc.Sequence
        One for each row, from 0 to 3; rows of one group have one color and one marker.
    alt : str
        The story of the drawing in words, made from the same numbers.
    start : torch.Tensor, optional
        Shape of ``rows``: where each row came from, drawn as a thin line to its point.
    axes : tuple
        What the two numbers are, for both axes.

    Returns
    -------
    Drawing
        A square plot in which both axes have one scale.

    Raises
    ------
    ValueError
        If there are too many rows to read, or a number is not finite.

    Examples
    --------
    >>> draw_points(torch.eye(2), ["cat", "tea"], [0, 1], alt="cat and tea lie apart.")
    cat and tea lie apart.
    """
    points, begun = rows.tolist(), [] if start is None else start.tolist()
    check_count("rows", len(points), 16)
    for what, table in (("rows", points), ("start", begun)):
        check_finite(what, [number for row in table for number in row])
    with style.context(PLOT):
        ax = paper(SIZE, SIZE).add_axes((0.15, 0.14, PLOTTED, PLOTTED))
        _limit(ax, np.array([*points, *begun]))
        ax.set(xlabel=axes[0], ylabel=axes[1])
        ax.locator_params(nbins=6)  # few enough for short numbers, which leave room for the label
        for k, (x, y) in enumerate(points):
            colour, _, marker = KINDS[groups[k]]
            if begun:
                from_x, from_y = begun[k]
                ax.plot([from_x, x], [from_y, y], color=colour, lw=0.7, alpha=0.55)
                ax.plot(from_x, from_y, marker=".", ms=4, color=colour)
            ax.plot(x, y, marker=marker, ms=6, color=colour)
        line = {"arrowstyle": "-", "color": QUIET, "lw": 0.8, "shrinkB": 3}
        for k, (x, y, side) in _places(ax, points, begun).items():
            at: dict[str, Any] = {"xytext": (x, y), "va": "center", "ha": side}
            ax.annotate(names[k], tuple(points[k]), arrowprops=line, fontsize=FONT_SIZE, **at)
        return finish(ax, alt)


def draw_path(
    weight: torch.Tensor, start: int, end: int, shares: torch.Tensor, direction: torch.Tensor
) -> Drawing:
    """Draw the rows of a table as points, and mixtures of two of them.

    For the page "Gradient of the choice". The path leads from the row of ``start`` to that of
    ``end``, whose share is ``shares``; dashed lines join points with one score.
    """
    table, scores = weight.double(), (weight.double() @ direction.double()).tolist()
    path = table[start] + shares.double()[:, None] * (table[end] - table[start])
    with style.context(PLOT):
        ax = plot_axes("column 0", "column 1", width=320, height=290)
        ax.set_aspect("equal")
        ax.plot(path[:, 0], path[:, 1], color=INK, lw=1.6, marker="o", ms=4, zorder=3)
        for k, ((x, y), score) in enumerate(zip(table.tolist(), scores, strict=True)):
            _, ink = colours_of(k)
            ax.plot(x, y, "o", color=ink, ms=9, zorder=4)
            # The other dashed line never crosses a label on this side.
            side = 1 if (score == max(scores)) == (direction[0] >= 0) else -1
            aside: dict[str, Any] = {
                "xytext": (9 * side, 0),
                "textcoords": "offset points",
                "va": "center",
            }
            look: dict[str, Any] = {
                "color": ink,
                "fontweight": "bold",
                "ha": "left" if side > 0 else "right",
            }
            ax.annotate(f"token {k}\nscore {score:g}", (x, y), zorder=5, **aside, **look)
        low, high = table.amin(0).tolist(), table.amax(0).tolist()
        room = 0.5 * (high[0] - low[0])  # for the labels
        ax.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - 0.8, high[1] + 0.8))
        a, b = direction.tolist()
        for score in (scores[start], scores[end]):
            # The points with one score are on a line at right angles to the direction.
            x, y = (part * score / (a * a + b * b) for part in (a, b))
            ax.axline((x, y), (x - b, y + a), color=LINE, lw=0.8, ls=(0, (4, 3)), zorder=1)
        points = "; ".join(
            f"token {k} at {_point(row)} with score {score:g}"
            for k, (row, score) in enumerate(zip(table, scores, strict=True))
        )
        return finish(
            ax,
            f"{len(table)} rows as points of a plane: {points}. A straight path leads from token "
            f"{start} to token {end} over mixtures at {', '.join(map(_point, path))}; "
            f"along it the score goes from {scores[start]:g} to {scores[end]:g}.",
        )


def _point(row: torch.Tensor) -> str:
    return f"({row[0]:g}, {row[1]:g})"


def _limit(ax: Axes, points: np.ndarray) -> None:
    """Give both axes one scale, with room for names at the right."""
    low, high = points.min(0), points.max(0)
    side = 1.35 * max(*(high - low), 1e-6)
    left, bottom = low[0] - 0.06 * side, (low[1] + high[1] - side) / 2
    ax.set(xlim=(left, left + side), ylim=(bottom, bottom + side))


def _places(
    ax: Axes, points: list[list[float]], begun: list[list[float]]
) -> dict[int, tuple[float, float, str]]:
    """Return where each name is, and which end of it is there.

    Names of near points are in a column beside them, on the side where it hides fewer points.
    """
    unit = (ax.get_xlim()[1] - ax.get_xlim()[0]) / (PLOTTED * SIZE)  # of one point on paper
    places: dict[int, tuple[float, float, str]] = {}
    rest = sorted(range(len(points)), key=lambda k: points[k][1])
    while rest:
        near = [rest.pop(0)]
        for k in near:  # it grows while it is read
            close = [
                j
                for j in rest
                if abs(points[j][0] - points[k][0]) < NAME_WIDTH * unit
                and abs(points[j][1] - points[k][1]) < 1.4 * LINE_HEIGHT * unit
            ]
            near += close
            rest = [j for j in rest if j not in close]
        near.sort(key=lambda k: points[k][1])
        right = _column(near, points, unit, "left")
        left = _column(near, points, unit, "right")
        outside = left[near[0]][0] - NAME_WIDTH * unit < ax.get_xlim()[0]
        better = not outside and (
            _hidden(left, points, begun, unit) < _hidden(right, points, begun, unit)
        )
        places |= left if better else right
    return places


def _column(
    near: list[int], points: list[list[float]], unit: float, end: str
) -> dict[int, tuple[float, float, str]]:
    """Return the places of names whose left end is at the right of all points, or the reverse."""
    sign = 1 if end == "left" else -1
    gap = (8 if len(near) == 1 else 16) * unit
    x = sign * (max(sign * points[k][0] for k in near) + gap)
    middle = sum(points[k][1] for k in near) / len(near)
    lines = (middle + (n - (len(near) - 1) / 2) * LINE_HEIGHT * unit for n in range(len(near)))
    return {k: (x, y, end) for k, y in zip(near, lines, strict=True)}


def _hidden(
    places: dict[int, tuple[float, float, str]],
    points: list[list[float]],
    begun: list[list[float]],
    unit: float,
) -> int:
    """Count the points under these names, and those that a name's line runs through."""
    count = 0
    for k, (x, y, end) in places.items():
        low, high = sorted((x, x + (NAME_WIDTH if end == "left" else -NAME_WIDTH) * unit))
        count += sum(
            low < a < high and abs(b - y) < LINE_HEIGHT * unit / 2 for a, b in [*points, *begun]
        )
        line = np.subtract((x, y), points[k])
        for j in places.keys() - {k}:
            off = np.subtract(points[j], points[k])
            share = np.clip(off @ line / (line @ line), 0, 1)
            count += bool(np.hypot(*(off - share * line)) < 4 * unit)
    return count
