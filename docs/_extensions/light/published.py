"""What only a published site has, once ``conf.py`` or ``-D html_baseurl=`` names its address.

Sphinx itself writes the canonical links then, and ``layout.html`` what a link to a page looks like
elsewhere. This adds a page for wrong addresses. sphinx-notfound-page ends with an error under this
theme, and sphinxext-opengraph passes over a page's description.
"""

from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

FOLDER = "the project's folder, the one with `pyproject.toml`"
MISSING = "404"
HEAD = '<base href="{}"><meta name="robots" content="noindex">'
WORDS = """<h1>This page does not exist</h1>
<p>The address may be misspelt, or the page may have got another name.
The <a href="index.html">first page</a> and the list of pages beside this text lead to all others,
and <a href="search.html">the search</a> finds a word in them.</p>"""


def begin(_app: Sphinx, config: Config) -> None:
    """Refuse an address that would give wrong links; let pages say ``{{ repository }}``."""
    if config.html_baseurl and not config.html_baseurl.endswith("/"):
        raise ConfigError(f"html_baseurl is {config.html_baseurl!r}; expected a slash at its end")
    repository = config.html_context.get("repository")
    said = f"[the repository](https://github.com/{repository})" if repository else FOLDER
    config.myst_substitutions = {"repository": said}


def page_for_wrong_addresses(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the page that a host shows for an address without one."""
    if app.config.html_baseurl:
        yield MISSING, {"title": "Page not found", "body": WORDS}, "page.html"


def describe(
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


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Let a link within the page for wrong addresses mean the page itself, not the first one."""
    missing = app.outdir / f"{MISSING}.html"
    if not exception and missing.exists():
        text = missing.read_text("utf-8").replace('href="#', f'href="{MISSING}.html#')
        missing.write_text(text, "utf-8")


def setup(app: Sphinx) -> None:
    """Connect to the beginning, to each page, and to the end."""
    app.connect("config-inited", begin)
    app.connect("html-collect-pages", page_for_wrong_addresses)
    app.connect("html-page-context", describe)
    app.connect("build-finished", finish)
