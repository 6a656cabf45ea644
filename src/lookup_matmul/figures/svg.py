"""A finished figure as SVG: it scales, takes the page's colours and can be read aloud."""

import hashlib
import io
import re
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree

from matplotlib import style
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lookup_matmul.figures.palette import COLOURS

FONT_SIZE = 11.0  # a number with sign and four decimals fits a cell, and a phone shows it legibly
# A dark notebook knows none of the properties, and gets a light drawing on a light plate.
PLATE = "var(--figure-plate, #ffffff)"
# A site says "none" for the plate and has its own background, in which lines end before a text.
HALO = (
    f"stroke: var(--pst-color-background, {PLATE}); stroke-width: 3; "
    "stroke-linejoin: round; paint-order: stroke; "
)
FOOT = 8.0  # points below the lowest thing drawn
STYLE = {
    "svg.fonttype": "none",  # text stays text: sharp, searchable, in the page's own font
    "svg.hashsalt": "lookup-matmul",  # the same drawing gives the same file
    "font.family": "sans-serif",
    "font.size": FONT_SIZE,
}


@dataclass(frozen=True)
class Drawing:
    """A finished figure; notebooks show it as inline SVG.

    Attributes
    ----------
    svg : str
        One ``svg`` element, its colours CSS properties with a fallback.
    alt : str
        The same story in words; it is the SVG's label for screen readers.
    """

    svg: str
    alt: str

    def __repr__(self) -> str:
        """Show the words where no picture can be shown."""
        return self.alt

    def _repr_html_(self) -> str:
        return self.svg


def sheet(width: float, height: float, layout: Literal["constrained"] | None = None) -> Figure:
    """Give an empty figure of so many points."""
    return Figure(figsize=(width / 72, height / 72), layout=layout)


def finish(ax: Axes, alt: str) -> Drawing:
    """Turn the figure that holds ``ax`` into a Drawing that tells the story ``alt``.

    The sheet ends a little below what is drawn. Texts of a plot have a halo, since lines and marks
    lie where the numbers put them; those of cells have none, since each stands on its own colour.
    """
    figure, buffer = ax.get_figure(root=True), io.StringIO()
    assert figure is not None
    with style.context(STYLE):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    # HTML knows the prefix xlink and no other.
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ElementTree.fromstring(buffer.getvalue())
    width = float(root.attrib.pop("width").removesuffix("pt"))
    height = float(root.attrib.pop("height").removesuffix("pt"))
    root.attrib |= {
        "viewBox": f"0 0 {width:g} {height - _foot(figure) + FOOT:g}",
        "class": "drawing",
        "role": "img",
        "aria-label": alt,
        "font-family": "var(--pst-font-family-base, sans-serif)",
        "style": f"width: 100%; max-width: {width * 1.25:.0f}px; background: {PLATE}",
    }
    for parent in list(root.iter()):
        for child in list(parent):
            # Metadata says nothing here, and a style element would reach the whole page.
            if child.tag.endswith(("metadata", "}style")):
                parent.remove(child)
    svg = ElementTree.tostring(root, encoding="unicode")
    # Matplotlib names a list of fonts on every text; the page has its own.
    svg = re.sub(r" font-family: [^;]*;", "", svg)
    if ax.axison:
        svg = re.sub(r'(<text [^>]*?style=")', rf"\1{HALO}", svg)
    # Several drawings share a page, so the ids inside each need a prefix of their own.
    prefix = f"d{hashlib.sha256(alt.encode()).hexdigest()[:8]}-"
    svg = re.sub(r'\bid="|url\(#|href="#', lambda found: found.group() + prefix, svg)
    for name, colour in COLOURS.items():
        svg = svg.replace(colour, f"var({name}, {colour})")
    return Drawing(svg, alt)


def _foot(figure: Figure) -> float:
    """Give how many points above the lower edge of the sheet the lowest thing is drawn."""
    drawn: list[Artist] = [*figure.texts]
    for ax in figure.axes:
        drawn += [ax] if ax.axison else [*ax.texts, *ax.patches, *ax.lines]
    boxes = [artist.get_tightbbox() for artist in drawn]
    lowest: float = min(box.y0 for box in boxes if box is not None)
    return lowest * 72 / figure.dpi
