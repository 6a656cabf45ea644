"""Asks for the site's type with the page itself, so that it is there when the text is drawn."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

# The style of most of the text, and that of the headings; the third comes when a page needs it.
STYLES = ["regular", "bold"]


def preload(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Write the links; browsers fetch type without credentials, so the links must say so too."""
    for style in STYLES:
        place = context["pathto"](f"_static/face/{style}.woff2", resource=True)
        link = f'<link rel="preload" as="font" type="font/woff2" crossorigin href="{place}">'
        context["metatags"] = context.get("metatags", "") + link


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the writing of a page."""
    app.connect("html-page-context", preload)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
