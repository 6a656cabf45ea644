"""Curves that lie on each other, drawn so that each can be seen, and how far they are apart."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import style

from lookup_matmul.figures.palette import LINE, QUIET
from lookup_matmul.figures.plots import (
    KINDS,
    PLOT,
    WIDTH,
    check_lengths,
    check_logarithmic,
    write_plain,
)
from lookup_matmul.figures.svg import Drawing, finish, sheet

SMALLEST = 1e-12  # what a difference of zero is drawn as


def draw_coinciding(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    limit: tuple[str, float] | None = None,
) -> Drawing:
    """Draw two or three curves that nearly coincide, and below, their distances to the first.

    Parameters
    ----------
    x : collections.abc.Sequence
        Common to all curves.
    curves : collections.abc.Mapping
        Name and y values of each curve, as many as ``x`` has.
    x_label, y_label : str
        What the axes show, with units.
    alt : str
        The story of the drawing in words, made from the same numbers.
    limit : tuple, optional
        Name and value of a line in the lower plot, which no distance should pass.

    Returns
    -------
    Drawing
        Above: lines from wide to narrow, their markers at different places, so that all can be
        seen. Below: absolute differences on a logarithmic axis; none are drawn where they are 0.

    Raises
    ------
    ValueError
        If there are not two or three curves, one has another length than ``x``,
        or the limit is not above zero.

    Examples
    --------
    >>> losses = {"dense": [3.0, 1.5], "sparse": [3.0, 1.5000001]}
    >>> draw_coinciding([0, 1], losses, x_label="step", y_label="loss", alt="They agree.")
    They agree.
    """
    if len(curves) not in (2, 3):
        raise ValueError(f"curves has {len(curves)} entries, expected 2 or 3.")
    check_lengths(x, curves)
    if limit:
        check_logarithmic("limit", limit[1:])
    first, *others = curves.items()
    with style.context(PLOT):
        figure = sheet(WIDTH, 360, layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
        gap = max(2, len(x) // 6)
        widths = (7.0, 3.4, 1.4)
        for k, (name, y) in enumerate(curves.items()):
            colour, dash, marker = KINDS[k]
            (line,) = above.plot(x, y, color=colour, lw=widths[k], label=name, zorder=2 + k)
            line.set(alpha=0.35 if k == 0 else 1.0, linestyle="-" if k == 0 else dash)
            line.set(marker=marker, markersize=6, markevery=(k * gap // len(curves), gap))
        above.set_ylabel(y_label)
        above.legend(loc="upper right", handlelength=3)
        for (name, y), (colour, _, marker) in zip(others, KINDS[1:], strict=False):
            apart = np.abs(np.subtract(y, first[1]))
            shown = np.where(apart > SMALLEST, apart, np.nan)
            below.plot(x, shown, color=colour, ls="", marker=marker, markersize=3.5, label=name)
        if limit:
            below.axhline(limit[1], color=LINE, ls="--", lw=1.2)
            below.annotate(
                limit[0], (x[0], limit[1]), (0, 4), textcoords="offset points", color=QUIET
            )
        below.set(xlabel=x_label, ylabel=f"distance\nto {first[0]}", yscale="log")
        write_plain(below.yaxis)
        low, high = below.get_ylim()
        below.set_ylim(low / 2, high * (20 if limit else 2))
        return finish(below, alt)
