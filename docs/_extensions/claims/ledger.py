"""Count the checks of all pages, for the footer of each page and the table on one."""

import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util.docutils import SphinxDirective

from _extensions.claims.page import get_claims
from _extensions.symptoms.versions import build_table

PAGE = "checked"  # the page with the table
FOOTER = {PAGE: "What was checked", "bibliography": "Bibliography", "build": "This build"}


class ledger(nodes.General, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """A placeholder for the table, which is known once every page is read."""


class Ledger(SphinxDirective):
    """``{ledger}``: a table of the checks of all pages by kind."""

    def run(self) -> list[nodes.Node]:
        """Return a placeholder for the table."""
        return [ledger()]


def count_claims(env: BuildEnvironment) -> dict[str, int]:
    """Return the checks of all pages: in total, by kind, disturbed; and the cited sentences."""
    pages = get_claims(env).values()
    kinds = [kind for page in pages for kind in page.kinds]
    by_kind = Counter(re.sub("raises .*", "raises the expected error", kind) for kind in kinds)
    assertions = sum(metadata.get("assertions", 0) for metadata in env.metadata.values())
    return {
        "checks passed, on every page together": len(kinds),
        **dict(by_kind.most_common()),
        "assertions seen to fail when an operand was changed": assertions,
        "sentences that only cite a source": sum(page.cited for page in pages),
    }


def find_pages_with_new_totals(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return all pages, to write them again, if a number changed."""
    numbers = count_claims(env)
    has_changed = numbers != getattr(env, "lookup_totals", None)
    env.lookup_totals = numbers  # type: ignore[attr-defined]
    return sorted(env.found_docs) if has_changed else []


def fill_in_totals(app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    """Replace the placeholder of a page by the table."""
    for placeholder in list(doctree.findall(ledger)):
        rows = [[what, f"{number:,}"] for what, number in count_claims(app.env).items()]
        counted_on = f"Counted on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
        table = build_table(["what", "how many"], rows)
        placeholder.replace_self([table, nodes.paragraph("", counted_on)])


def add_footer(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Add the number of checks to the footer of every page."""
    if PAGE in app.env.found_docs:
        links = " · ".join(
            f'<a href="{app.builder.get_relative_uri(page, name)}">{_(words)}</a>'
            for name, words in FOOTER.items()
            if name in app.env.found_docs
        )
        count = sum(len(claims.kinds) for claims in get_claims(app.env).values())
        passed = _("{0} checks passed in this build.").format(f"{count:,}")
        context["theme_extra_footer"] = f"<p>{passed} {links}</p>"
