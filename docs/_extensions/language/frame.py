"""Tells a reader in which language a page is, and leads to it in the other."""

import json
from pathlib import Path
from typing import Any

from babel.messages.pofile import read_po
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util.i18n import CatalogRepository, docname_to_domain

from _extensions.paths import SECOND_LANGUAGE

TEXTS = (nodes.paragraph, nodes.caption, nodes.rubric, nodes.term, nodes.title, nodes.meta)


def prepare_catalogs(app: Sphinx, config: Config) -> None:
    """Compile the catalogs, and let the address of the second language end in its folder."""
    # Sphinx would read them in the encoding of the pages, which run.pages sets to one of any byte.
    for catalog in CatalogRepository(
        app.srcdir, config.locale_dirs, config.language, "utf-8"
    ).catalogs:
        if catalog.is_outdated():
            catalog.write_mo(config.language)
    if config.language != "en" and config.html_baseurl:
        config.html_baseurl += f"{SECOND_LANGUAGE}/"


def move_raw_outputs(app: Sphinx, env: BuildEnvironment, _docnames: list[str]) -> None:
    """Let MyST-NB lay its raw outputs beside the doctrees, not into the site around this one."""
    folder = Path(app.doctreedir).parent / "jupyter_execute"
    env.mystnb_config.output_folder = str(folder)  # type: ignore[attr-defined]


def has_catalog(app: Sphinx, docname: str) -> bool:
    """Tell whether a page is one that was translated."""
    domain = docname_to_domain(docname, app.config.gettext_compact)
    places = (app.srcdir / name / app.config.language for name in app.config.locale_dirs)
    return any((place / "LC_MESSAGES" / f"{domain}.po").exists() for place in places)


def mark_newer_english(app: Sphinx, doctree: nodes.document) -> None:
    """Mark what a translated page says in English, because the English text is newer."""
    docname = app.env.current_document.docname
    if app.config.language == "en" or not has_catalog(app, docname):
        return
    texts = (n for n in doctree.findall(nodes.Element) if isinstance(n, TEXTS))
    shown = (n for n in texts if not isinstance(n.parent, nodes.field_body))  # of the front matter
    newer = [node for node in shown if node.get("translated") is False]
    for node in newer:
        if not isinstance(node, nodes.title | nodes.meta):
            node["classes"].append("newer")
            mark = nodes.emphasis("", _("[newer in English]") + " ", classes=["newer-mark"])
            node.insert(0, mark)
    if newer:
        print(f"{docname}: messages newer in English: {len(newer)}; see nox -s translate")


def add_language_links(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Give a page the link to itself in the other language, and say that it is not translated."""
    english = app.config.language == "en"
    if app.tags.has("bilingual"):
        folder = f"{SECOND_LANGUAGE}/" if english else "../"
        context["other_language"] = f"{context['content_root']}{folder}{page}.html"
    if tree is not None and context["pageurl"]:
        name = app.builder.get_target_uri(page)
        first = app.config.html_baseurl.removesuffix("" if english else f"{SECOND_LANGUAGE}/")
        context["languages"] = {"en": first + name, "zh-CN": f"{first}{SECOND_LANGUAGE}/{name}"}
    if tree is not None and not english and not has_catalog(app, page):
        said = _("This page has not been translated yet.")
        context["body"] = (
            f'<p class="untranslated">{said}</p><div lang="en">{context["body"]}</div>'
        )


def write_script_words(app: Sphinx) -> None:
    """Give scripts their texts in the second language, which they ask for by the first."""
    if app.builder.format != "html" or app.config.language == "en":
        return
    path = app.srcdir / app.config.locale_dirs[0] / app.config.language / "LC_MESSAGES/sphinx.po"
    with path.open("rb") as file:
        found = [m for m in read_po(file) if any(".js" in place for place, _line in m.locations)]
    words = json.dumps({m.id: m.string for m in found if m.string}, ensure_ascii=False)
    static = Path(app.outdir, "_static")
    static.mkdir(parents=True, exist_ok=True)
    (static / "words.js").write_text(f"window.words = {words};\n", "utf-8")
    app.add_js_file("words.js", loading_method="defer", priority=100)
