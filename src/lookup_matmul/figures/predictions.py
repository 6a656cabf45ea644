"""Measured times beside what a model predicts for them, over a size."""

from collections.abc import Mapping

from matplotlib import style
from matplotlib.ticker import FuncFormatter

from lookup_matmul.figures.plots import (
    KINDS,
    PLOT,
    check_count,
    check_logarithmic,
    check_spread,
    draw_legend,
    plot_axes,
)
from lookup_matmul.figures.svg import Drawing, finish


def draw_predictions(
    measured: Mapping[str, Mapping[float, tuple[float, float, float]]],
    predicted: Mapping[str, Mapping[float, float]],
    floors: Mapping[str, float],
    *,
    x_label: str,
    y_label: str,
    alt: str,
) -> Drawing:
    """Draw measurements as marks, predictions as lines, and where each line begins.

    Parameters
    ----------
    measured : collections.abc.Mapping
        Name of one to four curves, and (low, middle, high) for each x, in this order, above zero.
    predicted : collections.abc.Mapping
        The same names, and a prediction for each x.
    floors : collections.abc.Mapping
        The same names, and what is the least at any x: a dotted line.
    x_label, y_label : str
        What the logarithmic axes show, with units.
    alt : str
        The story of the drawing in words, made from the same numbers.

    Returns
    -------
    Drawing
        Curves that differ in colour, dash and marker, with a legend.

    Raises
    ------
    ValueError
        If there are no or more than four curves, the three differ in their names,
        a curve differs from its prediction in x, a measurement is out of order,
        or a number is not above zero.

    Examples
    --------
    >>> times, model = {"lookup": {1: (1.9, 2.0, 2.2)}}, {"lookup": {1: 2.1}}
    >>> draw_predictions(times, model, {"lookup": 1.5}, x_label="ids", y_label="µs", alt="2 µs.")
    2 µs.
    """
    check_count(measured)
    for other in (predicted, floors):
        if other.keys() != measured.keys():
            raise ValueError(f"the curves are {list(other)}, expected {list(measured)}.")
    for name, spreads in measured.items():
        if predicted[name].keys() != spreads.keys():
            raise ValueError(
                f"predictions of {name!r} are at {list(predicted[name])}, expected {list(spreads)}."
            )
        for spread in spreads.values():
            check_spread(name, spread, log=True)
        check_logarithmic(f"measured of {name!r}", spreads)
        check_logarithmic(f"predicted of {name!r}", predicted[name].values())
    check_logarithmic("floors", floors.values())
    with style.context(PLOT):
        ax = plot_axes(x_label, y_label)
        for (colour, dash, marker), (name, spreads) in zip(KINDS, measured.items(), strict=False):
            lows, medians, highs = zip(*spreads.values(), strict=True)
            x, model = list(spreads), predicted[name]
            ax.plot(x, medians, color=colour, ls="", marker=marker, ms=6, label=name)
            ax.vlines(x, lows, highs, color=colour, lw=4, alpha=0.45)
            line = [model[size] for size in x]
            ax.plot(x, line, color=colour, ls=dash, lw=1.4, label=f"{name}, predicted")
            ax.axhline(floors[name], color=colour, ls=":", lw=1.2)
        ax.set(xscale="log", yscale="log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        draw_legend(ax, [*measured, *predicted])
        return finish(ax, alt)
