"""What a page claims: cells that check, the sentences they prove, the list of all."""

from sphinx.application import Sphinx

PARTS = ["folds", "page", "ledger"]


def setup(app: Sphinx) -> None:
    """Set up each part."""
    for part in PARTS:
        app.setup_extension(f"claims.{part}")
