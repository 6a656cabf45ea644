"""Says what a build finds on pages and how it ended, and drops the HTML of deleted pages."""

from pathlib import Path

import lint_pages
from language.frame import FOLDER
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from run.pages import page_of

LOG = logging.getLogger(__name__)


def judge(app: Sphinx, docname: str, _source: list[str]) -> None:
    """Warn of each finding of lint_pages.py, by its line."""
    for line, says in lint_pages.findings(page_of(app, docname)):
        LOG.warning(says, location=(docname, line))


def drop_removed(
    app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], removed: set[str]
) -> list[str]:
    """Delete what an earlier build wrote for pages that no longer exist; Sphinx leaves it there."""
    for kind in ("html", "ipynb", "md"):
        gone = [app.outdir / f"{docname}.{kind}" for docname in removed]
        # An environment that begins anew, as after an update, knows no page, and writes them all.
        left = [] if env.all_docs else app.outdir.rglob(f"*.{kind}")
        for path in [*gone, *left]:
            if path.relative_to(app.outdir).parts[0] not in ("_static", FOLDER):
                path.unlink(missing_ok=True)
    return []


def report(app: Sphinx, exception: Exception | None) -> None:
    """Print how it ended: the address, or that it failed."""
    if exception or app._warncount:
        count, where = app._warncount, "below" if exception else "above"
        found = f"{count} warning{'s' if count > 1 else ''}" if count else "an error"
        print(f"The build failed: {found}, printed {where}. Mend the cause and build again.")
        return
    if app.builder.name == "html":
        first = Path(app.outdir) / f"{app.config.root_doc}.html"
        print(f"Open {first.resolve().as_uri()}")


def setup(app: Sphinx) -> None:
    """Connect to what is gone, to the text of a page, and to the end."""
    app.connect("env-get-outdated", drop_removed)
    app.connect("source-read", judge)
    app.connect("build-finished", report)
