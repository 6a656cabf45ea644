"""Warns of what lint_pages.py finds on a page, and shows what the page excuses, and why."""

from pathlib import Path
from zlib import crc32

import lint_pages
from claims.folds import fold
from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util import logging

from run.pages import page_of

LOG = logging.getLogger(__name__)
LONGEST_S = 20.0  # of a page's code, since everybody waits for it


def check_source(app: Sphinx, docname: str, _source: list[str]) -> None:
    """Warn of each finding, by its line."""
    for line, says in lint_pages.findings(page_of(app, docname)):
        LOG.warning(says, location=(docname, line))


def check_run(app: Sphinx, doctree: nodes.document) -> None:
    """Name a page that runs for long, and show at its end what it excuses."""
    docname = app.env.current_document.docname
    excused = page_of(app, docname).head.get("excused", {})
    run = NbMetadataCollector.get_exec_data(app.env, docname)
    seconds = run["runtime"] or 0.0 if run else 0.0
    if seconds > LONGEST_S and "slow" not in excused:
        # Said and not warned of, or a build would fail because the machine is busy.
        print(
            f"{docname}: its code ran for {seconds:.0f} s, expected at most {LONGEST_S:.0f} s when "
            "the machine does nothing else; take smaller sizes or fewer rounds [slow]",
            flush=True,
        )
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
    app.connect("doctree-read", check_run)
    # Other rules judge every page anew.
    rules = sorted(Path(lint_pages.__file__).parent.glob("*_*.py"))
    version = crc32(b"".join(path.read_bytes() for path in rules)) or 1
    return {"env_version": version}
