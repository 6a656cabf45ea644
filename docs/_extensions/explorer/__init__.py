"""The figure that readers drive."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up the only part."""
    app.setup_extension("explorer.figure")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
