"""What all plots share: style, kinds of curves, empty axes, and what counts as bad input."""

import math
from collections.abc import Collection, Iterable, Mapping

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogFormatter

from lookup_matmul.figures.palette import INK, LINE, MARK, OTHER, QUIET
from lookup_matmul.figures.svg import STYLE, sheet

WIDTH, HEIGHT = 354.0, 240.0
LIST_WIDTH = 330.0  # of measurements or bars below each other
# Colour, dash and marker change together, so that no curve is told by its colour alone.
KINDS = [(MARK, "-", "o"), (OTHER, "--", "s"), (INK, ":", "^"), (QUIET, "-.", "D")]
PLOT = STYLE | {
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": False,
    "axes.formatter.use_mathtext": False,
    "legend.frameon": False,
}


def plot_axes(x_label: str, y_label: str, *, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Give empty axes with labels, in which Matplotlib makes room for all texts."""
    ax = sheet(width, height, layout="constrained").add_subplot()
    ax.set(xlabel=x_label, ylabel=y_label)
    return ax


def list_axes(
    x_label: str, lines: float, line_height: float, *, above: float, below: float
) -> Axes:
    """Give axes for lines that stand below each other, with room above and below them."""
    size = lines * line_height
    height = size + (above + below)
    ax = sheet(LIST_WIDTH, height).add_axes(
        (12 / LIST_WIDTH, below / height, 1 - 30 / LIST_WIDTH, size / height)
    )
    ax.set(xlabel=x_label, ylim=(lines, 0), yticks=[])
    return ax


class PlainNumbers(LogFormatter):
    """Write each number of a logarithmic axis as one text, which browsers space evenly.

    Matplotlib's formulas have a text for each digit. Numbers are written in full, as 600 and 0.05,
    unless some on the axis are too long for it: then as 6 × 10² and 10⁻⁵.
    """

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Write a number, or nothing where Matplotlib names no tick."""
        if not super().__call__(x, pos):
            return ""
        assert self.axis is not None
        low, high = self.axis.get_view_interval()
        return in_full(x) if low >= 5e-4 and high < 2e6 else in_powers(x)


def in_full(value: float) -> str:
    """Write a number with commas and without zeros at its end."""
    return f"{value:,.9f}".rstrip("0").rstrip(".")


def in_powers(value: float) -> str:
    """Write a number with a power of ten, if that is not one or ten."""
    digits, power = f"{value:e}".split("e")
    if float(digits) == 1 and int(power) in (0, 1):
        return f"{value:g}"
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if float(digits) == 1 else f"{float(digits):g} × 10{raised}"


def write_plain(axis: Axis) -> None:
    """Name the ticks of a logarithmic axis, those between powers of ten too if these are few."""
    axis.set_major_formatter(PlainNumbers())
    axis.set_minor_formatter(PlainNumbers())


def draw_legend(ax: Axes, curves: Collection[str]) -> None:
    """Name the curves above the axes, if there are several."""
    if len(curves) > 1:
        ax.legend(loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=2, handlelength=3)


def check_count(measured: Collection[str]) -> None:
    """Raise ValueError unless there are one to as many curves as there are kinds of them."""
    if not 1 <= len(measured) <= len(KINDS):
        raise ValueError(f"measured has {len(measured)} curves, expected 1 to {len(KINDS)}.")


def check_lengths(x: Collection[float], curves: Mapping[str, Collection[object]]) -> None:
    """Raise ValueError unless each curve has as many values as ``x``."""
    for name, y in curves.items():
        if len(y) != len(x):
            raise ValueError(f"curve {name!r} has {len(y)} values, expected {len(x)}, as x has.")


def check_finite(name: str, values: Iterable[float]) -> None:
    """Raise ValueError for a number that has no place on any axis."""
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"{name} holds {value}, expected finite numbers; draw those alone.")


def check_logarithmic(name: str, values: Iterable[float]) -> None:
    """Raise ValueError for a number that has no place on a logarithmic axis."""
    for value in values:
        if not 0 < value < float("inf"):
            raise ValueError(
                f"{name} holds {value}, expected numbers above zero on a logarithmic axis."
            )


def check_spread(name: str, spread: tuple[float, float, float], *, log: bool) -> None:
    """Raise ValueError unless low, middle and high are in order, and none is below its axis."""
    low, middle, high = spread
    if not 0 <= low <= middle <= high < float("inf"):
        raise ValueError(
            f"{name!r} is {(low, middle, high)}, "
            f"expected 0 {'<' if log else '<='} low <= middle <= high, finite."
        )
    if log and low == 0:
        raise ValueError(f"{name!r} begins at 0, expected more on a logarithmic axis.")
