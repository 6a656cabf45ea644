"""What a page claims: cells that check, the sentences they prove, the list of all."""

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PARTS = ["folds", "page", "ledger"]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"claims.{part}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
