"""Compile catalogs, pass messages to scripts, and mark messages whose translation is outdated."""

import json
from pathlib import Path

from babel.messages.pofile import read_po
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.locale import _
from sphinx.util.i18n import CatalogRepository

from _extensions.paths import is_source_language, is_translated

TEXT_NODES = (
    nodes.paragraph,
    nodes.caption,
    nodes.rubric,
    nodes.term,
    nodes.title,
    nodes.meta,
)


def compile_catalogs(app: Sphinx, config: Config) -> None:
    """Compile outdated catalogs before Sphinx does.

    Sphinx would decode them with the encoding of the pages, which ``run.pages`` sets to latin-1.
    """
    repository = CatalogRepository(app.srcdir, config.locale_dirs, config.language, "utf-8")
    for catalog in repository.catalogs:
        if catalog.is_outdated():
            catalog.write_mo(config.language)


def mark_newer_english(app: Sphinx, doctree: nodes.document) -> None:
    """Mark paragraphs of a translated page that are in English because their source changed."""
    docname, language = app.env.current_document.docname, app.config.language
    if is_source_language(app.config) or not is_translated(app, docname, language):
        return
    texts = (node for node in doctree.findall(nodes.Element) if isinstance(node, TEXT_NODES))
    visible = (node for node in texts if not isinstance(node.parent, nodes.field_body))
    outdated = [node for node in visible if node.get("translated") is False]
    for node in outdated:
        if not isinstance(node, nodes.title | nodes.meta):
            node["classes"].append("newer")
            label = nodes.emphasis("", _("[newer in English]") + " ", classes=["newer-mark"])
            node.insert(0, label)
    if outdated:
        print(f"{docname}: messages newer in English: {len(outdated)}; see nox -s translate")


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
