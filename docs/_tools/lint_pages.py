"""Print the findings on pages, one a line: ``python docs/_tools/lint_pages.py [PAGE ...]``.

The build warns of the same findings. No code of the pages is run.
"""

import sys
from pathlib import Path

DOCS = Path(__file__).parents[1]
sys.path.append(str(DOCS))

import cell_rules  # noqa: E402
import number_rules  # noqa: E402
import page_rules  # noqa: E402
from _extensions.run.pages import Page, read_page  # noqa: E402

# A rule is a function that returns findings. A page can excuse it by its name.
MODULES = (page_rules, number_rules, cell_rules)
VALUES = [value for module in MODULES for value in vars(module).values()]
RULES = [
    v for v in VALUES if getattr(v, "__annotations__", {}).get("return") is page_rules.Findings
]


def lint_page(page: Page) -> list[tuple[int, str]]:
    """Return line and message of each finding that the front matter does not excuse."""
    if page.fault:
        line, message = page.fault
        return [(line, f"{message} [unreadable]")]
    excused, broken, results = page.head.get("excused", {}), set[str](), set[tuple[int, str]]()
    for rule in RULES:
        name = rule.__name__.replace("_", "-")
        for line, message in rule(page):
            broken.add(name)
            if name not in excused:
                results.add((line, f"{message} [{name}]"))
    for name in {*excused} - broken:
        message = f"the front matter excuses {name!r}, which the page does not break"
        results.add((1, f"{message}; remove the excuse [excuse]"))
    return sorted(results)


def main(names: list[str]) -> int:
    """Print the findings on these pages, all by default, and return 1 if there are any."""
    paths = [DOCS / f"{name}.md" for name in names] or sorted(DOCS.rglob("*.md"))
    lines = list[str]()
    for path in paths:
        page = read_page(path, path.relative_to(DOCS).with_suffix("").as_posix())
        lines += [f"{path}:{line}: {message}" for line, message in lint_page(page)]
    print("\n".join(lines), end="\n" * bool(lines))
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
