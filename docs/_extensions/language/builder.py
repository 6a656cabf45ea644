"""Build the site of a language from translated pages and links to the English ones."""

import re
from collections.abc import Set
from pathlib import Path
from typing import Any

from babel import Locale
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ConfigError

from _extensions import paths
from _extensions.paths import SOURCE_LANGUAGE, is_source_language, is_translated


class TranslationBuilder(StandaloneHTMLBuilder):
    """HTML builder that writes translated pages only; other links lead to the folder above."""

    search = False  # ``search.index`` replaces Sphinx's index and search page

    def is_english_only(self, docname: str) -> bool:
        """Return whether a link to this page leads out of the folder of this language."""
        if is_source_language(self.config) or docname not in self.env.found_docs:
            return False
        return not is_translated(self._app, docname, self.config.language)

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:
        """Return the address of a page, relative to the root of this language."""
        uri = super().get_target_uri(docname, typ)
        return f"../{uri}" if self.is_english_only(docname) else uri

    def get_outdated_docs(self) -> Any:
        """Yield the outdated pages of this language."""
        return (name for name in super().get_outdated_docs() if not self.is_english_only(name))

    def write_documents(self, docnames: Set[str]) -> None:
        """Write the pages of this language; resolve the others, for the entries of the search."""
        english = set(filter(self.is_english_only, docnames))
        for docname in sorted(english):
            self.env.get_and_resolve_doctree(docname, self, tags=self.tags)
        super().write_documents(docnames - english)


def set_base_address(_app: Sphinx, config: Config) -> None:
    """Append the folder of this language, which ``conf.py`` has to name, to the site's address."""
    if config.language not in (names := [SOURCE_LANGUAGE, *config.languages]):
        expected = f"expected one of {names}; add its folder to `languages` in conf.py"
        raise ConfigError(f"the language is {config.language!r}, {expected}")
    if config.html_baseurl:
        config.html_baseurl += paths.language_folder(config)


def move_raw_outputs(app: Sphinx, env: BuildEnvironment, _docnames: list[str]) -> None:
    """Have MyST-NB write raw outputs beside the doctrees instead of into the English site."""
    folder = Path(app.doctreedir, "jupyter_execute")
    env.mystnb_config.output_folder = str(folder)  # type: ignore[attr-defined]


def add_language_links(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Add links to the same page in the other languages in which it exists."""
    if not app.tags.has("multilingual"):
        return
    folders = {SOURCE_LANGUAGE: ""}
    uri = app.builder.get_target_uri(page)
    for language, folder in app.config.languages.items():
        if page == "search" or is_translated(app, page, language):
            folders[language] = f"{folder}/"
    root = context["content_root"] + ("" if is_source_language(app.config) else "../")
    codes = {language: language.replace("_", "-") for language in folders}
    context["language_links"] = [
        (codes[language], Locale.parse(language).get_language_name(), root + folder + uri)
        for language, folder in folders.items()
        if language != app.config.language
    ]
    if tree is not None and context["pageurl"] and len(folders) > 1:
        address = paths.root_address(app.config)
        context["alternates"] = {codes[name]: address + folders[name] + uri for name in folders}


def mark_english_links(app: Sphinx, exception: Exception | None) -> None:
    """Set ``hreflang`` on links to English pages; site.css shows it beside the link."""
    if exception or app.builder.name != "html" or is_source_language(app.config):
        return
    for path in Path(app.outdir).rglob("*.html"):
        root = re.escape("../" * len(path.relative_to(app.outdir).parents))
        page = path.read_text("utf-8")
        link = rf'<a (?=[^>]*\bhref="{root}[^."][^"]*\.html\b)(?![^>]*\bhreflang=)'
        if (marked_page := re.sub(link, r'\g<0>hreflang="en" ', page)) != page:
            path.write_text(marked_page, "utf-8")
