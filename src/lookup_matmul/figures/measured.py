"""Measurements over a size: the middle of each, and from low to high."""

from collections.abc import Mapping, Sequence

from matplotlib import style
from matplotlib.ticker import FuncFormatter

from lookup_matmul.figures.plots import (
    KINDS,
    PLOT,
    check_count,
    check_lengths,
    check_logarithmic,
    check_spread,
    draw_legend,
    plot_axes,
)
from lookup_matmul.figures.svg import Drawing, finish


def draw_measured(
    x: Sequence[float],
    measured: Mapping[str, Sequence[tuple[float, float, float]]],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    marked: tuple[str, float] | None = None,
) -> Drawing:
    """Draw one to four measured curves on two logarithmic axes, with a bar for each spread.

    Parameters
    ----------
    x : collections.abc.Sequence
        Common to all curves, above zero.
    measured : collections.abc.Mapping
        Name, and (low, middle, high) for each x, in this order and above zero.
    x_label, y_label : str
        What the axes show, with units.
    alt : str
        The story of the drawing in words, made from the same numbers.
    marked : tuple, optional
        Name and x of a vertical line.

    Returns
    -------
    Drawing
        Curves that differ in colour, dash and marker, with a legend.

    Raises
    ------
    ValueError
        If there are no or more than four curves, one has another length than ``x``,
        a measurement is out of order, or a number is not above zero.

    Examples
    --------
    >>> times = {"dense": [(1.0, 1.1, 1.3), (1.0, 1.2, 1.3)]}
    >>> draw_measured([0.01, 0.1], times, x_label="share", y_label="ms", alt="No change.")
    No change.
    """
    check_count(measured)
    check_lengths(x, measured)
    check_logarithmic("x", x)
    check_logarithmic("marked", marked[1:] if marked else ())
    for name, spreads in measured.items():
        for spread in spreads:
            check_spread(name, spread, log=True)
    with style.context(PLOT):
        ax = plot_axes(x_label, y_label)
        for (colour, dash, marker), (name, spreads) in zip(KINDS, measured.items(), strict=False):
            lows, medians, highs = zip(*spreads, strict=True)
            ax.plot(x, medians, color=colour, ls=dash, lw=1.6, marker=marker, ms=5, label=name)
            ax.vlines(x, lows, highs, color=colour, lw=4, alpha=0.45)
        ax.set(xscale="log", yscale="log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        if marked:
            ax.axvline(marked[1], color=KINDS[-1][0], ls=":", lw=1.2)
            top = ax.get_xaxis_transform()
            ax.annotate(
                marked[0],
                (marked[1], 0.98),
                (5, 0),
                xycoords=top,
                textcoords="offset points",
                va="top",
                color=KINDS[-1][0],
            )
        draw_legend(ax, measured)
        return finish(ax, alt)
