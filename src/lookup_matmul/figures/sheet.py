"""The colors of all figures, and an SVG sheet for cells, texts, lines and arrows."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

# Defaults; a page may override each with the CSS property --figure-NAME.
COLORS = tomllib.loads(Path(__file__).with_name("palette.toml").read_text("utf-8"))
INK = COLORS["ink"]
QUIET = COLORS["quiet"]
LINE = COLORS["line"]
PICK = COLORS["pick"]
MARK = COLORS["mark"]
OTHER = COLORS["other"]
STROKES = [color for name, color in COLORS.items() if name.startswith("stroke-")]
FILLS = [color for name, color in COLORS.items() if name.startswith("fill-")]
# What an SVG contains for each color: the page's property, with the default as its fallback.
CSS_VALUES = {color: f"var(--figure-{name}, {color})" for name, color in COLORS.items()}

FONT_SIZE = 11.0  # a number with sign and four decimals fits a cell and is legible on a phone
CELL_WIDTH = 49.0
CELL_HEIGHT = 26.0
LABEL_WIDTH = 42.0
BOTTOM_MARGIN = 8.0
HYPHEN_OF_NUMBER = re.compile(r"(?<!\w)-(?=\d)")  # not the hyphen of a range or a name
Style = dict[str, str | float]
SHAPE_STYLE: Style = {"fill": "none", "fill_opacity": 1.0, "stroke": LINE, "stroke_width": 0.8}
SHAPE_STYLE["stroke_dasharray"] = "none"
TEXT_STYLE: Style = {"fill": INK, "text_anchor": "middle", "font_weight": 400}
# A dark notebook does not define the property: it shows the light colors on white.
BACKGROUND = "var(--figure-plate, #ffffff)"
PAGE_BACKGROUND = f"var(--pst-color-background, {BACKGROUND})"

Point = tuple[float, float]  # x in points, y in rows
Colors = tuple[str, str]  # fill and stroke


@dataclass(frozen=True)
class Drawing:
    """A finished figure; notebooks display it as inline SVG.

    ``svg`` is one ``svg`` element, whose colors are CSS properties with fallbacks. ``alt`` is its
    alternative text, which describes the same numbers.
    """

    svg: str
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def _repr_html_(self) -> str:
        return self.svg


class Sheet:
    """Shapes and texts of a figure; x is in points and y in rows, from the upper left corner.

    Texts cover all shapes, and shapes with a wider outline cover those with a narrower one.
    """

    def __init__(self, width: float, row_height: float = CELL_HEIGHT) -> None:
        self.width = width
        self._row_height = row_height
        self._bottom = 0.0
        self._shapes: list[tuple[float, str]] = []  # stroke width, element
        self._texts: list[str] = []

    def text(
        self,
        x: float,
        row: float,
        text: str,
        color: str = INK,
        anchor: str = "middle",
        bold: bool = False,
    ) -> None:
        """Write text with its start, middle or end (``anchor``) at x, centered at ``row``."""
        y = self._to_points(row)
        self._bottom = max(self._bottom, y + FONT_SIZE / 2)
        style = _style(TEXT_STYLE, fill=color, text_anchor=anchor, font_weight=700 if bold else 400)
        position = f'x="{_format(x)}" y="{_format(y + 0.36 * FONT_SIZE)}"'
        content = escape(HYPHEN_OF_NUMBER.sub("−", text), quote=False)
        self._texts.append(f"<text {position}{style}>{content}</text>")

    def cell(
        self,
        x: float,
        row: float,
        width: float,
        text: str = "",
        text_color: str = INK,
        bold: bool = False,
        *,
        height: float = 1.0,
        colors: Colors | None = None,
        **style: str | float,
    ) -> None:
        """Draw a rectangle from its upper left corner; ``style`` takes the keys of SHAPE_STYLE."""
        top = self._to_points(row)
        bottom = self._to_points(row + height)
        rectangle = {"x": x, "y": top, "width": width, "height": bottom - top}
        if colors:
            style = {"fill": colors[0], "stroke": colors[1], **style}
        self._add_shape("rect", {key: _format(value) for key, value in rectangle.items()}, **style)
        if text:
            self.text(x + width / 2, row + height / 2, text, text_color, bold=bold)

    def row(
        self,
        row: float,
        label: str,
        texts: Sequence[str],
        colors: Colors | None = None,
        *,
        only: int | None = None,
        x: float = LABEL_WIDTH,
        width: float = CELL_WIDTH,
    ) -> None:
        """Draw a row of cells from ``x`` to the right, and its label before them.

        ``colors`` (fill and stroke) highlight the row, or ``only`` one cell of it, with bold text.
        """
        fill, stroke = colors or ("none", QUIET)
        if label:
            self.text(x - 6, row + 0.5, label, stroke, "end", colors is not None)
        for j, text in enumerate(texts):
            bold = colors is not None and only in (None, j)
            color = INK if bold else QUIET
            self.cell(x + j * width, row, width, text, color, bold, fill=fill if bold else "none")
        if colors:
            self.cell(x, row, width * len(texts), stroke=stroke, stroke_width=2)

    def caption(self, row: float, text: str) -> None:
        """Write a caption above the cells, aligned with their left edge."""
        self.text(LABEL_WIDTH, row, text, QUIET, "start")

    def line(self, *points: Point) -> None:
        path = " ".join(f"{_format(x)} {_format(self._to_points(row))}" for x, row in points)
        self._add_shape("path", {"d": f"M{path}"}, stroke=INK, stroke_width=1.2)

    def arrow(self, start: Point, end: Point, color: str = INK, bend: float = 0.0) -> None:
        """Draw an arrow, which bends to the right by a share of its length but stays inside."""
        a, b = (complex(x, self._to_points(row)) for x, row in (start, end))
        bend = min(bend, 2 * (self.width - 2 - a.real) / abs(b - a))
        control = (a + b) / 2 - 1j * bend * (b - a)
        direction = (b - control) / abs(b - control)
        a = a + 2 * (control - a) / abs(control - a)
        b = b - 2 * direction
        wings = [b - direction * side for side in (4.2 + 2.1j, 4.2 - 2.1j)]
        points = [f"{_format(p.real)} {_format(p.imag)}" for p in (a, control, b, *wings)]
        path = "M{0}Q{1} {2}M{3}L{2}L{4}".format(*points)
        self._add_shape("path", {"d": path}, stroke=color, stroke_width=1.3)

    def dot(self, x: float, row: float) -> None:
        circle = {"cx": _format(x), "cy": _format(self._to_points(row)), "r": "2"}
        self._add_shape("circle", circle, fill=INK, stroke=INK)

    def to_drawing(self, alt: str) -> Drawing:
        """Return the drawing, cropped below the lowest shape or text."""
        shapes = "".join(shape for _, shape in sorted(self._shapes, key=lambda shape: shape[0]))
        elements = f"<g{_style({}, **SHAPE_STYLE)}>{shapes}</g>"
        elements += f"<g{_style({}, **TEXT_STYLE)}>{''.join(self._texts)}</g>"
        return Drawing(to_svg(self.width, self._bottom + BOTTOM_MARGIN, alt, elements), alt)

    def _add_shape(self, tag: str, attributes: dict[str, str], **style: str | float) -> None:
        pairs = " ".join(f'{name}="{value}"' for name, value in attributes.items())
        stroke_width = float(style.get("stroke_width", SHAPE_STYLE["stroke_width"]))
        self._shapes.append((stroke_width, f"<{tag} {pairs}{_style(SHAPE_STYLE, **style)}/>"))

    def _to_points(self, row: float) -> float:
        """Return the distance of a row from the upper edge, and extend the sheet to it."""
        y = row * self._row_height
        self._bottom = max(self._bottom, y)
        return y


def cell_x(column: int) -> float:
    """Return the left edge of a column of cells beside labels."""
    return LABEL_WIDTH + column * CELL_WIDTH


def id_colors(token: int) -> Colors:
    """Return the fill and the stroke of an id; they repeat after eight ids."""
    return FILLS[token % len(FILLS)], STROKES[token % len(STROKES)]


def to_svg(width: float, height: float, alt: str, elements: str) -> str:
    """Return a labeled figure that scales with the page and declares each color once."""
    values = {PAGE_BACKGROUND: PAGE_BACKGROUND} | CSS_VALUES
    used = [color for color in values if color in elements]
    for k, color in enumerate(used):
        elements = elements.replace(color, f"var(--c{k})")
    colors = "".join(f"--c{k}: {values[color]}; " for k, color in enumerate(used))
    role = "group" if "<a " in elements else "img"  # screen readers skip the links of an image
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_format(width)} {_format(height)}" '
        f'class="drawing" role="{role}" aria-label="{escape(alt)}" '
        f'font-family="var(--pst-font-family-base, sans-serif)" style="{colors}width: 100%; '
        f"max-width: {width * 1.25:.0f}px; background: {BACKGROUND}; "
        f'font-size: {FONT_SIZE:g}px">{elements}</svg>'
    )


def to_steps(
    width: float, height: float, steps: Iterable[int | str], alt: str, elements: str
) -> Drawing:
    """Return a figure of which ``frames.js`` shows one step at a time, and the last without it."""
    data = f' data-steps="{" ".join(map(str, steps))}" class='
    return Drawing(to_svg(width, height, alt, elements).replace(" class=", data, 1), alt)


def _format(number: float) -> str:
    return f"{round(number, 1) + 0.0:g}"


def _style(defaults: Style, **style: str | float) -> str:
    """Return a style attribute with the values that differ from the defaults, if any do."""
    declarations = [
        f"{name.replace('_', '-')}: {value}"
        for name, value in style.items()
        if value != defaults.get(name)
    ]
    return f' style="{"; ".join(declarations)}"' if declarations else ""
