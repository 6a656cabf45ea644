"""Paths that several rooms share."""

from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
SECOND_LANGUAGE = "zh"  # folder of the site with the pages in the second language
SECOND_LOCALE = "zh_CN"  # Sphinx's name of that language


def is_translated(app: Sphinx, docname: str) -> bool:
    """Return whether a page has a catalog in the second language."""
    catalog = Path(SECOND_LOCALE, "LC_MESSAGES", f"{docname}.po")
    return any((app.srcdir / folder / catalog).exists() for folder in app.config.locale_dirs)
