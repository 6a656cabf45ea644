"""A page that is light, private and accessible."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PARTS = [
    "writer",
    "page_head",
    "mathml",
    "site_files",
    "published",
]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"light.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
