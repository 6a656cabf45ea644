"""Print what pages have to mend, one line each: ``python docs/_tools/lint_pages.py [PAGE ...]``.

The build warns of the same. Nothing is run, and no page is named here.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1]
sys.path.append(str(DOCS))

import assertion_rules  # noqa: E402
import cell_rules  # noqa: E402
import length_rules  # noqa: E402
import number_rules  # noqa: E402
import page_rules  # noqa: E402
from _extensions.run.pages import Page, read  # noqa: E402

# Each is a function that finds lines and reasons; its name is what a page can excuse.
RULES: tuple[Callable[[Page], Iterator[tuple[int, str]]], ...] = (
    page_rules.description,
    page_rules.source,
    page_rules.never_run,
    page_rules.typed_time,
    page_rules.hollow,
    page_rules.unproved,
    page_rules.unlinked,
    number_rules.untraced,
    cell_rules.threads,
    cell_rules.long,
    cell_rules.caption,
    cell_rules.unseeded,
    cell_rules.vacuous,
    assertion_rules.cannot_fail,
    length_rules.too_long,
    cell_rules.network,
    cell_rules.writes,
    cell_rules.installs,
    cell_rules.path,
)


class Finding(NamedTuple):
    """One thing to mend on a page."""

    line: int
    says: str


def findings(page: Page) -> list[Finding]:
    """Return what is to be mended on a page, but what its front matter excuses."""
    if page.fault:
        line, reason = page.fault
        return [Finding(line, f"{reason} [unreadable]")]
    excused, found, broken = page.head.get("excused", {}), set[Finding](), set[str]()
    for rule in RULES:
        name = rule.__name__.replace("_", "-")
        for line, reason in rule(page):
            broken.add(name)
            if name not in excused:
                found.add(Finding(line, f"{reason} [{name}]"))
    for name in {*excused} - broken:
        says = f"{name!r} is excused, and nothing here breaks such a rule; drop the excuse [excuse]"
        found.add(Finding(1, says))
    return sorted(found)


def main(names: list[str]) -> int:
    """Print the findings of these pages, all by default; the exit code is 1 if there are any."""
    paths = [DOCS / f"{name}.md" for name in names] or sorted(DOCS.rglob("*.md"))
    count = 0
    for path in paths:
        for finding in findings(read(path, path.relative_to(DOCS).with_suffix("").as_posix())):
            print(f"{path}:{finding.line}: {finding.says}")
            count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
