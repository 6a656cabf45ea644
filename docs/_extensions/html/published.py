"""Write the 404 page, and the metadata and links of a published site.

Of the existing extensions, sphinx-notfound-page fails with this theme, and sphinxext-opengraph
ignores a page's description.
"""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.locale import _

from _extensions.paths import is_source_language

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
    place = _("the project's folder, the one with `pyproject.toml`")
    source = ""
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


def complete_404_page(app: Sphinx, exception: Exception | None) -> None:
    """Give links to sections of the 404 page its name, since its <base> would lead them away.

    A site without an address has no such page, so that of an earlier build is deleted.
    """
    path = app.outdir / f"{NOT_FOUND}.html"
    if not app.config.html_baseurl:
        path.unlink(missing_ok=True)
    elif not exception and path.exists():
        text = path.read_text("utf-8")
        path.write_text(text.replace('href="#', f'href="{NOT_FOUND}.html#'), "utf-8")
