"""Says in few lines what a build does, and drops the HTML of deleted pages."""

from pathlib import Path

from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def drop_removed(
    app: Sphinx, _env: BuildEnvironment, _added: set[str], _changed: set[str], removed: set[str]
) -> list[str]:
    """Delete what an earlier build wrote for pages that no longer exist; Sphinx leaves it lying."""
    for docname in removed:
        for kind in ("html", "ipynb", "md"):
            (app.outdir / f"{docname}.{kind}").unlink(missing_ok=True)
    return []


def report(app: Sphinx, exception: Exception | None) -> None:
    """Print how it ended: the time of all code, and the address; or that it failed."""
    if exception or app._warncount:
        count, where = app._warncount, "below" if exception else "above"
        found = f"{count} warning{'s' if count > 1 else ''}" if count else "an error"
        print(f"The build failed: {found}, printed {where}. Mend the cause and build again.")
        return
    if app.builder.name == "html":
        pages = NbMetadataCollector.get_doc_data(app.env).values()
        runs = [page["exec_data"]["runtime"] or 0.0 for page in pages if page.get("exec_data")]
        print(f"{sum(runs):7.1f} s  code of all {len(runs)} pages, when each was last executed")
        first = Path(app.outdir) / f"{app.config.root_doc}.html"
        print(f"Open {first.resolve().as_uri()}")


def setup(app: Sphinx) -> None:
    """Connect to what is gone and to the end."""
    app.connect("env-get-outdated", drop_removed)
    app.connect("build-finished", report)
