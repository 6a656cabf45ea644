"""Running the code of pages: kernels, order, what ends a build, what it reports."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PARTS = ["pages", "execute", "guard", "report"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"run.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
