"""Curves over common x values."""

from collections.abc import Mapping, Sequence

from matplotlib import style

from lookup_matmul.figures.plots import (
    KINDS,
    PLOT,
    check_lengths,
    check_logarithmic,
    draw_legend,
    plot_axes,
    write_plain,
)
from lookup_matmul.figures.svg import Drawing, finish


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
        The story of the drawing in words, made from the same numbers.
    log_x, log_y : bool
        Whether an axis is logarithmic.

    Returns
    -------
    Drawing
        Curves that differ in colour, dash and marker, with a legend.

    Raises
    ------
    ValueError
        If there are no or more than four curves, one has another length than ``x``,
        or a number is not above zero on a logarithmic axis.

    Examples
    --------
    >>> draw_curves([1, 2], {"loss": [3.0, 1.5]}, x_label="step", y_label="loss", alt="It falls.")
    It falls.
    """
    if not 1 <= len(curves) <= len(KINDS):
        raise ValueError(f"curves has {len(curves)} entries, expected 1 to {len(KINDS)}; split it.")
    check_lengths(x, curves)
    if log_x:
        check_logarithmic("x", x)
    for name, y in curves.items() if log_y else ():
        check_logarithmic(f"curve {name!r}", y)
    with style.context(PLOT):
        ax = plot_axes(x_label, y_label)
        for (colour, dash, marker), (name, y) in zip(KINDS, curves.items(), strict=False):
            (line,) = ax.plot(x, y, color=colour, linestyle=dash, label=name, lw=1.6)
            line.set(marker=marker, markevery=max(1, len(x) // 12), markersize=4)
        ax.set_xscale("log" if log_x else "linear")
        ax.set_yscale("log" if log_y else "linear")
        for axis, log in ((ax.xaxis, log_x), (ax.yaxis, log_y)):
            if log:
                write_plain(axis)
        draw_legend(ax, curves)
        return finish(ax, alt)
