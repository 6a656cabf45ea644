"""The list of everything that was checked, and its totals wherever a page asks for them."""

import platform
from collections import Counter
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, SphinxRole

from claims.checks import checks_of, cited_of
from claims.folds import fold

PAGE = "checked"  # where the sums stand
FIRST = "First pages"  # the page with the table of contents, and what it lists without a caption


class total(nodes.Inline, nodes.Element):  # noqa: N801  # docutils names its nodes so
    """A number that is known once every page is read."""


class ledger(nodes.General, nodes.Element):  # noqa: N801
    """The place of the list."""


class Total(SphinxRole):
    """``{checked}`checks` ``: how many checks, pages with checks, or cited sentences."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a place for the number."""
        if self.text not in ("checks", "pages", "cited"):
            message = self.inliner.reporter.error(
                f"{self.text!r} is not counted, expected checks, pages or cited", line=self.lineno
            )
            return [], [message]
        self.env.metadata[self.env.current_document.docname]["totals"] = True
        return [total(what=self.text)], []


class Ledger(SphinxDirective):
    """``{ledger}``: the sums; or the list for captions of the sidebar, one on each line."""

    has_content: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        """Leave a place for the list."""
        self.env.metadata[self.env.current_document.docname]["totals"] = True
        return [ledger(captions=list(self.content))]


def totals(env: BuildEnvironment) -> dict[str, int]:
    """Count what was checked and what only cited."""
    checks = checks_of(env)
    return {
        "checks": sum(len(record["kinds"]) for page in checks.values() for record in page),
        "pages": sum(bool(page) for page in checks.values()),
        "cited": sum(len(page) for page in cited_of(env).values()),
    }


def rewrite(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Name the pages that show what has changed: all for their footer, or those with the list."""
    before = getattr(env, "lookup_written", (None, None))
    now = (totals(env), repr(sorted(checks_of(env).items()) + sorted(cited_of(env).items())))
    env.lookup_written = now  # type: ignore[attr-defined]
    if now[0] != before[0]:
        return sorted(env.found_docs)
    asking = [page for page, facts in env.metadata.items() if facts.get("totals")]
    return asking if now[1] != before[1] else []


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the numbers and the list in their places."""
    if not app.env.metadata[docname].get("totals"):
        return
    counted = totals(app.env)
    for place in list(doctree.findall(total)):
        place.replace_self(nodes.Text(f"{counted[place['what']]:,}"))
    for listed in list(doctree.findall(ledger)):
        captions = listed["captions"]
        listed.replace_self(
            _pages(app, docname, captions) if captions else _summary(app.env, counted)
        )


def _summary(env: BuildEnvironment, counted: dict[str, int]) -> list[nodes.Node]:
    checks = [record for page in checks_of(env).values() for record in page]
    kinds = Counter(_told(kind) for record in checks for kind in record["kinds"])
    rows = [("checks passed, on every page together", counted["checks"]), *kinds.most_common()]
    rows.append(("sentences that only cite a source", counted["cited"]))
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    versions = [f"{name} {version(name)}" for name in ("torch", "numpy", "scipy")]
    made = f"Counted on {when}, with Python {platform.python_version()}, {', '.join(versions)}."
    return [_table(["what", "how many"], rows), nodes.paragraph("", made)]


def _told(kind: str) -> str:
    """Say in the summary what a kind of check means; all expected errors are one kind there."""
    if kind.startswith("raises "):
        return "raises the expected error"
    return kind


def _pages(app: Sphinx, docname: str, captions: list[str]) -> list[nodes.section]:
    """Give a section for each page that checks or cites, in the order of the sidebar."""
    env, found = app.env, list[nodes.section]()
    for page in _in_order(env, captions):
        checks, cited = checks_of(env).get(page, []), cited_of(env).get(page, [])
        if not checks and not cited:
            continue
        uri = app.builder.get_relative_uri(docname, page)
        title = nodes.title("", env.titles[page].astext())
        section = nodes.section("", title, ids=[f"of-{page.replace('/', '-')}"])
        entries = [
            (record["sentence"], f"{uri}#{record['anchor']}", _of(record), record["section"])
            for record in checks
        ] + [(text, uri, "cited", "Cited from a source") for text in cited]
        count = sum(len(record["kinds"]) for record in checks)
        parts = [
            _counted(n, what) for n, what in ((count, "check"), (len(cited), "cited sentence"))
        ]
        summary = ", ".join(part for part in parts if part)
        listed = fold(classes=["fold", "ledger"], summary=summary)
        for heading, group in groupby(entries, key=itemgetter(3)):
            listed += nodes.paragraph("", "", nodes.strong("", heading))
            listed += nodes.bullet_list("", *(_item(*entry[:3]) for entry in group))
        section += listed
        found.append(section)
    return found


def _of(record: dict[str, Any]) -> str:
    """Name the kinds of one cell's checks, each with its number if there are several."""
    kinds = Counter(record["kinds"])
    return ", ".join(kind if n == 1 else f"{kind} ({n} checks)" for kind, n in kinds.items())


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' if number > 1 else ''}" if number else ""


def _item(sentence: str, uri: str, kind: str) -> nodes.list_item:
    """Give a sentence, and its kind as the link to the place where it is checked."""
    return nodes.list_item("", nodes.paragraph("", f"{sentence} ", _link(kind, uri)))


def _link(text: str, uri: str) -> nodes.reference:
    return nodes.reference("", text, refuri=uri, internal=True)


def _in_order(env: BuildEnvironment, captions: list[str]) -> list[str]:
    """Name the pages under these captions of the sidebar."""
    order: list[str] = []

    def visit(page: str) -> None:
        if page not in order:
            order.append(page)
            for inner in env.toctree_includes.get(page, []):
                visit(inner)

    root = env.config.root_doc
    if FIRST in captions:
        order.append(root)
    for tree in env.get_doctree(root).findall(addnodes.toctree):
        if (tree["caption"] or FIRST) in captions:
            for page in tree["includefiles"]:
                visit(page)
    return order


def _table(head: list[str], rows: list[tuple[Any, ...]]) -> nodes.table:
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += nodes.thead("", _row(head))
    group += nodes.tbody("", *(_row(row) for row in rows))
    return nodes.table("", group, classes=["ledger"])


def _row(entries: Any) -> nodes.row:
    made = nodes.row()
    for content in entries:
        inner = (
            content
            if isinstance(content, nodes.Node)
            else nodes.Text(f"{content:,}" if isinstance(content, int) else content)
        )
        made += nodes.entry("", nodes.paragraph("", "", inner))
    return made


def footer(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None
) -> None:
    """Say at the foot of every page how much was checked."""
    if PAGE not in app.env.found_docs:
        return
    link = app.builder.get_relative_uri(page, PAGE)
    context["theme_extra_footer"] = (
        f"<p>{totals(app.env)['checks']:,} checks passed in this build. "
        f'<a href="{link}">See each of them.</a></p>'
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Add role and directive, and connect to the end of reading and to writing."""
    app.add_node(total)
    app.add_node(ledger)
    app.add_role("checked", Total())
    app.add_directive("ledger", Ledger)
    app.connect("env-updated", rewrite)
    app.connect("doctree-resolved", resolve)
    app.connect("html-page-context", footer)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
