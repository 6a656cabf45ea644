"""Write lists of the pages, the 404 page, and the metadata and links of a published site.

Of the existing extensions, sphinx-notfound-page fails with this theme, and sphinxext-opengraph
ignores a page's description.
"""

import re
from collections.abc import Iterator
from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ConfigError
from sphinx.locale import _

from _extensions.paths import is_source_language, is_translated, root_address

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
    """Add the metadata for previews; their titles have no word joiners (``html/writer.py``)."""
    context["title"] = context.get("title", "").replace("\u2060", "")
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


def write_lists(app: Sphinx, exception: Exception | None) -> None:
    """Write ``llms.txt``, and for a site with an address ``sitemap.xml`` and ``robots.txt``."""
    if exception or app.builder.name != "html":
        return
    base = app.config.html_baseurl
    names = [*_walk_contents(app.env, app.config.root_doc)]
    names += sorted(app.env.found_docs - {*names})
    if not is_source_language(app.config):
        names = [name for name in names if is_translated(app, name, app.config.language)]
    lines = [f"# {app.config.project}", "", f"> {_describe(app.env, names[0])}", "", "## Pages", ""]
    for name in names:
        title = app.env.titles[name].astext()
        lines.append(f"- [{title}]({base}{name}.md): {_describe(app.env, name)}")
    (app.outdir / "llms.txt").write_text("\n".join(lines) + "\n", "utf-8")
    sitemap = app.outdir / "sitemap.xml"
    robots = app.outdir / "robots.txt"
    if base:
        places = "".join(f"<url><loc>{base}{escape(name)}.html</loc></url>\n" for name in names)
        schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
        head = '<?xml version="1.0" encoding="UTF-8"?>'
        sitemap.write_text(f'{head}\n<urlset xmlns="{schema}">\n{places}</urlset>\n', "utf-8")
        folders = ["", *(f"{folder}/" for folder in app.config.languages.values())]
        root = root_address(app.config)
        maps = "".join(f"Sitemap: {root}{folder}sitemap.xml\n" for folder in folders)
        robots.write_text(f"User-agent: *\nAllow: /\n{maps}", "utf-8")
    else:
        sitemap.unlink(missing_ok=True)
        robots.unlink(missing_ok=True)
    if not is_source_language(app.config):
        robots.unlink(missing_ok=True)  # hosts read the one at the root


def _walk_contents(env: BuildEnvironment, name: str) -> Iterator[str]:
    """Yield a page and all below it, in the order of the contents."""
    yield name
    for child in env.toctree_includes.get(name, []):
        yield from _walk_contents(env, child)


def _describe(env: BuildEnvironment, name: str) -> str:
    """Return the description of a page in the language of the site."""
    tags = (tag for tag in env.get_doctree(name).findall(nodes.meta))
    return next((str(tag["content"]) for tag in tags if tag["name"] == "description"), "")
