"""Find what breaks the rules of the modules beside this one; a build warns of it."""

import cell_rules
import number_rules
import page_rules
from _extensions.run.pages import Page

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
