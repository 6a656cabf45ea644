"""Axes in the style of the site, and their conversion to SVG."""

import io
import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter, NullLocator

from lookup_matmul.figures import sheet

BOTTOM_MARGIN = 3.0
# An outline in the color of the page interrupts lines behind a text. The site sets the background
# of figures to "none" and has a property of its own for the color of the page.
TEXT_OUTLINE = (
    f"stroke: {sheet.PAGE_BACKGROUND}; stroke-width: 3; "
    "stroke-linejoin: round; paint-order: stroke; "
)
NEEDLESS = rf' font-family: [^;]*;| font-size: {sheet.FONT_SIZE:g}px;| transform="rotate\(-0 [^"]*"'
# Color, line style and marker of each series, so that color is never the only difference.
SERIES_STYLES = [
    (sheet.MARK, "-", "o"),
    (sheet.OTHER, "--", "s"),
    (sheet.INK, ":", "^"),
    (sheet.QUIET, "-.", "D"),
]
PLOT_STYLE = {
    "svg.fonttype": "none",  # text stays text: sharp, searchable, in the page's font
    "font.size": sheet.FONT_SIZE,
    "hatch.linewidth": 0.6,
    **dict.fromkeys(["axes.edgecolor", "xtick.color", "ytick.color"], sheet.LINE),
    **dict.fromkeys(["axes.labelcolor", "text.color"], sheet.INK),
    **dict.fromkeys(["xtick.labelcolor", "ytick.labelcolor"], sheet.QUIET),
    **dict.fromkeys(["axes.spines.top", "axes.spines.right", "legend.frameon"], False),
}


def create_figure(width: float, height: float, **options: Any) -> Figure:
    """Return an empty figure with a size in points."""
    return Figure(figsize=(width / 72, height / 72), **options)


def to_drawing(ax: Axes, alt: str) -> sheet.Drawing:
    """Convert the figure of ``ax``; raise ValueError for a number without a position."""
    figure = ax.get_figure(root=True)
    buffer = io.StringIO()
    assert figure is not None
    _check_positions(ax)
    with rc_context({"svg.hashsalt": alt}):  # ids that are reproducible, and unique on a page
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    root = ElementTree.fromstring(buffer.getvalue().replace("xlink:href", "href"))  # as in SVG 2
    _remove_needless_elements(root, set(re.findall(r"#([\w.-]+)", buffer.getvalue())))
    _, _, svg = ElementTree.tostring(root, encoding="unicode").partition(">")
    svg = re.sub(NEEDLESS, "", svg)
    svg = re.sub(r'(<use [^>]*style="fill: [^;"]*)[^"]*"', r'\1"', svg)  # its path has the stroke
    # Digits behind a hundredth of a point cannot be seen.
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), svg)
    svg = re.sub(r'(<text [^>]*?style=")', rf"\1{TEXT_OUTLINE}", svg)
    width, height = 72 * figure.get_size_inches()
    svg = sheet.to_svg(width, height + BOTTOM_MARGIN, alt, svg.removesuffix("</svg>"))
    return sheet.Drawing(svg, alt)


def _remove_needless_elements(parent: ElementTree.Element, used_ids: set[str]) -> None:
    """Remove metadata, styles, which would apply to the whole page, space, and bare groups."""
    children: list[ElementTree.Element] = []
    for child in parent:
        _remove_needless_elements(child, used_ids)
        if child.get("id") not in used_ids:
            child.attrib.pop("id", None)
        child.tail = None
        if child.tag.endswith("}g") and not child.attrib:
            children += child
        elif not child.tag.endswith(("metadata", "}style")):
            children.append(child)
    parent[:] = children
    if not parent.tag.endswith("}text"):
        parent.text = None


def _check_positions(ax: Axes) -> None:
    """Raise ValueError for numbers that Matplotlib would silently leave out."""
    for line in ax.lines:
        for values, scale in zip(line.get_data(), (ax.get_xscale(), ax.get_yscale()), strict=True):
            numbers = np.array(values, dtype=float)
            if not np.isfinite(numbers).all() or (scale == "log" and (numbers <= 0).any()):
                expected = "above zero on a logarithmic axis" if scale == "log" else "finite"
                raise ValueError(f"the plot holds {numbers}, expected numbers {expected}.")


class LogLabelFormatter(LogFormatter):
    """Format an axis's labels in full, such as 600 and 0.05, or all as powers if some are long.

    Matplotlib's own format has a text element for each digit, which browsers space unevenly.
    """

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a number, or "" where Matplotlib has none."""
        if not super().__call__(x, pos):
            return ""
        assert self.axis is not None
        low, high = self.axis.get_view_interval()
        if x in (1, 10) or (low >= 5e-4 and high < 2e6):
            return format_full(x)
        mantissa, exponent = f"{x:e}".split("e")
        superscript = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
        return f"{float(mantissa):g} × 10{superscript}".removeprefix("1 × ")


def format_full(value: float) -> str:
    """Format a number with thousands separators and without trailing zeros."""
    return f"{value:,.9f}".rstrip("0").rstrip(".")


def use_log_scale(ax: Axes, *, x: bool, y: bool) -> None:
    """Make axes logarithmic, with minor marks and labels if there are few powers of ten."""
    for log, set_scale, axis in ((x, ax.set_xscale, ax.xaxis), (y, ax.set_yscale, ax.yaxis)):
        if log:
            set_scale("log")
            axis.set(major_formatter=LogLabelFormatter(), minor_formatter=LogLabelFormatter())
            low, high = axis.get_view_interval()
            if high > 100 * low:
                axis.set(minor_locator=NullLocator())
