"""Measurements with their spread: a dot for the middle, a bar from low to high."""

from collections.abc import Mapping

from matplotlib import style
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lookup_matmul.figures.palette import INK, LINE, QUIET
from lookup_matmul.figures.plots import (
    KINDS,
    PLOT,
    check_finite,
    check_logarithmic,
    check_spread,
    list_axes,
)
from lookup_matmul.figures.svg import Drawing, finish

LARGEST = 12


def draw_intervals(
    groups: Mapping[str, Mapping[str, tuple[float, float, float]]],
    *,
    x_label: str,
    alt: str,
    log_x: bool = False,
    limit: tuple[str, float] | None = None,
) -> Drawing:
    """Draw low, middle and high of each measurement on one line, its name above it.

    Parameters
    ----------
    groups : collections.abc.Mapping
        A heading, which may be empty, and the measurements under it: name and
        (low, middle, high), in this order and finite; 1 to 12 of them in all.
        The k-th of each group has the same colour and marker.
    x_label : str
        What the axis shows, with its unit.
    alt : str
        The story of the drawing in words, made from the same numbers.
    log_x : bool
        Whether the axis is logarithmic; otherwise it begins at zero.
    limit : tuple, optional
        Name and value of a vertical line to compare with.

    Returns
    -------
    Drawing
        The groups from top to bottom.

    Raises
    ------
    ValueError
        If there are no or more than 12 measurements, one is out of order,
        the limit is not finite, or one or the limit is not above zero on a logarithmic axis.

    Examples
    --------
    >>> times = {"warm": {"lookup": (1.9, 2.0, 2.4), "product": (3.0, 3.1, 3.5)}}
    >>> draw_intervals(times, x_label="time [µs]", alt="The lookup takes 2.0 µs of 3.1.")
    The lookup takes 2.0 µs of 3.1.
    """
    measured = [item for group in groups.values() for item in group.items()]
    if not 1 <= len(measured) <= LARGEST:
        raise ValueError(
            f"groups has {len(measured)} measurements, expected 1 to {LARGEST}; draw fewer."
        )
    for name, spread in measured:
        check_spread(name, spread, log=log_x)
    if limit:
        check = check_logarithmic if log_x else check_finite
        check("limit", limit[1:])
    headings = [heading for heading in groups if heading]
    lines = len(measured) + 0.8 * len(headings) + (0.6 if limit else 0)
    with style.context(PLOT):
        ax = list_axes(x_label, lines, 34, above=6, below=42)
        ax.spines["left"].set_visible(False)
        across = ax.get_yaxis_transform()  # x as a share of the width, y in lines
        y = 0.6 if limit else 0.0
        for heading, group in groups.items():
            if heading:
                ax.text(0, y + 0.45, heading, transform=across, color=INK, fontweight="bold")
                y += 0.8
            for k, (name, (low, middle, high)) in enumerate(group.items()):
                colour, _, marker = KINDS[k % len(KINDS)]
                ax.text(0, y + 0.4, name, transform=across, color=INK)
                ax.plot([low, high], [y + 0.7] * 2, color=colour, lw=3, solid_capstyle="butt")
                ax.plot(middle, y + 0.7, marker=marker, color=colour, markersize=6, clip_on=False)
                y += 1
        if limit:
            ax.axvline(limit[1], 0, 1, color=LINE, ls="--", lw=1.2)
        ax.set_xscale("log" if log_x else "linear")
        if log_x:
            low, high = ax.get_xlim()
            # Within two decades powers of ten alone would leave a tick or two.
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
            ax.xaxis.set_minor_formatter(NullFormatter())
        else:
            ends = [high for _, (_, _, high) in measured]
            ax.set_xlim(0, 1.05 * max([*ends, limit[1]] if limit else ends))
        if limit:
            along, _ = ax.transAxes.inverted().transform(ax.transData.transform((limit[1], 0)))
            aside, side = (-5, "right") if along > 0.4 else (5, "left")
            ax.annotate(
                limit[0],
                (limit[1], 0.3),
                (aside, 0),
                textcoords="offset points",
                color=QUIET,
                ha=side,
            )
        return finish(ax, alt)
