"""Curves, measurements with their spread, and totals with their parts."""

from collections.abc import Mapping, Sequence

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from lookup_matmul.figures import axes
from lookup_matmul.figures.sheet import FILLS, INK, LINE, QUIET, STROKES, Drawing

WIDTH = 330.0
# Patterns distinguish the parts without color. They consist of lines, since Matplotlib draws each
# dot of a dotted pattern as a path: 260 kB for a drawing.
PATTERNS = ["", "////", "----", "\\\\\\\\", "xxxx", "||||"]


def draw_curves(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]] | Mapping[str, Sequence[tuple[float, float, float]]],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    log_x: bool = False,
    log_y: bool = False,
) -> Drawing:
    """Draw one to four curves over common x values.

    Each name maps to one value for each x: y, or (low, middle, high) for a curve with spreads.
    Labels include units; ``alt`` is the alternative text.

    >>> draw_curves([1, 2], {"loss": [3.0, 1.5]}, x_label="step", y_label="loss", alt="It falls.")
    It falls.
    """
    with style.context(axes.PLOT_STYLE):
        ax = axes.create_figure(354, 240, layout="constrained").add_subplot()
        ax.set(xlabel=x_label, ylabel=y_label)
        for k, (name, values) in enumerate(curves.items()):
            color, dash, marker = axes.SERIES_STYLES[k]
            spreads = [value for value in values if isinstance(value, tuple)]
            y = [middle for _, middle, _ in spreads] or list(values)
            (line,) = ax.plot(x, y, color=color, ls=dash, lw=1.6, label=name)
            line.set(marker=marker, ms=5 if spreads else 4, markevery=max(1, len(x) // 12))
            if spreads:
                lows, _, highs = zip(*spreads, strict=True)
                ax.vlines(x, lows, highs, color=color, lw=4, alpha=0.45)
        axes.use_log_scale(ax, x=log_x, y=log_y)
        if len(curves) > 1:
            ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, handlelength=3)
        return axes.to_drawing(ax, alt)


def _list_axes(x_label: str, lines: float, line_height: float, top_margin: float) -> Axes:
    """Return axes whose y counts lines from the top."""
    size = lines * line_height
    bottom_margin = 42
    height = size + top_margin + bottom_margin
    box = (12 / WIDTH, bottom_margin / height, 1 - 30 / WIDTH, size / height)
    ax = axes.create_figure(WIDTH, height).add_axes(box)
    ax.set(xlabel=x_label, ylim=(lines, 0), yticks=[])
    ax.spines["left"].set_visible(False)  # it would cross the names
    return ax


def draw_intervals(
    groups: Mapping[str, Mapping[str, tuple[float, float, float]]],
    *,
    x_label: str,
    alt: str,
    log_x: bool = False,
    limit: tuple[str, float] | None = None,
) -> Drawing:
    """Draw each measurement as a bar from low to high with a marker at the middle.

    ``groups`` maps headings, which may be empty, to names with (low, middle, high). The k-th
    measurements of all groups look alike, or all do if a group has more than four. The axis begins
    at zero unless it is logarithmic. ``limit`` is name and value of a line through each bar.

    >>> times = {"warm": {"lookup": (1.9, 2.0, 2.4), "product": (3.0, 3.1, 3.5)}}
    >>> draw_intervals(times, x_label="time [µs]", alt="The lookup takes 2.0 µs of 3.1.")
    The lookup takes 2.0 µs of 3.1.
    """
    spreads = [spread for group in groups.values() for spread in group.values()]
    longest = max(map(len, groups.values()))
    styles = axes.SERIES_STYLES if longest <= len(axes.SERIES_STYLES) else axes.SERIES_STYLES[:1]
    y = 0.6 if limit else 0.0
    lines = y + len(spreads) + 0.8 * len([heading for heading in groups if heading])
    with style.context(axes.PLOT_STYLE):
        ax = _list_axes(x_label, lines, 34, top_margin=6)
        text_transform = ax.get_yaxis_transform()  # x as a share of the width, y in lines
        for heading, group in groups.items():
            if heading:
                ax.text(0, y + 0.45, heading, transform=text_transform, fontweight="bold")
                y += 0.8
            for k, (name, (low, middle, high)) in enumerate(group.items()):
                color, _, marker = styles[k % len(styles)]
                ax.text(0, y + 0.4, name, transform=text_transform)
                if limit:  # beside the bar only, so that it crosses no name
                    ax.vlines(limit[1], y + 0.55, y + 0.85, color=LINE, lw=1.2, zorder=1)
                ax.plot([low, high], [y + 0.7] * 2, color=color, lw=3, solid_capstyle="butt")
                ax.plot(middle, y + 0.7, marker=marker, color=color, ms=6, clip_on=False)
                y += 1
        if log_x:
            ax.set_xscale("log")
            low, high = ax.get_xlim()
            # On a short axis, powers of ten alone would be only one or two ticks.
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(lambda value, _: axes.format_full(value))
        else:
            ax.set_xlim(0, 1.05 * max([high for *_, high in spreads] + [limit[1] if limit else 0]))
        if limit:
            x, _ = ax.transAxes.inverted().transform(ax.transData.transform((limit[1], 0)))
            offset, alignment = (-5, "right") if x > 0.4 else (5, "left")
            note = ax.annotate(limit[0], (limit[1], 0.3), (offset, 0), textcoords="offset points")
            note.set(color=QUIET, ha=alignment)
        return axes.to_drawing(ax, alt)


def draw_parts(bars: Mapping[str, Mapping[str, float]], *, x_label: str, alt: str) -> Drawing:
    """Draw stacked bars, each with its total beside its name.

    ``bars`` maps the name of each bar to its parts, names with sizes. A part has the same color and
    pattern in all bars; up to six parts are possible.

    >>> step = {"Linear": {"forward": 8.0, "backward": 6.0}, "bag": {"backward": 9.0}}
    >>> draw_parts(step, x_label="time [ms]", alt="The Linear takes 14 ms, the bag 9.")
    The Linear takes 14 ms, the bag 9.
    """
    names = list(dict.fromkeys(part for parts in bars.values() for part in parts))
    with style.context(axes.PLOT_STYLE):
        ax = _list_axes(x_label, len(bars), 42, top_margin=18 * -(-len(names) // 2))
        for k, (bar_name, parts) in enumerate(bars.items()):
            total = 0.0
            for part, size in parts.items():
                j = names.index(part)
                (bar,) = ax.barh(k + 0.68, size, 0.5, total)
                bar.set(facecolor=FILLS[j], edgecolor=STROKES[j], hatch=PATTERNS[j], lw=0.8)
                if part not in ax.get_legend_handles_labels()[1]:
                    bar.set_label(part)
                total += size
            total_text = f"{total:.3g}" if total < 999.5 else f"{total:,.0f}"
            ax.text(0, k + 0.22, f"{bar_name}: {total_text}", color=INK, va="center")
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=2, borderaxespad=0.1)
        return axes.to_drawing(ax, alt)
