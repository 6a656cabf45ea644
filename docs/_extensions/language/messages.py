"""Translate figures, parse messages with values, and pass those of scripts on.

A figure is drawn once for all languages. With other numbers or “quoted” texts it has the same
messages. A text whose last attribute is ``translate="no"`` stays as it is.
"""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from html import escape, unescape
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from babel.messages.pofile import read_po
from docutils import nodes
from markdown_it import MarkdownIt
from myst_nb.ext.glue import extract_glue_data_cell
from myst_nb.sphinx_ import Parser
from myst_parser.mdit_to_docutils.sphinx_ import SphinxRenderer
from myst_parser.parsers.mdit import create_md_parser
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.locale import init

from _extensions.run.pages import get_page

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
            figure.source = doctree["source"]
            figure.line = 1
            doctree += figure
        elif has_catalog:
            drawing[:] = [nodes.Text(translate_svg(drawing.astext(), catalog.gettext))]


def write_script_messages(app: Sphinx) -> None:
    """Write ``words.js``, which maps the English messages of scripts to their translations."""
    path = app.srcdir / app.config.locale_dirs[0] / app.config.language / "LC_MESSAGES/sphinx.po"
    if app.builder.format != "html" or not path.exists():
        return
    with path.open("rb") as file:
        catalog = read_po(file)
    words = {
        message.id: message.string
        for message in catalog
        if message.string and any(".js" in source for source, _line in message.locations)
    }
    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    text = f"window.words = {json.dumps(words, ensure_ascii=False)};\n"
    (static / "words.js").write_text(text, "utf-8")
    app.add_js_file("words.js", loading_method="defer", priority=100)


class GlueAwareParser(Parser):  # type: ignore[misc]  # MyST-NB has no types
    """MyST-NB's parser, which also resolves glued values in translated messages.

    Sphinx parses each as a document of its own. Remove this when MyST-NB passes the values on.
    """

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse a page or one of its messages."""
        if not str(document.current_source).endswith("<translated>"):
            super().parse(inputstring, document)
            for entry in document.findall(nodes.entry):
                for paragraph in entry.findall(nodes.paragraph):
                    # MyST gives none to a table in a directive, so Sphinx would not translate it.
                    paragraph.source = paragraph.source or document.current_source
            return
        env = document.settings.env
        client = SimpleNamespace(glue_data=_glue_data(env.app, env.current_document.docname))
        document["nb_renderer"] = SimpleNamespace(renderer=SimpleNamespace(nb_client=client))
        parser = _make_message_parser(env.app)
        parser.options["document"] = document
        parser.render(inputstring)
        del document["nb_renderer"]


@cache
def _make_message_parser(app: Sphinx) -> MarkdownIt:
    """Return one parser for all messages, since MyST takes longer to make it than to use it."""
    return create_md_parser(app.env.myst_config, SphinxRenderer)  # type: ignore[attr-defined]


def detach_messages(_app: Sphinx, doctree: nodes.document) -> None:
    """Have all nodes name the page as their document.

    Those of translated messages name a document for each message, and Sphinx would store these.
    """
    for node in doctree.findall():
        node.document = doctree


@cache
def _glue_data(app: Sphinx, docname: str) -> dict[str, Any]:
    """Return the glued values of an executed page by their names."""
    cells = deepcopy([c for c in get_page(app, docname).cells if c.cell_type == "code"])
    return dict(value for cell in cells for value in extract_glue_data_cell(cell))
