"""Rows of two numbers as points with names."""

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib import style
from matplotlib.axes import Axes

from lookup_matmul.figures.palette import INK, QUIET
from lookup_matmul.figures.plots import KINDS, PLOT, check_finite
from lookup_matmul.figures.svg import FONT_SIZE, Drawing, finish, sheet

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
        One for each row, from 0 to 3; rows of one group have one colour and one marker.
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
        If ``rows`` has another shape, there are not as many names, groups or starts as rows,
        or a number is not finite.

    Examples
    --------
    >>> draw_points(torch.eye(2), ["cat", "tea"], [0, 1], alt="cat and tea lie apart.")
    cat and tea lie apart.
    """
    if rows.dim() != 2 or rows.shape[1] != 2 or not 1 <= len(rows) <= 16:
        raise ValueError(f"rows has shape {tuple(rows.shape)}, expected (1 to 16, 2).")
    for what, found in (("names", names), ("groups", groups), ("start", start)):
        if found is not None and len(found) != len(rows):
            raise ValueError(f"{what} has {len(found)} entries, expected {len(rows)}, as rows has.")
    for what, table in (("rows", rows), ("start", start)):
        check_finite(what, [] if table is None else table.flatten().tolist())
    if not set(groups) <= set(range(len(KINDS))):
        raise ValueError(f"groups has {sorted(set(groups))}, expected 0 to {len(KINDS) - 1}.")
    with style.context(PLOT):
        ax = sheet(SIZE, SIZE).add_axes((0.15, 0.14, PLOTTED, PLOTTED))
        _limit(ax, rows if start is None else torch.cat([rows, start]))
        ax.set(xlabel=axes[0], ylabel=axes[1])
        ax.locator_params(nbins=6)  # few enough for short numbers, which leave room for the label
        points = rows.tolist()
        for k, (x, y) in enumerate(points):
            colour, _, marker = KINDS[groups[k]]
            if start is not None:
                (from_x, from_y) = start[k].tolist()
                ax.plot([from_x, x], [from_y, y], color=colour, lw=0.7, alpha=0.55)
                ax.plot(from_x, from_y, marker=".", markersize=4, color=colour)
            ax.plot(x, y, marker=marker, markersize=6, color=colour)
        begun = [] if start is None else start.tolist()
        for k, (x, y, side) in _places(ax, points, begun).items():
            ax.annotate(
                names[k],
                (points[k][0], points[k][1]),
                xytext=(x, y),
                va="center",
                ha=side,
                color=INK,
                fontsize=FONT_SIZE,
                arrowprops={"arrowstyle": "-", "color": QUIET, "lw": 0.8, "shrinkB": 3},
            )
        return finish(ax, alt)


def _limit(ax: Axes, points: torch.Tensor) -> None:
    """Give both axes one scale, with room for names at the right."""
    low, high = points.amin(dim=0), points.amax(dim=0)
    side = 1.35 * float((high - low).max().clamp(min=1e-6))
    left, bottom = float(low[0]) - 0.06 * side, float(low[1] + high[1] - side) / 2
    ax.set(xlim=(left, left + side), ylim=(bottom, bottom + side))


def _places(
    ax: Axes, points: list[list[float]], begun: list[list[float]]
) -> dict[int, tuple[float, float, str]]:
    """Give where each name stands, and which end of it is there.

    Names of near points stand in a column beside them, on the side where it hides fewer points.
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
    """Give the places of names whose left end stands at the right of all points, or the reverse."""
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
    """Count the points that lie under these names, and those that a name's line runs through."""
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
