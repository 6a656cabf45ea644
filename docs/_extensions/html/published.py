"""What only a published site has, once ``conf.py`` or ``-D html_baseurl=`` names its address.

Sphinx itself writes the canonical links then, and ``layout.html`` what a link to a page looks like
elsewhere. This adds a page for wrong addresses and a sitemap. sphinx-notfound-page ends with an
error under this theme, sphinxext-opengraph passes over a page's description, and sphinx-sitemap
lists the pages that this build has written, not those that were there.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any
from xml.sax.saxutils import escape as escape_xml

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.locale import _

from _extensions.paths import SECOND_LANGUAGE

MISSING, SITEMAP = "404", "sitemap.xml"
HEAD = """<base href="{}"><meta name="robots" content="noindex">
<meta name="description" content="There is no page at this address; the first page leads to all.">
"""
WORDS = """<h1>This page does not exist</h1>
<p>The address may be misspelt, or the page may have got another name.
The <a href="index.html">first page</a> and the list of pages beside this text lead to all others,
and <a href="search.html">the search</a> finds a word in them.</p>"""


def check_addresses(app: Sphinx) -> None:
    """Refuse an address that would give wrong links."""
    address = app.config.html_baseurl
    if address and not re.fullmatch(r"https?://[^\s?#]+/", address):
        expected = "expected one like https://example.org/docs/, from its scheme to a slash"
        raise ConfigError(f"html_baseurl is {address!r}; {expected}")
    repository = app.config.html_context.get("repository", "")
    if repository and not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        expected = "expected its owner and its name, such as octocat/hello-world"
        raise ConfigError(f"the repository is {repository!r}; {expected}")


def add_repository_links(_app: Sphinx, config: Config) -> None:
    """Let pages say where the project's files are: ``{{ repository }}``, or ``{{ source }}``."""
    repository = config.html_context.get("repository")
    said = _("the project's folder, the one with `pyproject.toml`")
    if repository:
        name = _("the repository")
        said = f"[{name}](https://github.com/{repository})"
    source = _("Its source is {0}.").format(said) if repository else ""
    config.myst_substitutions = {"repository": said, "source": source}


def collect_404_page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page that a host shows for an address without one."""
    if app.config.html_baseurl and app.config.language == "en":
        yield MISSING, {"title": "Page not found", "body": WORDS}, "page.html"


def add_page_description(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Hand over what others show of a page; let the one for wrong addresses fit any of them."""
    if page == MISSING:  # is served for any address, so its own links cannot be relative to it
        context["pageurl"] = None
        context["metatags"] = HEAD.format(escape(app.config.html_baseurl))
    elif tree is not None:
        tags = (tag for tag in tree.findall(nodes.meta) if tag["name"] == "description")
        context["description"] = next((tag["content"] for tag in tags), "")
        context["card"] = f"{app.config.html_baseurl}_static/card.png"


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write the sitemap; without an address, remove what a build with one has left."""
    if exception or app.builder.format != "html" or app.config.language != "en":
        return
    address, missing = app.config.html_baseurl, app.outdir / f"{MISSING}.html"
    if not address:
        for left in (missing, app.outdir / SITEMAP):
            left.unlink(missing_ok=True)
        return
    # A link within the page means the page itself, and not the first one.
    text = missing.read_text("utf-8").replace('href="#', f'href="{MISSING}.html#')
    missing.write_text(text, "utf-8")
    names = [app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
    folders = ["", f"{SECOND_LANGUAGE}/"] if app.tags.has("bilingual") else [""]
    places = (f"{address}{folder}{name}" for folder in folders for name in names)
    urls = "\n".join(f"<url><loc>{escape_xml(place)}</loc></url>" for place in places)
    kind = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    head = f'<?xml version="1.0" encoding="utf-8"?>\n<urlset {kind}>'
    (app.outdir / SITEMAP).write_text(f"{head}\n{urls}\n</urlset>\n", "utf-8")
