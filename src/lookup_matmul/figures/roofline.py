"""The roofline of a machine, with a ceiling for each level of its memory."""

from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any

from matplotlib import style

from lookup_matmul.figures.palette import FILLS, INK, LINE, MARK, QUIET
from lookup_matmul.figures.plots import PLOT, check_logarithmic, check_spread, write_plain
from lookup_matmul.figures.svg import Drawing, finish, sheet

WIDTH, HEIGHT, LINE_HEIGHT = 354.0, 240.0, 15.0
MOST = 8
LEVELS = 5


def draw_roofline(
    levels: Mapping[str, float],
    rate: float,
    points: Mapping[str, tuple[float, tuple[float, float, float]]],
    *,
    alt: str,
) -> Drawing:
    """Draw what a machine can do at most for each operation per byte, and what was measured.

    Parameters
    ----------
    levels : collections.abc.Mapping
        Name of one to five levels of memory, and billions of bytes that each moves in a second.
    rate : float
        Billions of operations in a second, above which no level helps.
    points : collections.abc.Mapping
        Name of one to eight computations, their operations for each byte moved, above zero, and
        billions of operations in a second: (low, middle, high), in this order.
    alt : str
        The story of the drawing in words, made from the same numbers.

    Returns
    -------
    Drawing
        A slope for each level, the flat roof, and a letter for each computation, named below.

    Raises
    ------
    ValueError
        If there is nothing or too much to draw, a number is not above zero, or one out of order.

    Examples
    --------
    >>> caches, product = {"cache": 200.0, "memory": 20.0}, (8.0, (70.0, 75.0, 80.0))
    >>> draw_roofline(caches, 100.0, {"product": product}, alt="The product comes near the roof.")
    The product comes near the roof.
    """
    if not 1 <= len(levels) <= LEVELS or not 1 <= len(points) <= MOST:
        raise ValueError(
            f"there are {len(levels)} levels and {len(points)} points, "
            f"expected 1 to {LEVELS} and 1 to {MOST}."
        )
    check_logarithmic("levels", levels.values())
    check_logarithmic("rate", [rate])
    check_logarithmic("points", (x for x, _ in points.values()))
    for name, (_, spread) in points.items():
        check_spread(name, spread, log=True)
    with style.context(PLOT):
        below = 42 + LINE_HEIGHT * len(points)
        figure = sheet(WIDTH, HEIGHT + below)
        box = (
            62 / WIDTH,
            below / (HEIGHT + below),
            1 - 74 / WIDTH,
            (HEIGHT - 10) / (HEIGHT + below),
        )
        ax = figure.add_axes(box)
        ax.set(xscale="log", yscale="log", xlabel="operations for each byte moved")
        ax.set_ylabel("billion operations a second")
        left = min([rate / max(levels.values()), *(x for x, _ in points.values())]) / 3
        right = max([rate / min(levels.values()), *(x for x, _ in points.values())]) * 3
        bottom = (
            min([left * min(levels.values()), *(low for _, (low, _, _) in points.values())]) / 2
        )
        # A line for the name of each level above the roof.
        share = (LINE_HEIGHT * len(levels) + 8) / (HEIGHT - 10)
        above = rate * (rate / bottom) ** (share / (1 - share))
        # A processor that was busy while its rate was measured can be faster later.
        top = max([above, *(2 * high for _, (_, _, high) in points.values())])
        ax.set(xlim=(left, right), ylim=(bottom, top))
        ax.axhline(rate, color=INK, lw=1.6)
        # On the left, where no slope reaches the roof and so no computation can lie.
        ax.annotate("operations", (left, rate), (5, 4), textcoords="offset points", color=INK)
        # Slopes lie close, so their names stand in steps above the roof, each where its slope ends.
        for k, (name, bandwidth) in enumerate(sorted(levels.items(), key=lambda level: level[1])):
            end = rate / bandwidth
            ax.plot([left, end], [left * bandwidth, rate], color=LINE, lw=1.2)
            ax.annotate(
                "",
                (end, rate),
                (0, 8 + LINE_HEIGHT * (k + 0.5)),
                textcoords="offset points",
                arrowprops={
                    "arrowstyle": "-",
                    "color": LINE,
                    "lw": 0.8,
                    "shrinkA": 0,
                    "shrinkB": 0,
                },
            )
            ax.annotate(
                name, (end, rate), (4, 4 + LINE_HEIGHT * k), textcoords="offset points", color=QUIET
            )
        for k, (name, (x, (low, middle, high))) in enumerate(points.items()):
            letter = ascii_lowercase[k]
            ax.vlines(x, low, high, color=MARK, lw=4, alpha=0.45)
            ax.plot(x, middle, "o", ms=6, mfc=FILLS[1], mec=MARK)
            # Below, where no roof is; neighbours have their letters on different sides.
            aside = (9, -7) if k % 2 else (-9, -7)
            style_of: dict[str, Any] = {
                "ha": "center",
                "va": "center",
                "color": INK,
                "fontweight": "bold",
            }
            ax.annotate(letter, (x, middle), aside, textcoords="offset points", **style_of)
            y = (below - 46 - LINE_HEIGHT * k) / (HEIGHT + below)
            figure.text(0.05, y, f"{letter}   {name}", color=INK)
        for axis in (ax.xaxis, ax.yaxis):
            write_plain(axis)
        return finish(ax, alt)
