"""Pass messages to scripts, and mark messages whose translation is outdated."""

import json
from pathlib import Path

from babel.messages.pofile import read_po
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import _

from _extensions.paths import is_source_language, is_translated

BLOCKS = nodes.paragraph | nodes.caption | nodes.rubric | nodes.term


def mark_newer_english(app: Sphinx, doctree: nodes.document) -> None:
    """Mark paragraphs of a translated page that are in English because their source changed."""
    docname, language = app.env.current_document.docname, app.config.language
    if is_source_language(app.config) or not is_translated(app, docname, language):
        return
    outdated = [
        node
        for node in doctree.findall(nodes.Element)
        if isinstance(node, BLOCKS | nodes.title | nodes.meta)
        and not isinstance(node.parent, nodes.field_body)
        and node.get("translated") is False
    ]
    for node in outdated:
        if isinstance(node, BLOCKS):
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
