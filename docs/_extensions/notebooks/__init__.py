"""Every page as a notebook, and what else can be taken away."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PARTS = ["notebooks", "wheel", "gpu_notebook"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"notebooks.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
