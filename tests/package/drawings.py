"""What the tests of drawings read from an SVG, and what each drawing has to fulfil."""

import re
from xml.etree import ElementTree

from lookup_matmul.figures import Drawing


def texts(svg: str) -> list[str]:
    """Give the texts of a drawing in the order in which they were drawn."""
    return [
        node.text or "" for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")
    ]


def bold(svg: str) -> list[str]:
    """Give the bold texts of a drawing."""
    return re.findall(r"<text[^>]*font-weight: 700[^>]*>([^<]+)<", svg)


def assert_colours_can_be_replaced(drawing: Drawing) -> None:
    """Hold each colour to be a property with a fallback, so that the page's dark scheme reaches it."""
    rest = re.sub(
        r"var\(--figure-[\w-]+, #[0-9a-f]{6}\)|url\(#[\w-]+\)|xlink:href=\"#[\w-]+\"",
        "",
        drawing.svg,
    )
    assert rest != drawing.svg
    assert not re.search(r"#[0-9a-f]{6}|rgb|black|white", rest)


def assert_told(drawing: Drawing) -> None:
    """Hold the label for screen readers to the story in words."""
    root = ElementTree.fromstring(drawing.svg)
    assert (root.get("role"), root.get("aria-label")) == ("img", drawing.alt)


def width_of(drawing: Drawing) -> float:
    """Give the width in points, as which a phone shows it unscaled."""
    return float(ElementTree.fromstring(drawing.svg).get("viewBox", "").split()[2])
