"""The project's folder, the languages of the site, and their addresses."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).parents[2]
SOURCE_LANGUAGE = "en"


def is_source_language(config: Config) -> bool:
    """Return whether this build is the one whose pages are not translated."""
    return str(config.language) == SOURCE_LANGUAGE


def language_folder(config: Config) -> str:
    """Return the folder of this build's language below the root of the site, ending in a slash."""
    return "" if is_source_language(config) else f"{config.languages[config.language]}/"


def root_address(config: Config) -> str:
    """Return the address of the whole site, which those of the languages continue."""
    return str(config.html_baseurl).removesuffix(language_folder(config))


def is_translated(app: Sphinx, docname: str, language: str) -> bool:
    """Return whether a page has a catalog in a language."""
    catalog = Path(language, "LC_MESSAGES", f"{docname}.po")
    return any((app.srcdir / folder / catalog).exists() for folder in app.config.locale_dirs)
