"""Bias and time of a sampled softmax, over the number of items that are drawn."""

from collections.abc import Mapping, Sequence

from matplotlib import style
from matplotlib.ticker import FixedLocator, NullLocator

from lookup_matmul.figures import axes
from lookup_matmul.figures.sheet import LINE, Drawing


def draw_bias_and_time(
    sizes: Sequence[int],
    biases: Mapping[str, Sequence[float]],
    times_ms: Mapping[str, float | Sequence[float]],
    alt: str,
) -> Drawing:
    """Draw biases above times; a time that is one number belongs to no size and is a level line."""
    with style.context(axes.PLOT_STYLE):
        figure = axes.create_figure(354, 430, layout="constrained")
        above, below = figure.subplots(2, sharex=True)
        above.axhline(0, color=LINE, lw=1)
        for ax, curves, label in (
            (above, biases, "loss − full loss"),
            (below, times_ms, "time [ms]"),
        ):
            for k, (name, values) in enumerate(curves.items()):
                color, dash, marker = axes.SERIES_STYLES[k]
                y = values if isinstance(values, Sequence) else [values] * len(sizes)
                ax.plot(sizes, y, color=color, ls=dash, marker=marker, lw=1.6, ms=4, label=name)
            ax.set_ylabel(label)
            ax.legend(loc="lower left", bbox_to_anchor=(-0.1, 1.0), ncols=1, handlelength=3)
        axes.use_log_scale(below, x=True, y=True)
        below.xaxis.set(major_locator=FixedLocator(sizes), minor_locator=NullLocator())
        below.xaxis.set_major_formatter(lambda size, _: axes.format_full(size))
        below.set_xlabel("items drawn")
        return axes.to_drawing(below, alt)
