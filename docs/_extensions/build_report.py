"""Checks that expected errors happened, reports what ran, and drops the HTML of deleted pages."""

from pathlib import Path

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

LOG = logging.getLogger(__name__)


def drop_removed(
    app: Sphinx, _env: BuildEnvironment, _added: set[str], _changed: set[str], removed: set[str]
) -> list[str]:
    """Delete what an earlier build wrote for pages that no longer exist; Sphinx leaves it lying."""
    for docname in removed:
        (app.outdir / f"{docname}.html").unlink(missing_ok=True)
    return []


def expect_errors(_app: Sphinx, doctree: nodes.document) -> None:
    """Warn about a cell that is tagged ``raises-exception`` and raised nothing.

    Jupyter only allows such a cell to fail, so a claim that something fails would go unchecked.
    """
    for cell in doctree.findall(nodes.container):
        if "tag_raises-exception" in cell["classes"]:
            blocks = cell.findall(nodes.literal_block)
            if not any("traceback" in block["classes"] for block in blocks):
                LOG.warning("this cell was expected to raise and did not", location=cell)


def report(app: Sphinx, exception: Exception | None) -> None:
    """Print the time that each page's code took, the total, and the address of the site."""
    if exception or app.builder.name != "html":
        return
    pages = NbMetadataCollector.get_doc_data(app.env)
    runs = {name: page["exec_data"] for name, page in pages.items() if page.get("exec_data")}
    for name, run in sorted(runs.items()):
        LOG.info(f"{run['runtime'] or 0.0:7.1f} s  {name}")
    LOG.info(f"{sum(run['runtime'] or 0.0 for run in runs.values()):7.1f} s  code of all pages")
    LOG.info(f"Open {(Path(app.outdir) / 'index.html').resolve().as_uri()}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect all three to the build."""
    app.connect("doctree-read", expect_errors)
    app.connect("env-get-outdated", drop_removed)
    app.connect("build-finished", report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
