"""Drawings of small tables, written straight as SVG: cells, texts, lines and arrows on a sheet."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from lookup_matmul.figures.palette import INK, LINE, PAINTS, QUIET

FONT_SIZE = 11.0  # a number with sign and four decimals fits a cell, and a phone shows it legibly
CELL_WIDTH, CELL_HEIGHT, LABEL_WIDTH = 49.0, 26.0, 42.0
MINUS = re.compile(r"(?<!\w)-(?=\d)")  # of a number, not of a range or a name
FOOT = 8.0  # points below the lowest thing drawn
# What shapes and texts have unless they say otherwise.
SHAPE: dict[str, str | float] = {
    "fill": "none",
    "fill_opacity": 1.0,
    "stroke": LINE,
    "stroke_width": 0.8,
    "stroke_dasharray": "none",
}
TEXT: dict[str, str | float] = {"fill": INK, "text_anchor": "middle", "font_weight": 400}
# A dark notebook knows none of the properties, and gets a light drawing on a light plate.
PLATE = "var(--figure-plate, #ffffff)"


@dataclass(frozen=True)
class Drawing:
    """A finished figure; notebooks show it as inline SVG.

    ``svg`` is one ``svg`` element, its colors CSS properties with a fallback; ``alt`` tells the
    same story in words, and is the SVG's label for screen readers.
    """

    svg: str
    alt: str

    def __repr__(self) -> str:
        """Show the words where no picture can be shown."""
        return self.alt

    def _repr_html_(self) -> str:
        return self.svg


Place = tuple[float, float]  # x and row


class Sheet:
    """What is drawn in one figure: x counts points, and y rows of cells, from the upper left.

    Texts lie over all shapes, and shapes with a wider outline over those with a narrower one.
    """

    def __init__(self, width: float, row_height: float = CELL_HEIGHT) -> None:
        self.width, self._row_height, self._lowest = width, row_height, 0.0
        self._shapes: list[tuple[float, str]] = []
        self._texts: list[str] = []

    def text(
        self,
        x: float,
        row: float,
        text: str,
        ink: str = INK,
        at: str = "middle",
        bold: bool = False,
    ) -> None:
        """Write text whose start, middle or end is ``at`` x, and its middle at the row's height."""
        middle = self._down(row)
        self._lowest = max(self._lowest, middle + FONT_SIZE / 2)
        style = _style(TEXT, fill=ink, text_anchor=at, font_weight=700 if bold else 400)
        place = f'x="{_short(x)}" y="{_short(middle + 0.36 * FONT_SIZE)}"'
        words = escape(MINUS.sub("−", text), quote=False)
        self._texts.append(f"<text {place}{style}>{words}</text>")

    def cell(
        self,
        left: float,
        row: float,
        width: float,
        text: str = "",
        ink: str = INK,
        bold: bool = False,
        height: float = 1.0,
        **look: str | float,
    ) -> None:
        """Draw one cell, its upper left corner at ``left`` and ``row``, and text in its middle.

        Its look is that of SVG: fill, fill_opacity, stroke, stroke_width and stroke_dasharray.
        """
        top, bottom = self._down(row), self._down(row + height)
        places = {"x": left, "y": top, "width": width, "height": bottom - top}
        self._shape("rect", {name: _short(x) for name, x in places.items()}, **look)
        if text:
            self.text(left + width / 2, row + height / 2, text, ink, bold=bold)

    def row(
        self,
        row: float,
        label: str,
        texts: Sequence[str],
        colors: tuple[str, str] | None = None,
        only: int | None = None,
        left: float = LABEL_WIDTH,
        width: float = CELL_WIDTH,
    ) -> None:
        """Draw a row of cells that begin at ``left``, the label before them.

        One that is picked, or ``only`` one cell of it, has colors: a fill, and a stroke for its
        outline, which with bold type says the same without color.
        """
        fill, stroke = colors or ("none", QUIET)
        picked = colors is not None
        if label:
            self.text(left - 6, row + 0.5, label, stroke, "end", picked)
        for j, text in enumerate(texts):
            chosen = picked and only in (None, j)
            face, ink = (fill, INK) if chosen else ("none", QUIET)
            self.cell(left + j * width, row, width, text, ink, chosen, fill=face)
        if picked:
            self.cell(left, row, width * len(texts), stroke=stroke, stroke_width=2)

    def caption(self, row: float, text: str) -> None:
        """Write a quiet line above the cells, flush with their left edge."""
        self.text(LABEL_WIDTH, row, text, QUIET, "start")

    def line(self, *points: Place) -> None:
        """Draw a line through points, each an x and a row."""
        way = " ".join(f"{_short(x)} {_short(self._down(row))}" for x, row in points)
        self._shape("path", {"d": f"M{way}"}, stroke=INK, stroke_width=1.2)

    def arrow(self, begin: Place, end: Place, ink: str = INK, bend: float = 0.0) -> None:
        """Draw an arrow between two places, each an x and a row.

        It may bend to the right by a share of its length, but not over the edge of the sheet.
        """
        a, b = (complex(x, self._down(row)) for x, row in (begin, end))
        bend = min(bend, 2 * (self.width - 2 - a.real) / abs(b - a))
        middle = (a + b) / 2 - 1j * bend * (b - a)
        along = (b - middle) / abs(b - middle)
        a, b = a + 2 * (middle - a) / abs(middle - a), b - 2 * along
        wings = [b - along * side for side in (4.2 + 2.1j, 4.2 - 2.1j)]
        at = [f"{_short(p.real)} {_short(p.imag)}" for p in (a, middle, b, *wings)]
        way = f"M{at[0]}Q{at[1]} {at[2]}M{at[3]}L{at[2]}L{at[4]}"
        self._shape("path", {"d": way}, stroke=ink, stroke_width=1.3)

    def dot(self, x: float, row: float) -> None:
        """Draw a dot around a place."""
        place = {"cx": _short(x), "cy": _short(self._down(row)), "r": "2"}
        self._shape("circle", place, fill=INK, stroke=INK)

    def finish(self, alt: str) -> Drawing:
        """Return the Drawing that tells the story ``alt``; it ends a little below what is drawn."""
        shapes = "".join(shape for _, shape in sorted(self._shapes, key=lambda found: found[0]))
        return Drawing(
            f"{opening(self.width, self._lowest + FOOT, alt)}<g{_style({}, **SHAPE)}>{shapes}</g>"
            f"<g{_style({}, **TEXT)}>{''.join(self._texts)}</g></svg>",
            alt,
        )

    def _shape(self, kind: str, places: dict[str, str], **look: str | float) -> None:
        where = " ".join(f'{name}="{place}"' for name, place in places.items())
        over = float(look.get("stroke_width", SHAPE["stroke_width"]))
        self._shapes.append((over, f"<{kind} {where}{_style(SHAPE, **look)}/>"))

    def _down(self, row: float) -> float:
        """Return how far below the upper edge a row begins, and remember the lowest."""
        y = row * self._row_height
        self._lowest = max(self._lowest, y)
        return y


def opening(width: float, height: float, alt: str) -> str:
    """Return the first tag of a figure, which scales and is labeled with its story."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_short(width)} {_short(height)}" '
        f'class="drawing" role="img" aria-label="{escape(alt)}" '
        'font-family="var(--pst-font-family-base, sans-serif)" style="width: 100%; '
        f'max-width: {width * 1.25:.0f}px; background: {PLATE}; font-size: {FONT_SIZE:g}px">'
    )


def _short(number: float) -> str:
    return f"{round(number, 1) + 0.0:g}"


def _style(usual: dict[str, str | float], **style: str | float) -> str:
    """Return a style attribute of what differs from the usual."""
    said = [
        f"{name.replace('_', '-')}: {PAINTS.get(str(value), value)}"
        for name, value in style.items()
        if value != usual.get(name)
    ]
    return f' style="{"; ".join(said)}"' if said else ""
