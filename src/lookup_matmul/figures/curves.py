"""Curves over a common x, with spreads."""

from collections.abc import Mapping, Sequence

from matplotlib import style

from lookup_matmul.figures import axes
from lookup_matmul.figures.sheet import Drawing


def draw_curves(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]] | Mapping[str, Sequence[axes.Spread]],
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

    Examples
    --------
    >>> draw_curves([1, 2], {"loss": [3.0, 1.5]}, x_label="step", y_label="loss", alt="It falls.")
    It falls.
    >>> times = {"dense": [(1.0, 1.1, 1.3), (1.0, 1.2, 1.3)]}
    >>> draw_curves([0.01, 0.1], times, x_label="share", y_label="ms", alt="No change.")
    No change.
    """
    with style.context(axes.PLOT_STYLE):
        ax = axes.create_axes(x_label, y_label, 354, 240)
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
