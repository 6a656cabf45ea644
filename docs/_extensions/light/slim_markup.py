"""Leaves out markup that nobody sees: of drawings, what Matplotlib adds; of code, plain spans."""

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from docutils import nodes
from pygments.formatters import HtmlFormatter
from pygments.token import Name, Operator, Punctuation, Text, Token, Whitespace
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

from lookup_matmul.figures.axes import HALO

SVG = "http://www.w3.org/2000/svg"
HREF = "{http://www.w3.org/1999/xlink}href"
DRAWING = re.compile(r'<svg [^>]*class="drawing".*?</svg>', re.DOTALL)
COORDINATES = {"d", "x", "y", "points"}
# Half of the elements of a page with code, in the colour that code has anyway.
PLAIN = {Token, Text, Whitespace, Name, Operator, Punctuation}


class Plain(HtmlFormatter):  # type: ignore[misc]  # Pygments has no types
    """Writes no span around names, operators, brackets and spaces."""

    def _get_css_classes(self, ttype: Any) -> str:
        return "" if ttype in PLAIN else str(super()._get_css_classes(ttype))


def compact(svg: str) -> str:
    """Drop ids that nothing refers to, groups without meaning, and digits below 0.1 pt.

    What is drawn many times, such as a tick, has its style once, and its small shape to 0.01 pt.
    """
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(svg)
    repeated = {shape for defs in root.iter(f"{{{SVG}}}defs") for shape in defs.iter()}
    referred = set(re.findall(r'(?:url\(#|href="#)([\w-]+)', svg))
    for element in root.iter():
        if element.get("id") and element.get("id") not in referred:
            del element.attrib["id"]
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        if (style := element.get("style", "")).startswith(HALO):  # which site.css has once
            element.set("style", style.removeprefix(HALO))
            element.set("class", "halo")
        for name in COORDINATES & element.attrib.keys():
            short = _short_to(2 if element in repeated else 1)
            rounded = re.sub(r"-?\d+\.\d+", short, element.attrib[name])
            element.set(name, " ".join(rounded.split()))
    _style_once(root)
    _flatten(root)
    return ElementTree.tostring(root, encoding="unicode")


def _style_once(root: Element) -> None:
    """Move a style that all uses of a shape share to the shape, below what it has itself."""
    uses: dict[str, list[Element]] = {}
    for use in root.iter(f"{{{SVG}}}use"):
        use.set("href", use.attrib.pop(HREF, use.get("href", "")))
        uses.setdefault(use.get("href", ""), []).append(use)
    shapes = {f"#{shape.get('id')}": shape for shape in root.iter() if shape.get("id")}
    for number, (href, same) in enumerate(sorted(uses.items())):
        styles, shape = {use.get("style", "") for use in same}, shapes[href]
        if len(styles) == 1:
            shape.set("style", "; ".join(filter(None, [*styles, shape.get("style", "")])))
        name = f"{href[1:].partition('-')[0]}-{number}"  # the drawing's own, and short
        shape.set("id", name)
        for use in same:
            use.set("href", f"#{name}")
            if len(styles) == 1:
                use.attrib.pop("style", None)


def _short_to(digits: int) -> Callable[[re.Match[str]], str]:
    return lambda number: f"{round(float(number.group()), digits) + 0.0:g}"


def _flatten(parent: Element) -> None:
    """Replace groups without attributes by what they hold, and drop what shows nothing."""
    children = list(parent)
    parent[:] = []
    for child in children:
        _flatten(child)
        written = child.tag in (f"{{{SVG}}}text", f"{{{SVG}}}tspan")
        if not written and not (child.text or "").strip():
            child.text = None
        if child.tag != f"{{{SVG}}}tspan":
            child.tail = None
        unseen = child.get("style") == "fill: none" and not written
        if child.tag == f"{{{SVG}}}g" and not child.attrib:
            parent.extend(child)
        elif not unseen and not (child.tag == f"{{{SVG}}}defs" and not len(child)):
            parent.append(child)


def slim(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Compact the drawings of a page."""
    del app
    if "body" in context:
        context["body"] = DRAWING.sub(lambda found: compact(found.group()), context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Set the formatter that Sphinx highlights with, and connect to the writing of pages."""
    PygmentsBridge.html_formatter = Plain
    app.connect("html-page-context", slim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
