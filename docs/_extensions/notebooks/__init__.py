"""Every page as a notebook, and what else can be taken away."""

from sphinx.application import Sphinx

PARTS = ["notebooks", "wheel", "gpu_notebook"]


def setup(app: Sphinx) -> None:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"notebooks.{part}")
