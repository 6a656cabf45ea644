"""Translate the words in figures, which are drawn once for all languages.

A figure with other numbers or “quoted” texts has the same messages, since placeholders stand for
them. A text whose last attribute is ``translate="no"`` stays as it is.
"""

import re
from collections.abc import Callable
from html import escape, unescape
from itertools import count

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.locale import init

TEXT = re.compile(r'(?<!translate="no">)(?<=>)[^<>]+(?=</t(?:ext|span)>)|(?<=aria-label=")[^"]+')
NUMBER = re.compile(r"“[^”]*”|[−-]?\d[\d.,]*(?<![.,])")
WORD = re.compile(r"[A-Za-z]{2}")


class raw(nodes.raw, addnodes.translatable):  # noqa: N801
    """An SVG figure whose messages Sphinx's gettext builder collects; it is part of no page."""

    def extract_original_messages(self) -> list[str]:
        """Return each message of the figure once."""
        texts = (unescape(text) for text in TEXT.findall(self.astext()))
        return list(dict.fromkeys(extract_numbers(text)[0] for text in texts if WORD.search(text)))


def extract_numbers(text: str) -> tuple[str, list[str]]:
    """Return a text with ``{0}``, ``{1}``, … for its numbers and quotes, and these."""
    indices = count()
    escaped = text.replace("{", "{{").replace("}", "}}")
    return NUMBER.sub(lambda _: f"{{{next(indices)}}}", escaped), NUMBER.findall(text)


def translate_svg(svg: str, gettext: Callable[[str], str]) -> str:
    """Return a figure with its texts and its ``aria-label`` translated."""

    def translate(match: re.Match[str]) -> str:
        text = unescape(match.group())
        if not WORD.search(text):
            return match.group()
        message, numbers = extract_numbers(text)
        return escape(gettext(message).format(*numbers), quote=True)

    return TEXT.sub(translate, svg)


def translate_drawings(app: Sphinx, doctree: nodes.document) -> None:
    """Translate the figures of a page, or pass their messages to the gettext builder."""
    docname = app.env.current_document.docname
    dirs = [app.srcdir / name for name in app.config.locale_dirs]
    catalog, has_catalog = init(dirs, app.config.language, docname)
    for drawing in list(doctree.findall(nodes.raw)):
        if "<svg" not in drawing.astext():
            continue
        if app.builder.name == "gettext":
            # MyST-NB selects no output of a cell for this builder, so the figure is appended.
            figure = raw("", drawing.astext(), format="html")
            figure.source, figure.line = doctree["source"], 1
            doctree += figure
        elif has_catalog:
            drawing[:] = [nodes.Text(translate_svg(drawing.astext(), catalog.gettext))]
