"""Curves over a size: with spreads, and with their distances."""

from collections.abc import Mapping, Sequence

from matplotlib import style
from matplotlib.axes import Axes

from lookup_matmul.figures.axes import KINDS, PLOT, Spread, finish, plot_axes, scale_log
from lookup_matmul.figures.sheet import Drawing


def draw_curves(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float]] | Mapping[str, Sequence[Spread]],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    log_x: bool = False,
    log_y: bool = False,
) -> Drawing:
    """Draw one to four curves over common x values, with a bar for each spread.

    Each curve has a name and as many values as ``x``: y, or (low, middle, high). The labels say
    what the axes show, with units, and ``alt`` tells the story in words, made from the same
    numbers.

    Examples
    --------
    >>> draw_curves([1, 2], {"loss": [3.0, 1.5]}, x_label="step", y_label="loss", alt="It falls.")
    It falls.
    >>> times = {"dense": [(1.0, 1.1, 1.3), (1.0, 1.2, 1.3)]}
    >>> draw_curves([0.01, 0.1], times, x_label="share", y_label="ms", alt="No change.")
    No change.
    """
    with style.context(PLOT):
        ax = plot_axes(x_label, y_label)
        for k, (name, values) in enumerate(curves.items()):
            color, dash, marker = KINDS[k]
            spreads = [value for value in values if isinstance(value, tuple)]
            y = [middle for _, middle, _ in spreads] or list(values)
            (line,) = ax.plot(x, y, color=color, ls=dash, lw=1.6, label=name)
            line.set(marker=marker, ms=5 if spreads else 4, markevery=max(1, len(x) // 12))
            if spreads:
                lows, _, highs = zip(*spreads, strict=True)
                ax.vlines(x, lows, highs, color=color, lw=4, alpha=0.45)
        scale_log(ax, "x" * log_x + "y" * log_y)
        _name_curves(ax)
        return finish(ax, alt)


def _name_curves(ax: Axes) -> None:
    """Name the curves above the axes, if there are several."""
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, handlelength=3)
