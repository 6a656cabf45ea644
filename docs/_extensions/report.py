"""Report the findings and the result of a build; delete the files of removed pages."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from _extensions.paths import is_source_language
from _extensions.run.pages import page_of

LOG = logging.getLogger(__name__)


def warn_of_findings(app: Sphinx, docname: str, _source: list[str]) -> None:
    """Warn of each finding of lint_pages.py and each assertion that cannot fail, with its line.

    The build in English comes first, so that a translation need not repeat its warnings.
    """
    if not is_source_language(app.config):
        return
    import lint_pages  # not above: as a script it imports this package, and so this module

    page = page_of(app, docname)
    for line, message in lint_pages.findings(page):
        LOG.warning(message, location=(docname, line))
    page_lines = page.text.splitlines()
    for index, cell_line, reason in page.powerless:
        code = page.cells[index].source.splitlines()[cell_line - 1]
        cell_lines = [line.strip() for line in page_lines[page.lines[index] :]]  # with options
        offset = cell_lines.index(code.strip()) if code.strip() in cell_lines else 0
        message = f"this assertion is not seen to fail ({reason}); check what can be false, or end "
        message += f"its line with `# cannot fail: a reason`: {code.strip():.80}"
        LOG.warning(message, location=(docname, page.lines[index] + offset + 1))


def delete_removed_pages(
    app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], removed: set[str]
) -> list[str]:
    """Delete the files that an earlier build wrote for pages that no longer exist.

    Sphinx leaves them. If the environment is new, as after an update, it does not know which pages
    earlier builds wrote; then all are deleted, and this build writes the existing ones.
    """
    excluded_folders = {"_static", *app.config.languages.values()}
    for suffix in ("html", "ipynb", "md"):
        outdated = [app.outdir / f"{docname}.{suffix}" for docname in removed]
        if not env.all_docs:
            outdated += app.outdir.rglob(f"*.{suffix}")
        for path in outdated:
            if path.relative_to(app.outdir).parts[0] not in excluded_folders:
                path.unlink(missing_ok=True)
    return []


def print_failure(app: Sphinx, exception: Exception | None) -> None:
    """Print that an exception ended the build; Sphinx prints it below."""
    if exception:
        _print_failed(app._warncount, "below")


def print_result(app: Sphinx, exception: Exception | None) -> None:
    """Print the address of the built site, or that warnings failed the build."""
    if exception:
        return
    if app._warncount:
        _print_failed(app._warncount, "above")
    elif app.builder.name == "html":
        start_page = Path(app.outdir) / f"{app.config.root_doc}.html"
        print(f"Open {start_page.resolve().as_uri()}")


def _print_failed(count: int, place: str) -> None:
    reason = f"{count} warning{'s' if count > 1 else ''}" if count else "an error"
    print(f"The build failed: {reason}, printed {place}. Fix the cause and build again.")
