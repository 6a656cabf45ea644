"""What only a published site has, once ``conf.py`` or ``-D html_baseurl=`` names its address.

Sphinx itself writes the canonical links then. This adds what a link to a page looks like elsewhere,
a sitemap, a page for wrong addresses and, with ``html_context`` or ``-A repository=``, the links to
edit a page and to report a false sentence. Without the addresses nothing is written.
"""

import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape as escape_xml

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ConfigError

from light.card import draw_card

MISSING = "404"
TYPE = ["regular", "bold"]  # of most text and of the headings; italic comes when a page needs it
WORDS = """<h1>This page does not exist</h1>
<p>The address may be misspelt, or the page may have got another name.
The <a href="index.html">first page</a> and the list of pages beside this text lead to all others,
and <a href="search.html">the search</a> finds a word in them.</p>"""


def check_address(app: Sphinx) -> None:
    """Refuse an address that would give wrong links."""
    address = app.config.html_baseurl
    if address and not re.fullmatch(r"https?://[^\s?#]+/", address):
        expected = "expected one like https://example.org/docs/, from its scheme to a slash"
        raise ConfigError(f"html_baseurl is {address!r}; {expected}")
    repository = app.config.html_context.get("repository", "")
    if repository and not re.fullmatch(r"[\w.-]+/[\w.-]+", repository):
        expected = "expected its owner and its name, such as octocat/hello-world"
        raise ConfigError(f"the repository is {repository!r}; {expected}")


def describe(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Say what other sites show of a link to this page."""
    address = app.config.html_baseurl
    if not address:
        return
    if page == MISSING:  # is served for any address, so its own links cannot be relative to it
        context["pageurl"] = None
        head = f'<base href="{escape(address)}"><meta name="robots" content="noindex">'
        context["metatags"] = head + context.get("metatags", "")
        return
    # Asked for with the page, the type is there when the text is first drawn. A browser refuses
    # that to a page opened as a file, so only a published site does.
    for style in TYPE:
        place = context["pathto"](f"_static/face/{style}.woff2", resource=True)
        link = f'<link rel="preload" as="font" type="font/woff2" crossorigin href="{place}">'
        context["metatags"] = context.get("metatags", "") + link
    if tree is None:
        return
    about = next((n["content"] for n in tree.findall(nodes.meta) if n["name"] == "description"), "")
    title = re.sub("<[^>]*>", "", context["title"])
    facts = {
        "og:type": "website" if page == app.config.root_doc else "article",
        "og:site_name": escape(app.config.html_title),
        "og:title": title,  # is HTML already
        "og:description": escape(about),
        "og:url": escape(context["pageurl"]),
        "og:image": escape(f"{address}_static/card.png"),
        "og:image:alt": "The ids 2, 3 and 1 beside the same three ids as one-hot rows",
    }
    lines = [f'<meta property="{name}" content="{words}">' for name, words in facts.items()]
    lines.append('<meta name="twitter:card" content="summary_large_image">')
    context["metatags"] += "\n".join(lines)


def link_source(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Give the links at the foot of a page: its source, and the form for a false sentence."""
    repository = app.config.html_context.get("repository", "")
    if not repository or tree is None:
        return
    source = Path(app.env.doc2path(page, base=False)).as_posix()
    title = unescape(re.sub("<[^>]*>", "", context["title"]))
    where = f"{title} ({context.get('pageurl') or source})"
    form = urlencode({"template": "false-sentence.yml", "page": where})
    home = f"https://github.com/{repository}"
    context["edit_link"] = f"{home}/edit/main/docs/{source}"
    context["report_link"] = f"{home}/issues/new?{form}"
    context["theme_article_footer_items"] = ["page-links.html"]


def page_for_wrong_addresses(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Give the page that a host shows for an address without one."""
    if app.config.html_baseurl:
        yield MISSING, {"title": "Page not found", "body": WORDS}, "page.html"


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write the sitemap and the picture that other sites show beside a link."""
    address = app.config.html_baseurl
    if exception or not address or app.builder.format != "html":
        return
    missing = app.outdir / f"{MISSING}.html"
    # A link within the page means the page itself, and not the first one.
    missing.write_text(
        missing.read_text("utf-8").replace('href="#', f'href="{MISSING}.html#'), "utf-8"
    )
    places = (f"{address}{app.builder.get_target_uri(name)}" for name in sorted(app.env.found_docs))
    urls = "\n".join(f"<url><loc>{escape_xml(place)}</loc></url>" for place in places)
    head = '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    (app.outdir / "sitemap.xml").write_text(f"{head}\n{urls}\n</urlset>\n", "utf-8")
    draw_card(app.outdir / "_static" / "card.png")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect after the themes, which set the address of a page and the parts of its foot."""
    app.connect("builder-inited", check_address)
    app.connect("html-collect-pages", page_for_wrong_addresses)
    app.connect("html-page-context", describe, priority=600)
    app.connect("html-page-context", link_source, priority=601)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
