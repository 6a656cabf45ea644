"""The rule for typed versions of torch: a sentence with one says where it was tried last."""

import re
from importlib.metadata import version as installed

from packaging.version import Version

from _extensions.page_record import Page
from _extensions.rules.text import Findings

NAMED = re.compile(
    r"\b[Tt]orch (?:up to |before )?(\d\.\d+)(?:\.\d+)?"
    r"(?:,? (?:up to|to|and|or|from|before) (?:torch )?(\d\.\d+))*"
)
COMPARED = re.compile(r"__version__ *[<>=]+ *\"(\d\.\d+)\"")
LAST = re.compile(r"(\d+\.\d+\.\d+), \S")  # and by what
RECORDED = re.compile(r"recorded, \S")  # its numbers stay those of that version


def typed_version(page: Page) -> Findings:
    """Find sentences on a version of torch that nothing tries with the installed one.

    A cell of the section that compares ``torch.__version__`` with the version, or with the one
    after it, tries the sentence in each build; a cited sentence is as old as its source; for any
    other, ``tried:`` in the front matter has some of its words, the last torch, and what was tried.
    """
    tried = page.head.get("tried", {})
    source_lines = page.text.splitlines()
    unused = {*tried}
    for line in page.prose:
        named = [v for match in NAMED.finditer(line.text) for v in match.groups() if v]
        text = source_lines[line.number - 1]
        if not named or line.element == "fence" or "{cite}" in text:
            continue
        keys = [key for key in tried if key in text]
        unused -= {*keys}
        if not keys:
            if not {*named, *map(_following, named)} & _compared(page, line.number):
                message = (
                    f"the sentence names torch {named[0]}, and nothing says where it was tried"
                )
                yield line.number, f"{message}; compare versions in a check, or enter it in `tried`"
            continue
        note = str(tried[keys[0]])
        if RECORDED.match(note):
            continue
        last = LAST.match(note)
        torch = Version(installed("torch")).public
        if not last:
            message = f"`tried` has {note!r:.40}, expected a version and what was tried"
            yield line.number, f'{message}, as in "2.15.0, the check below"'
        elif Version(torch) > Version(last[1]):
            message = f"the sentence was tried up to torch {last[1]}, and this is {torch}"
            yield line.number, f"{message}; try {note[len(last[1]) + 2 :]!r}, and enter {torch}"
    for key in sorted(unused):
        yield 1, f"`tried` has {key!r}, which no sentence with a version has; remove it"


def _following(version: str) -> str:
    """Return the next minor version, which begins where "up to" ends."""
    major, _, minor = version.partition(".")
    return f"{major}.{int(minor) + 1}"


def _compared(page: Page, line: int) -> set[str]:
    """Return the versions with which the cells of the section of a line compare torch's."""
    headings = [part.number for part in page.prose if part.element in ("h1", "h2", "h3")]
    first = max((number for number in headings if number <= line), default=0)
    end = min((number for number in headings if number > line), default=len(page.text))
    cells = zip(page.cells, page.lines, strict=True)
    code = "\n".join(cell.source for cell, number in cells if first <= number < end)
    return set(COMPARED.findall(code))
