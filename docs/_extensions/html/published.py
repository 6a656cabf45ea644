"""Write the sitemap, the 404 page, and the metadata and links of a published site.

Of the existing extensions, sphinx-notfound-page fails with this theme, sphinxext-opengraph ignores
a page's description, and sphinx-sitemap omits the pages that this build did not write again.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.locale import _

from _extensions.paths import is_source_language, is_translated

NOT_FOUND = "404"


def check_addresses(app: Sphinx) -> None:
    """Raise ``ConfigError`` for an address that would give wrong links."""
    address = app.config.html_baseurl
    if address and not re.fullmatch(r"https?://[^\s?#]+/", address):
        expected = "expected one like https://example.org/docs/, from its scheme to a slash"
        raise ConfigError(f"html_baseurl is {address!r}; {expected}")
    repository = app.config.html_context.get("repository", "")
    if repository and not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        expected = "expected its owner and its name, such as octocat/hello-world"
        raise ConfigError(f"the repository is {repository!r}; {expected}")


def add_repository_links(_app: Sphinx, config: Config) -> None:
    """Define ``{{ repository }}`` and ``{{ source }}``, the places of the project's files."""
    place, source = _("the project's folder, the one with `pyproject.toml`"), ""
    if repository := config.html_context.get("repository"):
        name = _("the repository")  # Babel finds no message within an f-string
        place = f"[{name}](https://github.com/{repository})"
        source = _("Its source is {0}.").format(place)
    config.myst_substitutions = {"repository": place, "source": source}


def collect_404_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page that a host shows for an address without one."""
    if app.config.html_baseurl and is_source_language(app.config):
        context = {"title": "Page not found", "base": app.config.html_baseurl}
        yield NOT_FOUND, context, "404.html"


def add_page_description(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Add the metadata for previews."""
    if tree is not None:
        tags = (tag for tag in tree.findall(nodes.meta) if tag["name"] == "description")
        context["description"] = next((tag["content"] for tag in tags), "")
        context["card"] = f"{app.config.html_baseurl}_static/card.png"


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write the sitemap and complete the 404 page, if the site has an address."""
    if exception or app.builder.format != "html" or not is_source_language(app.config):
        return
    address, not_found = app.config.html_baseurl, app.outdir / f"{NOT_FOUND}.html"
    sitemap = app.outdir / "sitemap.xml"
    sitemap.unlink(missing_ok=True)  # an earlier build's
    if not address:
        return
    # Relative to its <base>, a link to a section of the 404 page would lead to the first page.
    text = not_found.read_text("utf-8").replace('href="#', f'href="{NOT_FOUND}.html#')
    not_found.write_text(text, "utf-8")
    names = sorted(app.env.found_docs)
    urls = [app.builder.get_target_uri(name) for name in names]
    for language, folder in app.config.languages.items() if app.tags.has("multilingual") else ():
        translated = (name for name in names if is_translated(app, name, language))
        urls += [f"{folder}/{app.builder.get_target_uri(name)}" for name in translated]
    entries = "\n".join(f"<url><loc>{escape(address + url)}</loc></url>" for url in urls)
    namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<urlset {namespace}>'
    sitemap.write_text(f"{head}\n{entries}\n</urlset>\n", "utf-8")
