"""List all checks of the site, and insert their totals into pages."""

import re
from collections import Counter
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import _
from sphinx.util.docutils import SphinxDirective, SphinxRole

from _extensions.claims.folds import fold
from _extensions.claims.page import Claims, get_claims
from _extensions.symptoms.versions import build_table

PAGE = "checked"  # the page with the totals
FOOTER = {PAGE: "What was checked", "bibliography": "Bibliography", "build": "This build"}
FIRST_CAPTION = "First pages"  # the root page, and pages that its toctrees list without a caption


class total(nodes.Inline, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """A placeholder for a total, which is known once every page is read."""


class ledger(nodes.General, nodes.Element):  # noqa: N801
    """A placeholder for a list of checks."""


class Total(SphinxRole):
    """``{checked}`checks` ``: how many checks, pages with checks, or cited sentences."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return a placeholder for the number."""
        if self.text not in ("checks", "pages", "cited"):
            message = self.inliner.reporter.error(
                f"{self.text!r} is not counted, expected checks, pages or cited", line=self.lineno
            )
            return [], [message]
        self.env.metadata[self.env.current_document.docname]["totals"] = True
        return [total(what=self.text)], []


class Ledger(SphinxDirective):
    """``{ledger}``: totals, or the checks of pages below the given captions, one per line."""

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        """Return a placeholder for the list."""
        self.env.metadata[self.env.current_document.docname]["totals"] = True
        return [ledger(captions=list(self.content))]


def count_claims(env: BuildEnvironment) -> dict[str, int]:
    """Return the numbers of checks, of pages with checks, and of cited sentences."""
    pages = get_claims(env).values()
    return {
        "checks": sum(len(page.kinds) for page in pages),
        "pages": sum(bool(page.checks) for page in pages),
        "cited": sum(len(page.cited) for page in pages),
    }


def find_pages_with_new_totals(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to write again: all if a total changed, or those with a list."""
    before = getattr(env, "lookup_written", (None, None))
    now = (count_claims(env), repr(sorted(get_claims(env).items())))
    env.lookup_written = now  # type: ignore[attr-defined]
    if now[0] != before[0]:
        return sorted(env.found_docs)
    pages = [page for page, metadata in env.metadata.items() if metadata.get("totals")]
    return pages if now[1] != before[1] else []


def fill_in_totals(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace the placeholders of a page."""
    if not app.env.metadata[docname].get("totals"):
        return
    numbers = count_claims(app.env)
    for number in list(doctree.findall(total)):
        number.replace_self(nodes.Text(f"{numbers[number['what']]:,}"))
    for checks in list(doctree.findall(ledger)):
        captions = checks["captions"]
        lists = _list_pages(app, docname, captions) if captions else _list_totals(app.env, numbers)
        checks.replace_self(lists)


def _list_totals(env: BuildEnvironment, numbers: dict[str, int]) -> list[nodes.Node]:
    """Return the totals by kind, with all expected errors as one kind, and the time of counting."""
    kinds = Counter(
        re.sub("raises .*", "raises the expected error", kind)
        for page in get_claims(env).values()
        for kind in page.kinds
    )
    sums = {"checks passed, on every page together": numbers["checks"]} | dict(kinds.most_common())
    assertions = sum(metadata.get("assertions", 0) for metadata in env.metadata.values())
    sums["assertions seen to fail when an operand was changed"] = assertions
    sums["sentences that only cite a source"] = numbers["cited"]
    rows = [[what, f"{number:,}"] for what, number in sums.items()]
    counted_on = f"Counted on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    return [build_table(["what", "how many"], rows, "ledger"), nodes.paragraph("", counted_on)]


def _list_pages(app: Sphinx, docname: str, captions: list[str]) -> list[nodes.Node]:
    """Return a section for each page that checks or cites, in the order of the sidebar."""
    sections, claims = list[nodes.Node](), get_claims(app.env)
    for name in _order_pages(app.env, captions):
        page = claims.get(name, Claims([], []))
        uri = app.builder.get_relative_uri(docname, name)
        counts = {"check": len(page.kinds), "cited sentence": len(page.cited)}
        summary = [f"{n:,} {what}{'s' if n > 1 else ''}" for what, n in counts.items() if n]
        if not summary:
            continue
        entries = []
        for check in page.checks:
            numbers = Counter(check.kinds).items()
            kinds = ", ".join(kind if n == 1 else f"{kind} ({n} checks)" for kind, n in numbers)
            entries.append((check.section, check.sentence, kinds, f"{uri}#{check.anchor}"))
        entries += [("Cited from a source", sentence, "cited", uri) for sentence in page.cited]
        details = fold(classes=["fold", "ledger"], summary=", ".join(summary))
        for heading, group in groupby(entries, key=itemgetter(0)):
            details += nodes.paragraph("", "", nodes.strong("", heading))
            items = nodes.bullet_list("")
            for _section, sentence, kinds, address in group:
                link = nodes.reference("", kinds, refuri=address, internal=True)
                items += nodes.list_item("", nodes.paragraph("", f"{sentence} ", link))
            details += items
        title = nodes.title("", app.env.titles[name].astext())
        sections.append(nodes.section("", title, details, ids=[f"of-{name.replace('/', '-')}"]))
    return sections


def _order_pages(env: BuildEnvironment, captions: list[str]) -> list[str]:
    """Return the pages under these captions of the sidebar."""
    order, root = list[str](), env.config.root_doc
    if FIRST_CAPTION in captions:
        order += [root, *(page for page in FOOTER if page in env.found_docs)]
    for tree in env.get_doctree(root).findall(addnodes.toctree):
        if (tree["caption"] or FIRST_CAPTION) in captions:
            for page in tree["includefiles"]:
                order += [page, *env.toctree_includes.get(page, [])]
    return list(dict.fromkeys(order))


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
        number = f"{count_claims(app.env)['checks']:,}"
        passed = _("{0} checks passed in this build.").format(number)
        context["theme_extra_footer"] = f"<p>{passed} {links}</p>"
