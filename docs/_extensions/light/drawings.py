"""Writes a drawing without what Matplotlib adds to it and nobody sees."""

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG = "http://www.w3.org/2000/svg"
GROUP, DEFS, USE, TEXT, TSPAN = (f"{{{SVG}}}{tag}" for tag in ["g", "defs", "use", "text", "tspan"])
HREF = "{http://www.w3.org/1999/xlink}href"
COLOR = re.compile(r"(?<=var\()(--figure-[\w-]+), #\w+(?=\))")  # the style sheet has all
HALO = re.compile(r"stroke: var\(--pst-color-background.*paint-order: stroke; ")


def compact(svg: str) -> str:
    """Drop ids that nothing refers to, groups without meaning, and digits below 0.1 pt.

    What is drawn many times, such as a tick, has its style once, and its small shape to 0.01 pt.
    """
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(COLOR.sub(r"\1", svg))
    repeated = {shape for defs in root.iter(DEFS) for shape in defs.iter()}
    referred = set(re.findall(r'(?:url\(#|href="#)([\w-]+)', svg))
    for element in root.iter():
        if element.get("id") not in referred:
            element.attrib.pop("id", None)
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        if HREF in element.attrib:
            element.set("href", element.attrib.pop(HREF))
        if (halo := HALO.match(element.get("style", ""))) is not None:  # site.css has it once
            element.set("style", element.get("style", "")[halo.end() :])
            element.set("class", "halo")
        for name in {"d", "x", "y", "points"} & element.attrib.keys():
            digits = 2 if element in repeated else 1
            element.set(name, rounded(element.attrib[name], digits))
    share_styles(root)
    flatten(root)
    return ElementTree.tostring(root, encoding="unicode")


def rounded(numbers: str, digits: int) -> str:
    """Return the numbers of an attribute with so many digits after the point, on one line.

    >>> rounded("M 0.04 -0.001 L 1.26 2", 1)
    'M 0 0 L 1.3 2'
    """
    short = re.sub(
        r"-?\d+\.\d+", lambda found: f"{round(float(found[0]), digits) + 0.0:g}", numbers
    )
    return " ".join(short.split())


def share_styles(root: Element) -> None:
    """Move a style that all uses of a shape have to the shape, below what it has itself."""
    shapes = {f"#{shape.get('id')}": shape for shape in root.iter() if shape.get("id")}
    uses: dict[str, list[Element]] = {}
    for use in root.iter(USE):
        uses.setdefault(use.attrib["href"], []).append(use)
    for number, (href, same) in enumerate(uses.items()):
        shape, name = shapes[href], f"{href[1:].partition('-')[0]}-{number}"  # the drawing's own
        shape.set("id", name)
        if len(styles := {use.get("style", "") for use in same}) == 1:
            shape.set("style", "; ".join(filter(None, [*styles, shape.get("style", "")])))
        for use in same:
            use.set("href", f"#{name}")
            if len(styles) == 1:
                use.attrib.pop("style", None)


def flatten(parent: Element) -> None:
    """Replace groups without attributes by what they hold, and drop what shows nothing."""
    children = list(parent)
    parent[:] = []
    for child in children:
        flatten(child)
        if child.tag not in (TEXT, TSPAN) and not (child.text or "").strip():
            child.text = None
        if child.tag != TSPAN:
            child.tail = None
        if child.tag == GROUP and not child.attrib:
            parent.extend(child)
        elif not (child.tag == DEFS and not len(child)) and child.get("style") != "fill: none":
            parent.append(child)
