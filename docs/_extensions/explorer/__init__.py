"""The figure that readers drive."""

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Set up the only part."""
    app.setup_extension("explorer.figure")
