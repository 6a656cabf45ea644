"""What the tests of drawings read from an SVG, and what each drawing has to fulfill."""

import re
from itertools import groupby
from xml.etree import ElementTree

from lookup_matmul.figures import Drawing

NUMBER = r"-?\d+(?:\.\d+)?"


def elements(svg: str, kind: str) -> list[ElementTree.Element]:
    """Return the elements of a kind in the order in which they were drawn."""
    return [node for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("}" + kind)]


def texts(svg: str) -> list[str]:
    """Return the texts of a drawing in the order in which they were drawn."""
    return [said(node) for node in elements(svg, "text")]


def bold(svg: str) -> list[str]:
    """Return the bold texts of a drawing."""
    return [said(n) for n in elements(svg, "text") if "weight: 700" in n.get("style", "")]


def said(node: ElementTree.Element) -> str:
    """Return the text of a node, with the minus sign as Python writes it."""
    assert not re.search(r"(?<!\w)-\d", node.text or ""), "a hyphen before a number"
    return (node.text or "").replace("−", "-")


def lines(svg: str) -> list[list[str]]:
    """Return the texts that stand beside each other, from left to right and from top to bottom."""
    found = [(float(n.get("y", "")), float(n.get("x", "")), said(n)) for n in elements(svg, "text")]
    return [[text for *_, text in line] for _, line in groupby(sorted(found), lambda one: one[0])]


def heights(arrow: ElementTree.Element) -> tuple[float, float]:
    """Return how far down an arrow begins, and how far its tip is."""
    numbers = [float(number) for number in re.findall(NUMBER, arrow.get("d", ""))]
    return numbers[1], numbers[9]


def box(drawing: Drawing) -> tuple[float, float]:
    """Return width and height in points; as these a phone shows the drawing unscaled."""
    _, _, width, height = map(float, elements(drawing.svg, "svg")[0].get("viewBox", "").split())
    return width, height


def assert_sound(drawing: Drawing) -> None:
    """Hold a drawing to be told in words, to fit a phone, and to take its colors from the page."""
    (root,) = elements(drawing.svg, "svg")
    assert (
        (root.get("role"), root.get("aria-label")) == ("img", drawing.alt) == ("img", repr(drawing))
    )
    assert (root.get("class"), root.get("width")) == ("drawing", None)
    assert "background: var(--figure-plate, #ffffff)" in root.get("style", "")
    assert not elements(drawing.svg, "style")  # it would reach the whole page
    assert box(drawing)[0] <= 360
    links = r"var\(--figure-[\w-]+, #[0-9a-f]{6}\)|url\(#[\w-]+\)|href=\"#[\w-]+\""
    rest = re.sub(links, "", drawing.svg)
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb|black|white", rest)


def assert_inside(drawing: Drawing) -> None:
    """Hold all that a sheet has drawn to be on it, texts at least where they are anchored."""
    width, height = box(drawing)
    for rect in elements(drawing.svg, "rect"):
        x, y, w, h = (float(rect.get(name, "")) for name in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width, ElementTree.tostring(rect)
        assert 0 <= y <= y + h <= height, ElementTree.tostring(rect)
    for text in elements(drawing.svg, "text"):
        assert 0 <= float(text.get("x", "")) <= width, text.text
        assert 8 <= float(text.get("y", "")) <= height - 2, text.text
    for path in elements(drawing.svg, "path"):
        numbers = [float(number) for number in re.findall(NUMBER, path.get("d", ""))]
        ends = zip(numbers[::2], numbers[1::2], strict=True)
        curved = "Q" in path.get("d", "")
        for k, (x, y) in enumerate(ends):
            if not (curved and k == 1):  # no point of the curve, but what bends it
                assert (0 <= x <= width, 0 <= y <= height) == (True, True), path.get("d")
        if curved:
            assert (numbers[0] + 2 * numbers[2] + numbers[4]) / 4 <= width  # where it bends most
