"""Helpers that read the SVG of a drawing, and checks that every drawing must pass."""

import re
from itertools import groupby
from xml.etree import ElementTree

from lookup_matmul.figures import Drawing

NUMBER = r"-?\d+(?:\.\d+)?"


def with_colors(svg: str) -> str:
    """Return an SVG with the colors themselves instead of the short names that it declares."""
    colors = dict(re.findall(r"(--c\d+): ([^;]*);", svg))
    return re.sub(r"var\((--c\d+)\)", lambda match: colors[match[1]], svg)


def elements(svg: str, tag: str) -> list[ElementTree.Element]:
    """Return the elements with a tag, in document order."""
    nodes = ElementTree.fromstring(with_colors(svg)).iter()
    return [node for node in nodes if node.tag.endswith("}" + tag)]


def attributes(node: ElementTree.Element, *names: str) -> tuple[float, ...]:
    """Return numeric attributes of an element."""
    return tuple(float(node.attrib[name]) for name in names)


def text_of(node: ElementTree.Element) -> str:
    """Return the text of an element, with minus signs as Python writes them."""
    assert not re.search(r"(?<!\w)-\d", node.text or ""), "a hyphen before a number"
    return (node.text or "").replace("−", "-")


def texts(svg: str) -> list[str]:
    """Return all texts, in document order."""
    return [text_of(node) for node in elements(svg, "text")]


def bold_texts(svg: str) -> list[str]:
    """Return the bold texts, in document order."""
    return [text_of(n) for n in elements(svg, "text") if "weight: 700" in n.get("style", "")]


def text_lines(svg: str) -> list[list[str]]:
    """Return the texts at each height, from top to bottom and from left to right."""
    placed = sorted((*attributes(n, "y", "x"), text_of(n)) for n in elements(svg, "text"))
    return [[text for *_, text in line] for _, line in groupby(placed, lambda item: item[0])]


def size(drawing: Drawing) -> tuple[float, float]:
    """Return width and height in points; a phone shows them unscaled."""
    _, _, width, height = map(float, elements(drawing.svg, "svg")[0].attrib["viewBox"].split())
    return width, height


def assert_valid(drawing: Drawing) -> None:
    """Check that a drawing has a label, fits a phone, and has only colors that a page can set.

    Shapes and the anchors of texts must be inside a sheet.
    """
    (root,) = elements(drawing.svg, "svg")
    assert (root.get("role"), root.get("class"), root.get("width")) == ("img", "drawing", None)
    assert root.get("aria-label") == drawing.alt == repr(drawing)
    assert "background: var(--figure-plate, #ffffff)" in root.get("style", "")
    assert not elements(drawing.svg, "style")  # it would apply to the whole page
    assert size(drawing)[0] <= 360
    links = r"var\(--figure-[\w-]+, #[0-9a-f]{6}\)|url\(#[\w-]+\)|href=\"#[\w-]+\""
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb|black|white", re.sub(links, "", drawing.svg))
    if not elements(drawing.svg, "defs"):  # Matplotlib defines shapes outside of the figure
        _assert_inside(drawing.svg, *size(drawing))


def _assert_inside(svg: str, width: float, height: float) -> None:
    for rect in elements(svg, "rect"):
        x, y, w, h = attributes(rect, "x", "y", "width", "height")
        assert 0 <= x <= x + w <= width, rect.attrib
        assert 0 <= y <= y + h <= height, rect.attrib
    for text in elements(svg, "text"):
        x, y = attributes(text, "x", "y")
        assert (0 <= x <= width, 8 <= y <= height - 2) == (True, True), text.text
    for path in elements(svg, "path"):
        if path.get("transform"):
            continue  # a marker around the origin, which is moved to its point
        numbers = [float(number) for number in re.findall(NUMBER, path.get("d", ""))]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if "Q" in path.get("d", ""):  # replace the control point by the middle of the curve
            points[1] = tuple((a + 2 * c + b) / 4 for a, c, b in zip(*points[:3], strict=True))
        assert all(0 <= x <= width and 0 <= y <= height for x, y in points), path.get("d")
