"""Says what a build finds on pages and how it ended, and drops the HTML of deleted pages."""

from pathlib import Path

import lint_pages
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from _extensions.paths import SECOND_LANGUAGE
from _extensions.run.pages import page_of

LOG = logging.getLogger(__name__)


def warn_of_findings(app: Sphinx, docname: str, _source: list[str]) -> None:
    """Warn of each finding of lint_pages.py, by its line."""
    for line, says in lint_pages.findings(page_of(app, docname)):
        LOG.warning(says, location=(docname, line))


def delete_removed_pages(
    app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], removed: set[str]
) -> list[str]:
    """Delete what an earlier build wrote for pages that no longer exist; Sphinx leaves it there."""
    for kind in ("html", "ipynb", "md"):
        gone = [app.outdir / f"{docname}.{kind}" for docname in removed]
        # An environment that begins anew, as after an update, knows no page, and writes them all.
        left = [] if env.all_docs else app.outdir.rglob(f"*.{kind}")
        for path in [*gone, *left]:
            if path.relative_to(app.outdir).parts[0] not in ("_static", SECOND_LANGUAGE):
                path.unlink(missing_ok=True)
    return []


def print_result(app: Sphinx, exception: Exception | None) -> None:
    """Print the address of the built site, or that the build failed."""
    if exception or app._warncount:
        count, where = app._warncount, "below" if exception else "above"
        reason = f"{count} warning{'s' if count > 1 else ''}" if count else "an error"
        print(f"The build failed: {reason}, printed {where}. Mend the cause and build again.")
        return
    if app.builder.name == "html":
        first = Path(app.outdir) / f"{app.config.root_doc}.html"
        print(f"Open {first.resolve().as_uri()}")
