"""What the page "What it costs" draws: measured over predicted, and the roofline of a machine."""

from collections.abc import Mapping
from string import ascii_lowercase
from typing import Any

from matplotlib import style
from matplotlib.ticker import FixedLocator

from lookup_matmul.figures import axes
from lookup_matmul.figures.axes import HEIGHT, PLOT, WIDTH, Spread
from lookup_matmul.figures.palette import FILLS, INK, LINE, MARK, PICK, QUIET
from lookup_matmul.figures.sheet import Drawing

LINE_HEIGHT = 15.0


def draw_ratios(
    ratios: Mapping[str, Mapping[str, Spread]], band: tuple[float, float], *, x_label: str, alt: str
) -> Drawing:
    """Draw measured over predicted, a line for each name, and the band that was aimed at."""
    kinds = list(dict.fromkeys(kind for line in ratios.values() for kind in line))
    ends = [
        end for line in ratios.values() for low, _, high in line.values() for end in (low, high)
    ]
    with style.context(PLOT):
        ax = axes.list_axes(x_label, len(ratios), 32, above=22)
        low, high = min([*ends, band[0] / 2]) / 1.1, max([*ends, band[1] * 2]) * 1.1
        ax.set(xscale="log", xlim=(low, high))
        across = ax.get_yaxis_transform()  # x as a share of the width, y in lines
        for y, (name, line) in enumerate(ratios.items()):
            ax.text(0, y + 0.26, name, transform=across, va="center")
            # A piece of band for each line, so that no name is on it.
            foot = y + 0.5 + 0.16 * (len(kinds) + 0.5)
            ax.fill_betweenx([y + 0.5, foot], *band, color=PICK, alpha=0.6, lw=0)
            ax.vlines(1, y + 0.5, foot, color=QUIET, lw=1, ls=":")
            for kind, (low, middle, high) in line.items():
                color, _, marker = axes.KINDS[k := kinds.index(kind)]
                at = y + 0.62 + 0.16 * k
                (bar,) = ax.plot([low, high], [at, at], color=color, lw=3, alpha=0.55)
                bar.set_solid_capstyle("butt")
                label = kind if kind not in ax.get_legend_handles_labels()[1] else None
                ax.plot(middle, at, marker=marker, color=color, ms=5, ls="", label=label)
        ax.xaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5, 10, 20]))
        ax.xaxis.set_minor_locator(FixedLocator([]))
        ax.xaxis.set_major_formatter(lambda value, _: axes.in_full(value))
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=4, borderaxespad=0.1)
        return axes.finish(ax, alt)


def draw_roofline(
    levels: Mapping[str, float],
    rate: float,
    points: Mapping[str, tuple[float, Spread]],
    *,
    alt: str,
) -> Drawing:
    """Draw what a machine can do at most for each operation per byte, and what was measured.

    Levels of memory have billions of bytes a second, ``rate`` is in billions of operations a
    second, and points have operations for each byte and a rate. A letter names each point below.
    """
    places, speeds = zip(*points.values(), strict=True)
    slow, fast = min(levels.values()), max(levels.values())
    left, right = min(rate / fast, *places) / 3, max(rate / slow, *places) * 3
    bottom = min(left * slow, *(low for low, _, _ in speeds)) / 2
    # A line for the name of each level above the roof.
    share = (LINE_HEIGHT * len(levels) + 8) / (HEIGHT - 10)
    above = rate * (rate / bottom) ** (share / (1 - share))
    # A processor that was busy while its rate was measured can be faster later.
    top = max(above, *(2 * high for _, _, high in speeds))
    below = 42 + LINE_HEIGHT * len(points)
    height = HEIGHT + below
    with style.context(PLOT):
        figure = axes.paper(height)
        box = (62 / WIDTH, below / height, 1 - 74 / WIDTH, (HEIGHT - 10) / height)
        ax = figure.add_axes(box)
        axes.scale_log(ax, "xy")
        ax.set(xlim=(left, right), ylim=(bottom, top))
        ax.set(xlabel="operations for each byte moved", ylabel="billion operations a second")
        ax.axhline(rate, color=INK, lw=1.6)
        aside: dict[str, Any] = {"textcoords": "offset points"}
        # On the left, where no slope reaches the roof and so no computation can be.
        ax.annotate("operations", (left, rate), (5, 4), color=INK, **aside)
        # Slopes are close, so their names are in steps above the roof, each where its slope ends.
        for k, (name, bandwidth) in enumerate(sorted(levels.items(), key=lambda level: level[1])):
            end = rate / bandwidth
            ax.plot([left, end], [left * bandwidth, rate], color=LINE, lw=1.2)
            stem = {"arrowstyle": "-", "color": LINE, "lw": 0.8, "shrinkA": 0, "shrinkB": 0}
            up = 8 + LINE_HEIGHT * (k + 0.5)
            ax.annotate("", (end, rate), (0, up), arrowprops=stem, **aside)
            ax.annotate(name, (end, rate), (4, 4 + LINE_HEIGHT * k), color=QUIET, **aside)
        for k, (name, (x, (low, middle, high))) in enumerate(points.items()):
            letter = ascii_lowercase[k]
            ax.vlines(x, low, high, color=MARK, lw=4, alpha=0.45)
            ax.plot(x, middle, "o", ms=6, mfc=FILLS[1], mec=MARK)
            # Below, where no roof is; neighbors have their letters on different sides.
            at = (9, -7) if k % 2 else (-9, -7)
            bold: dict[str, Any] = {"ha": "center", "va": "center", "fontweight": "bold"}
            ax.annotate(letter, (x, middle), at, **bold, **aside)
            y = (below - 46 - LINE_HEIGHT * k) / height
            figure.text(0.05, y, f"{letter}   {name}", color=INK)
        return axes.finish(ax, alt)
