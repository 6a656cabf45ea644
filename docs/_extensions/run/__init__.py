"""Running the code of pages: kernels, order, what a page lacks, what ends a build."""

from sphinx.application import Sphinx

PARTS = ["pages", "execute", "guard", "report"]


def setup(app: Sphinx) -> None:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"run.{part}")
