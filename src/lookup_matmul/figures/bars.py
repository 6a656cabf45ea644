"""Bars below each other: measurements with their spread, and wholes with their parts."""

from collections.abc import Mapping
from typing import Any

from matplotlib import style
from matplotlib.ticker import LogLocator, NullLocator

from lookup_matmul.figures.axes import KINDS, PLOT, Spread, finish, in_full, list_axes
from lookup_matmul.figures.palette import FILLS, INK, LINE, QUIET, STROKES
from lookup_matmul.figures.sheet import Drawing

# A pattern tells the parts apart where colors cannot be told; of lines, since each dot of a dotted
# one is drawn as a path, 260 kB for a drawing.
PATTERNS = ["", "////", "----", "\\\\\\\\", "xxxx"]


def draw_intervals(
    groups: Mapping[str, Mapping[str, Spread]],
    *,
    x_label: str,
    alt: str,
    log_x: bool = False,
    limit: tuple[str, float] | None = None,
) -> Drawing:
    """Draw low, middle and high of each measurement on one line, its name above it.

    Under each heading, which may be empty, are names with (low, middle, high); the k-th of each
    group has the same color and marker. The axis begins at zero unless it is logarithmic, and
    ``limit`` has the name and the value of a vertical line to compare with.

    Examples
    --------
    >>> times = {"warm": {"lookup": (1.9, 2.0, 2.4), "product": (3.0, 3.1, 3.5)}}
    >>> draw_intervals(times, x_label="time [µs]", alt="The lookup takes 2.0 µs of 3.1.")
    The lookup takes 2.0 µs of 3.1.
    """
    measured = [spread for group in groups.values() for spread in group.values()]
    y = 0.6 if limit else 0.0
    lines = y + len(measured) + 0.8 * len([heading for heading in groups if heading])
    with style.context(PLOT):
        ax = list_axes(x_label, lines, 34, above=6)
        across = ax.get_yaxis_transform()  # x as a share of the width, y in lines
        if limit:  # behind the names, whose halos interrupt it
            ax.vlines(limit[1], 0.4, lines, color=LINE, lw=1.2, zorder=1)
        for heading, group in groups.items():
            if heading:
                ax.text(0, y + 0.45, heading, transform=across, fontweight="bold")
                y += 0.8
            for k, (name, (low, middle, high)) in enumerate(group.items()):
                color, _, marker = KINDS[k % len(KINDS)]
                ax.text(0, y + 0.4, name, transform=across)
                ax.plot([low, high], [y + 0.7] * 2, color=color, lw=3, solid_capstyle="butt")
                ax.plot(middle, y + 0.7, marker=marker, color=color, ms=6, clip_on=False)
                y += 1
        if log_x:
            ax.set_xscale("log")
            low, high = ax.get_xlim()
            # Within two decades and a half, powers of ten alone would leave a tick or two.
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(lambda value, _: in_full(value))
        else:
            ends = [high for _, _, high in measured] + [limit[1] if limit else 0.0]
            ax.set_xlim(0, 1.05 * max(ends))
        if limit:
            along, _ = ax.transAxes.inverted().transform(ax.transData.transform((limit[1], 0)))
            aside, side = (-5, "right") if along > 0.4 else (5, "left")
            place: dict[str, Any] = {"textcoords": "offset points", "color": QUIET, "ha": side}
            ax.annotate(limit[0], (limit[1], 0.3), (aside, 0), **place)
        return finish(ax, alt)


def draw_parts(wholes: Mapping[str, Mapping[str, float]], *, x_label: str, alt: str) -> Drawing:
    """Draw a bar for each whole, composed of its parts.

    Each has the sizes of its parts by name, up to five different ones; a part has one color and
    pattern in all bars. The sum of its parts is written behind the name of each whole.

    Examples
    --------
    >>> step = {"Linear": {"forward": 8.0, "backward": 6.0}, "bag": {"backward": 9.0}}
    >>> draw_parts(step, x_label="time [ms]", alt="The Linear takes 14 ms, the bag 9.")
    The Linear takes 14 ms, the bag 9.
    """
    names = list(dict.fromkeys(part for parts in wholes.values() for part in parts))
    with style.context(PLOT):
        ax = list_axes(x_label, len(wholes), 42, above=18 * -(-len(names) // 2))
        for k, (whole, parts) in enumerate(wholes.items()):
            left = 0.0
            for part, size in parts.items():
                j = names.index(part)
                (bar,) = ax.barh(k + 0.68, size, 0.5, left)
                bar.set(facecolor=FILLS[j], edgecolor=STROKES[j], hatch=PATTERNS[j], lw=0.8)
                if part not in ax.get_legend_handles_labels()[1]:
                    bar.set_label(part)
                left += size
            total = f"{left:.3g}" if left < 999.5 else f"{left:,.0f}"
            ax.text(0, k + 0.22, f"{whole}: {total}", color=INK, va="center")
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, borderaxespad=0.1)
        return finish(ax, alt)
