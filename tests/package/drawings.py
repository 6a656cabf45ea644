"""Helpers that read the SVG of a drawing, and checks that every drawing must pass."""

import re
from itertools import groupby, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from layout import assert_layout, contains, shape_box, text_box
from matplotlib.transforms import Bbox

from lookup_matmul.figures import Drawing


def with_colors(svg: str) -> str:
    """Return an SVG with the colors themselves instead of the short names that it declares."""
    colors = dict(re.findall(r"(--c\d+): ([^;]*);", svg))
    return re.sub(r"var\((--c\d+)\)", lambda match: colors[match[1]], svg)


def elements(svg: str, *tags: str) -> list[ElementTree.Element]:
    """Return the elements with some tags, in document order."""
    nodes = ElementTree.fromstring(with_colors(svg)).iter()
    return [node for node in nodes if node.tag.partition("}")[2] in tags]


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
    """Check that a drawing has a label, fits a phone, and has only colors that a page can set."""
    (root,) = elements(drawing.svg, "svg")
    role = "group" if elements(drawing.svg, "a") else "img"
    assert (root.get("role"), root.get("class"), root.get("width")) == (role, "drawing", None)
    assert root.get("aria-label") == drawing.alt == repr(drawing)
    assert "background: var(--figure-plate, #ffffff)" in root.get("style", "")
    assert not elements(drawing.svg, "style")  # it would apply to the whole page
    assert size(drawing)[0] <= 360
    links = (
        r"var\(--figure-[\w-]+, #[0-9a-f]{6}\)|url\(#[\w-]+\)|(?:href=\"#|data-votes=\")[^\"]+\""
    )
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb|black|white", re.sub(links, "", drawing.svg))
    page, marks = Bbox([(0, 0), size(drawing)]), text_boxes(drawing)
    for box in (*marks.values(), *map(shape_box, elements(drawing.svg, "rect"))):
        assert contains(page, box), f"{box} leaves the picture"
    is_plot = bool(elements(drawing.svg, "defs"))
    if not is_plot and "data-steps" not in root.attrib:  # names may collide while points move
        marks |= {node: shape_box(node) for node in elements(drawing.svg, "circle")}
        assert_layout(page, marks, elements(drawing.svg, "rect"), elements(drawing.svg, "path"))


def text_boxes(drawing: Drawing) -> dict[ElementTree.Element, Bbox]:
    """Return the extents of all texts that are not turned."""
    inherited = (re.findall(r'<g [^>]*text-anchor(?:: |=")(\w+)', drawing.svg) or ["start"])[0]
    nodes = [node for node in elements(drawing.svg, "text") if not node.get("transform")]
    return {node: text_box(node, inherited) for node in nodes}


def near(expected):
    """Return an approximation within the rounding of SVG coordinates."""
    return pytest.approx(np.array(expected), rel=1e-2, abs=1e-2)


def markers(svg):
    """Return x and y of the markers, without those of the axes, in document order."""
    uses = [use for use in elements(svg, "use") if "figure-line" not in use.get("style", "")]
    return np.array([attributes(use, "x", "y") for use in uses])


def values_at(places, svg, k, *, log=False):
    """Return the values at some places, as the labels of the x axis (0) or of the y axis (1) say."""
    labels = [
        (attributes(mark, "x", "y")[k], float(text_of(text).replace(",", "")))
        for mark, text in pairwise(elements(svg, "use", "text"))
        if "figure-line" in (mark.get("style") or "") and re.match("[0-9−]", text.text or "")
        if (mark.get("x") == text.get("x")) == (k == 0)
    ]
    assert 3 <= len(labels) <= 8
    x, y = np.transpose(labels)
    slope, start = np.polyfit(x, np.log(y) if log else y, 1)
    first, last = shape_box(elements(svg, "rect")[0]).get_points()[:, k]
    assert first <= np.min(places) <= np.max(places) <= last, "outside of the axes"
    return (np.exp if log else np.array)(slope * np.array(places) + start)
