"""The figure that readers drive."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PARTS = ["explorer"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"explorer.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
