"""The ways to take a page away: its notebook, its Markdown, and services that open the notebook.

A native ``details`` element in the header, so that it needs no script. The services appear when
conf.py says where the site is, and Binder when it names the repository too.
"""

from typing import Any
from urllib.parse import quote, urljoin

from docutils import nodes
from sphinx.application import Sphinx

from notebooks.notebooks import is_executed

COLAB = "https://colab.research.google.com/#fileId={notebook}"
BINDER = "https://mybinder.org/v2/gh/{repository}/HEAD?urlpath={path}"


def ways(page: str, base: str, repository: str, *, executed: bool) -> list[tuple[str, str, bool]]:
    """Give words, address, and whether it is a file to keep, of each way to take a page away."""
    name = page.rpartition("/")[2]
    found = [("Markdown source", f"{name}.md", True)]
    if executed:
        found.insert(0, ("Notebook", f"{name}.ipynb", True))
    if executed and base:
        notebook = quote(urljoin(base, f"{page}.ipynb"), safe="")
        found.append(("Open in Colab", COLAB.format(notebook=notebook), False))
        if repository:
            path = quote(f"lab?fromURL={notebook}", safe="")
            found.append(("Open in Binder", BINDER.format(repository=repository, path=path), False))
    return found


def add_ways(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], tree: nodes.document | None
) -> None:
    """Hand the ways to the template, for pages that have a source."""
    if tree is not None:
        repository = app.config.html_context.get("repository", "")
        context["ways"] = ways(
            page, app.config.html_baseurl, repository, executed=is_executed(app, page)
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of a page."""
    app.connect("html-page-context", add_ways)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
