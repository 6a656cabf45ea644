"""Rows of two numbers as points: with names, and with a path from one of them to another."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib import style

from lookup_matmul.figures.axes import KINDS, PLOT, finish, paper, plot_axes
from lookup_matmul.figures.palette import INK, LINE, QUIET, colors_of
from lookup_matmul.figures.sheet import Drawing

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

    ``rows`` has shape (number of rows, 2), and so has ``start``, from where thin lines lead to the
    points; dotted ones lead to names. Each row has a name and a group from 0 to 3, which decides
    its color and marker; ``axes`` says what the two numbers are.

    Examples
    --------
    >>> draw_points(torch.eye(2), ["cat", "tea"], [0, 1], alt="cat and tea lie apart.")
    cat and tea lie apart.
    """
    points, begun = rows.tolist(), [] if start is None else start.tolist()
    every = np.array([*points, *begun])
    low, high = every.min(0), every.max(0)
    side = 1.35 * max(*(high - low), 1e-6)  # with room for names at the right
    corner = np.array([low[0] - 0.06 * side, (low[1] + high[1] - side) / 2])
    on_paper = (every - corner) * PLOTTED * SIZE / side
    with style.context(PLOT):
        ax = paper(SIZE, SIZE).add_axes((0.15, 0.13, PLOTTED, PLOTTED))
        ax.set(xlim=(corner[0], corner[0] + side), ylim=(corner[1], corner[1] + side))
        ax.set(xlabel=axes[0], ylabel=axes[1])
        ax.locator_params(nbins=6)  # few enough for short numbers, which leave room for the label
        for k, (x, y) in enumerate(points):
            color, _, marker = KINDS[groups[k]]
            if begun:
                from_x, from_y = begun[k]
                ax.plot([from_x, x], [from_y, y], color=color, lw=0.7, alpha=0.55)
                ax.plot(from_x, from_y, marker=".", ms=4, color=color)
            ax.plot(x, y, marker=marker, ms=6, color=color)
        line = {"arrowstyle": "-", "color": QUIET, "lw": 0.8, "ls": ":", "shrinkB": 3}
        for k, (x, y, end) in _beside(on_paper[: len(points)], on_paper).items():
            at: dict[str, Any] = {"textcoords": "axes points", "va": "center", "ha": end}
            ax.annotate(names[k], tuple(points[k]), (x, y), arrowprops=line, **at)
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
            _, ink = colors_of(k)
            ax.plot(x, y, "o", color=ink, ms=9, zorder=4)
            # The other dashed line never crosses a label on this side.
            side = 1 if (score == max(scores)) == (direction[0] >= 0) else -1
            at: dict[str, Any] = {"xytext": (9 * side, 0), "textcoords": "offset points"}
            at |= {"ha": "left" if side > 0 else "right", "va": "center", "fontweight": "bold"}
            label = f"token {k}\nscore {score:g}".replace("-", "−")
            ax.annotate(label, (x, y), color=ink, zorder=5, **at)
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


def _beside(spots: np.ndarray, others: np.ndarray) -> dict[int, tuple[float, float, str]]:
    """Return where each name is, in points on paper, and which end of it is there.

    Names of near spots are in a column beside them, on the side where it hides fewer spots.
    """
    places: dict[int, tuple[float, float, str]] = {}
    rest = [int(k) for k in np.argsort(spots[:, 1])]
    while rest:
        near = [rest.pop(0)]
        for k in near:  # it grows while it is read
            wide, high = np.abs(spots - spots[k]).T
            near += [j for j in rest if wide[j] < NAME_WIDTH and high[j] < 1.4 * LINE_HEIGHT]
            rest = [j for j in rest if j not in near]
        near.sort(key=lambda k: spots[k, 1])
        gap, middle = 8 if len(near) == 1 else 16, (len(near) - 1) / 2
        heights = spots[near, 1].mean() + LINE_HEIGHT * (np.arange(len(near)) - middle)
        right, left = spots[near, 0].max() + gap, spots[near, 0].min() - gap
        at_right, at_left = (_hidden(spots[near], x, heights, others) for x in (right, left))
        better = at_left < at_right and left > NAME_WIDTH
        x, end = (left, "right") if better else (right, "left")
        places |= {k: (float(x), float(y), end) for k, y in zip(near, heights, strict=True)}
    return places


def _hidden(near: np.ndarray, x: float, heights: np.ndarray, others: np.ndarray) -> int:
    """Count the spots under names at ``x``, and those that the line of a name runs through."""
    begin = x if x > near[:, 0].max() else x - NAME_WIDTH
    level = np.abs(others[:, 1:] - heights).min(1) < LINE_HEIGHT / 2
    count = (level & (others[:, 0] > begin) & (others[:, 0] < begin + NAME_WIDTH)).sum()
    for spot, y in zip(near, heights, strict=True):
        line, off = np.array([x, y]) - spot, near - spot
        share = np.clip(off @ line / (line @ line), 0, 1)
        through = np.hypot(*(off - np.outer(share, line)).T) < 4
        count += through.sum() - 1  # its own
    return int(count)
