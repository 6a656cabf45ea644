"""What all plots share: axes in the style of the site, and the SVG."""

import hashlib
import io
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from lookup_matmul.figures.palette import INK, LINE, MARK, OTHER, PAINTS, QUIET
from lookup_matmul.figures.sheet import FONT_SIZE, PLATE, Drawing, opening

WIDTH, HEIGHT = 354.0, 240.0
LIST_WIDTH = 330.0  # of measurements or bars below each other
FOOT = 3.0  # points below the figure
# A site says "none" for the plate and has its own background, in which lines end before a text.
HALO = (
    f"stroke: var(--pst-color-background, {PLATE}); stroke-width: 3; "
    "stroke-linejoin: round; paint-order: stroke; "
)
# Color, dash and marker change together, so that no curve is told by its color alone.
KINDS = [(MARK, "-", "o"), (OTHER, "--", "s"), (INK, ":", "^"), (QUIET, "-.", "D")]
PLOT = {
    "svg.fonttype": "none",  # text stays text: sharp, searchable, in the page's own font
    "svg.hashsalt": "lookup-matmul",  # the same drawing gives the same file
    "font.family": "sans-serif",
    "font.size": FONT_SIZE,
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": QUIET,
    "ytick.labelcolor": QUIET,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.use_mathtext": False,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
}
XLINK = ' xmlns:xlink="http://www.w3.org/1999/xlink"'
Spread = tuple[float, float, float]  # low, middle, high


def paper(height: float, width: float = WIDTH, **options: Any) -> Figure:
    """Return an empty figure of so many points."""
    return Figure(figsize=(width / 72, height / 72), **options)


def plot_axes(x_label: str, y_label: str, *, width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Return empty axes with labels, in which Matplotlib makes room for all texts."""
    ax = paper(height, width, layout="constrained").add_subplot()
    ax.set(xlabel=x_label, ylabel=y_label)
    return ax


def list_axes(x_label: str, lines: float, line_height: float, *, above: float) -> Axes:
    """Return axes for lines below each other, with room above them."""
    size, below = lines * line_height, 42
    height = size + above + below
    box = (12 / LIST_WIDTH, below / height, 1 - 30 / LIST_WIDTH, size / height)
    ax = paper(height, LIST_WIDTH).add_axes(box)
    ax.set(xlabel=x_label, ylim=(lines, 0), yticks=[])
    ax.spines["left"].set_visible(False)  # it would strike the names
    return ax


def _check_shown(ax: Axes) -> None:
    """Raise ValueError for a number without a place on its axis, which would go unseen."""
    for line in ax.lines:
        if line.get_transform() is not ax.transData:
            continue  # it crosses the whole plot
        for values, scale in zip(line.get_data(), (ax.get_xscale(), ax.get_yscale()), strict=True):
            shown: np.ndarray = np.ma.array(values, dtype=float).compressed()  # a mask is meant
            if not np.isfinite(shown).all() or (scale == "log" and (shown <= 0).any()):
                wanted = "above zero on a logarithmic axis" if scale == "log" else "finite"
                raise ValueError(f"the plot holds {shown}, expected numbers {wanted}.")


def finish(ax: Axes, alt: str) -> Drawing:
    """Turn the figure that holds ``ax`` into a Drawing that tells the story ``alt``.

    Texts have a halo, since lines and marks are where the numbers put them.
    """
    figure, buffer = ax.get_figure(root=True), io.StringIO()
    assert figure is not None
    for plot in figure.axes:
        _check_shown(plot)
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    # HTML knows the prefix xlink and no other.
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(buffer.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            # Metadata says nothing here, and a style element would reach the whole page.
            if child.tag.endswith(("metadata", "}style")):
                parent.remove(child)
    drawn = ElementTree.tostring(root, encoding="unicode")
    # Matplotlib names a list of fonts on every text; the page has its own.
    drawn = re.sub(r" font-family: [^;]*;", "", drawn.partition(">")[2])
    drawn = re.sub(r'(<text [^>]*?style=")', rf"\1{HALO}", drawn)
    # Several drawings share a page, so the ids inside each need a prefix of their own.
    prefix = f"d{hashlib.sha256(alt.encode()).hexdigest()[:8]}-"
    drawn = re.sub(r'\bid="|url\(#|href="#', lambda found: found.group() + prefix, drawn)
    for color, paint in PAINTS.items():
        drawn = drawn.replace(color, paint)
    width, height = 72 * figure.get_size_inches()
    first = opening(width, height + FOOT, alt)
    return Drawing(first.replace(" viewBox", f"{XLINK} viewBox", 1) + drawn, alt)


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
    if value in (1, 10):
        return f"{value:g}"
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised}" if float(digits) == 1 else f"{float(digits):g} × 10{raised}"


def scale_log(ax: Axes, names: str) -> None:
    """Make "x", "y" or "xy" logarithmic; if powers of ten are few, ticks between have names too."""
    for name in names:
        ax.set(**{f"{name}scale": "log"})
        axis: Axis = getattr(ax, f"{name}axis")
        axis.set(major_formatter=PlainNumbers(), minor_formatter=PlainNumbers())
