"""Warns of what lint_pages.py finds on a page, and shows what the page excuses, and why."""

from pathlib import Path
from zlib import crc32

import lint_pages
from claims.folds import fold
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from run.pages import page_of

LOG = logging.getLogger(__name__)


def check_source(app: Sphinx, docname: str, _source: list[str]) -> None:
    """Warn of each finding, by its line."""
    for line, says in lint_pages.findings(page_of(app, docname)):
        LOG.warning(says, location=(docname, line))


def show_excuses(app: Sphinx, doctree: nodes.document) -> None:
    """Show at the end of a page what it excuses."""
    excused = page_of(app, app.env.current_document.docname).head.get("excused", {})
    if excused:
        reasons = nodes.bullet_list()
        for rule, reason in excused.items():
            reasons += nodes.list_item("", nodes.paragraph("", f"{rule}: {reason}"))
        section = next(doctree.findall(nodes.section))
        section += fold(
            "",
            reasons,
            classes=["fold"],
            summary="for contributors: rules that this page does not keep",
        )


def setup(app: Sphinx) -> dict[str, int]:
    """Connect to the text of a page, and to what was read."""
    app.connect("source-read", check_source)
    app.connect("doctree-read", show_excuses)
    # Other rules judge every page anew.
    rules = sorted(Path(lint_pages.__file__).parent.glob("*_*.py"))
    version = crc32(b"".join(path.read_bytes() for path in rules)) or 1
    return {"env_version": version}
