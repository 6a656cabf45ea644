"""What a page lacks."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PARTS = ["page_check"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"rules.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
