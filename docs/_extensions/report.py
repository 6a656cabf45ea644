"""Report the findings and the result of a build."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

from _extensions.paths import is_source_language
from _extensions.rules.lint import lint_page
from _extensions.run.pages import get_page

LOG = logging.getLogger(__name__)


def warn_of_findings(app: Sphinx, docname: str, _source: list[str]) -> None:
    """Warn of each broken rule and each assertion that cannot fail, with its line."""
    if not is_source_language(app.config):  # the build in English comes first
        return
    page = get_page(app, docname)
    for line, message in lint_page(page):
        LOG.warning(message, location=(docname, line))
    for index, cell_line, reason in page.run.powerless:
        code = page.cells[index].source.splitlines()
        message = f"this assertion is not seen to fail ({reason}); check what can be false, or end "
        message += f"its line with `# cannot fail: a reason`: {code[cell_line - 1].strip():.80}"
        LOG.warning(message, location=(docname, page.first_line(index) + cell_line - 1))


def print_result(app: Sphinx, exception: Exception | None) -> None:
    """Print the address of the built site, or that warnings failed the build."""
    if app._warncount:
        print(f"The build failed; warnings: {app._warncount}. Fix the causes and build again.")
    elif not exception and app.builder.name == "html":
        start_page = Path(app.outdir) / f"{app.config.root_doc}.html"
        print(f"Open {start_page.resolve().as_uri()}")
