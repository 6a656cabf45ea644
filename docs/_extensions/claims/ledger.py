"""Count the checks of all pages for the table on one."""

import re
from collections import Counter
from datetime import UTC, datetime

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from _extensions.claims.page import get_claims
from _extensions.tables import build_table

PAGE = "checked"  # the page with the table


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


def find_pages_with_totals(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the page with the table, which any other page may have changed."""
    return [PAGE] if PAGE in env.found_docs else []


def fill_in_totals(app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    """Replace the placeholder of a page by the table."""
    for placeholder in list(doctree.findall(ledger)):
        rows = [[what, f"{number:,}"] for what, number in count_claims(app.env).items()]
        counted_on = f"Counted on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
        table = build_table(["what", "how many"], rows)
        placeholder.replace_self([table, nodes.paragraph("", counted_on)])
