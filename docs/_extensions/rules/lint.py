"""Find what breaks the rules of the modules beside this one; a build warns of it."""

from _extensions.page_record import Page
from _extensions.rules import beside, code, numbers, text, versions

# A page can excuse a rule by its name.
RULES = (
    text.description,
    text.long_page,
    text.typed_time,
    text.unproved,
    text.eaten_answer,
    numbers.untraced,
    versions.typed_version,
    code.threads,
    code.long_cell,
    code.folded_name,
    code.drawing_alone,
    code.caption,
    code.unseeded,
    code.varying_text,
    code.never_run,
    code.unasserted,
    code.cannot_fail,
    beside.weak_check,
)


def lint_page(page: Page) -> list[tuple[int, str]]:
    """Return line and message of each finding that the front matter does not excuse."""
    if page.fault:
        line, message = page.fault
        return [(line, f"{message} [unreadable]")]
    excused = page.head.get("excused", {})
    broken = set[str]()
    results = set[tuple[int, str]]()
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
