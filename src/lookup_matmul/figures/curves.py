"""Curves over a size: with spreads, and with their distances."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes

from lookup_matmul.figures.axes import KINDS, PLOT, Spread, finish, paper, plot_axes, scale_log
from lookup_matmul.figures.palette import LINE, QUIET
from lookup_matmul.figures.sheet import Drawing

SMALLEST = 1e-12  # the least difference that is drawn


def draw_curves(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]] | Mapping[str, Sequence[Spread]],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    log_x: bool = False,
    log_y: bool = False,
) -> Drawing:
    """Draw one to four curves over common x values, with a bar for each spread.

    Each curve has a name and as many values as ``x``: y, or (low, middle, high). The labels say
    what the axes show, with units, and ``alt`` tells the story in words, made from the same
    numbers.

    Examples
    --------
    >>> draw_curves([1, 2], {"loss": [3.0, 1.5]}, x_label="step", y_label="loss", alt="It falls.")
    It falls.
    >>> times = {"dense": [(1.0, 1.1, 1.3), (1.0, 1.2, 1.3)]}
    >>> draw_curves([0.01, 0.1], times, x_label="share", y_label="ms", alt="No change.")
    No change.
    """
    with style.context(PLOT):
        ax = plot_axes(x_label, y_label)
        for k, (name, values) in enumerate(curves.items()):
            color, dash, marker = KINDS[k]
            spreads = [value for value in values if isinstance(value, tuple)]
            y = [middle for _, middle, _ in spreads] or list(values)
            (line,) = ax.plot(x, y, color=color, ls=dash, lw=1.6, label=name)
            line.set(marker=marker, ms=5 if spreads else 4, markevery=max(1, len(x) // 12))
            if spreads:
                lows, _, highs = zip(*spreads, strict=True)
                ax.vlines(x, lows, highs, color=color, lw=4, alpha=0.45)
        scale_log(ax, "x" * log_x + "y" * log_y)
        _name_curves(ax)
        return finish(ax, alt)


def draw_curves_with_distances(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    limit: tuple[str, float] | None = None,
) -> Drawing:
    """Draw two or three curves that nearly coincide, and below, their distances to the first.

    The arguments are those of :func:`draw_curves`; ``limit`` has the name and the value of a line
    in the lower plot, which no distance should pass.

    Examples
    --------
    >>> losses = {"dense": [3.0, 1.5], "sparse": [3.0, 1.5000001]}
    >>> words = {"x_label": "step", "y_label": "loss", "alt": "They agree."}
    >>> draw_curves_with_distances([0, 1], losses, **words)
    They agree.
    """
    first, *others = curves.items()
    with style.context(PLOT):
        figure = paper(360, layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        gap = max(2, len(x) // 6)
        for k, (name, y) in enumerate(curves.items()):
            (color, dash, marker), lw, alpha = KINDS[k], (7.0, 3.4, 1.4)[k], 1.0 if k else 0.35
            (line,) = above.plot(x, y, color=color, lw=lw, ls=dash, alpha=alpha, label=name)
            line.set(marker=marker, ms=6, markevery=(k * gap // len(curves), gap), zorder=2 + k)
        above.set_ylabel(y_label)
        above.legend(loc="upper right", handlelength=3)
        for (_, y), (color, _, marker) in zip(others, KINDS[1:], strict=False):
            apart = np.abs(np.subtract(y, first[1]))
            shown = np.ma.masked_where(apart <= SMALLEST, apart)
            below.plot(x, shown, color=color, ls="", marker=marker, ms=3.5)
        if limit:
            below.axhline(limit[1], color=LINE, ls="--", lw=1.2)
            place: dict[str, Any] = {"textcoords": "offset points", "color": QUIET}
            below.annotate(limit[0], (x[0], limit[1]), (0, 4), **place)
        below.set(xlabel=x_label, ylabel=f"distance\nto {first[0]}")
        scale_log(below, "y")
        low, high = below.get_ylim()
        below.set_ylim(low / 2, high * (20 if limit else 2))
        return finish(below, alt)


def _name_curves(ax: Axes) -> None:
    """Name the curves above the axes, if there are several."""
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, handlelength=3)
