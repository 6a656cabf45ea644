"""A page that is light, private and accessible."""

from sphinx.application import Sphinx

PARTS = ["writer", "page_head", "mathml", "site_files", "published"]


def setup(app: Sphinx) -> None:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"light.{part}")
