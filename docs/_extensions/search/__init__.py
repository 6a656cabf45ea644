"""Finding things: the search, and the box for errors."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PARTS = ["symptoms", "search_index"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"search.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
