"""Translates the words within drawings, which the same execution has drawn for every language.

A number in a message stands as ``{0}``, ``{1}`` and so on, so that a drawing of other numbers has
the same messages.
"""

import re
from collections.abc import Callable
from html import escape, unescape

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.locale import init

WORDS = re.compile(r'(?<=>)[^<>]+(?=</t(?:ext|span)>)|(?<=aria-label=")[^"]+')
NUMBER = re.compile(r"[−-]?\d[\d.,]*(?<![.,])")
LETTERS = re.compile(r"[A-Za-z]{2}")


class raw(nodes.raw, addnodes.translatable):  # noqa: N801
    """A drawing, whose words Sphinx's builder of catalogs collects."""

    def preserve_original_messages(self) -> None:
        """Keep nothing: the words stay as they are."""

    def apply_translated_message(self, original_message: str, translated_message: str) -> None:
        """Apply nothing: this stands in no page."""

    def extract_original_messages(self) -> list[str]:
        """Return each message once."""
        texts = (unescape(text) for text in WORDS.findall(self.astext()))
        return list(dict.fromkeys(message(text)[0] for text in texts if LETTERS.search(text)))


def message(text: str) -> tuple[str, list[str]]:
    """Return a text with places for its numbers, and the numbers."""
    numbers = NUMBER.findall(text)
    places = iter(range(len(numbers)))
    braced = text.replace("{", "{{").replace("}", "}}")
    return NUMBER.sub(lambda _: f"{{{next(places)}}}", braced), numbers


def translated(svg: str, say: Callable[[str], str]) -> str:
    """Return a drawing with its words translated."""

    def word(found: re.Match[str]) -> str:
        text = unescape(found.group())
        if not LETTERS.search(text):
            return found.group()
        original, numbers = message(text)
        return escape(say(original).format(*numbers), quote=True)

    return WORDS.sub(word, svg)


def translate_drawings(app: Sphinx, doctree: nodes.document) -> None:
    """Translate the drawings of a page, or show them to the builder of catalogs."""
    docname = app.env.current_document.docname
    dirs = [app.srcdir / name for name in app.config.locale_dirs]
    catalog, found = init(dirs, app.config.language, docname)
    for drawing in list(doctree.findall(nodes.raw)):
        if "<svg" not in drawing.astext():
            continue
        if app.builder.name == "gettext":
            shown = raw("", drawing.astext(), format="html")
            shown.source, shown.line = doctree["source"], 1
            doctree += shown  # apart: for this builder MyST-NB selects no output of a cell
        elif found:
            drawing[:] = [nodes.Text(translated(drawing.astext(), catalog.gettext))]
