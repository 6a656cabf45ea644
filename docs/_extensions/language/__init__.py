"""Pages in a second language: their words come from ``docs/locale``, all else is the same.

The catalogs hold a page's messages, those of its drawings among them; ``sphinx.po`` holds the words
of the frame. ``nox -s translate`` updates them, and CONTRIBUTING says how to translate a page.
"""

from sphinx.application import Sphinx

PARTS = ["glued", "drawings", "frame"]


def setup(app: Sphinx) -> None:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"language.{part}")
