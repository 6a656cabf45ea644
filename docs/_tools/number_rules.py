"""The rule for numbers in prose: the page's code has them too, or their sentence cites a source."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from _extensions.run.pages import Page, read
from page_rules import Findings

FENCE = re.compile(r" *(`{3,}|~{3,})(.*)")
PROSE_DIRECTIVES = ("{glossary}", "{math}", "{note}", "{admonition}")
PROSE_OPTIONS = ("caption:", "description:")  # in the options of cells and the front matter
NOT_PROSE = re.compile(r"(\{[\w:.-]+\})?`[^`]*`|\]\([^)]*\)|<[^>]*>|https?://\S+")
NUMBER = re.compile(
    r"(?<![\w.,^-])(?<!torch )(?<!Python )(?<!ersion )(?<!section )"
    r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\d.,]*\w)"
    r"(-fold| times| ?×(?! ?\w)| ?%| percent)?"
)
YEAR = re.compile(r"(19|20)[0-2]\d")
NUMBER_IN_CODE = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
LINK = re.compile(r"\]\(([\w./-]+\.md)[#)]")


def untraced(page: Page) -> Findings:
    """Find numbers in no code of the page, nor in that of a page linked in the same paragraph.

    Outputs do not count: they change with the machine or a version, and the sentence would not.
    """
    in_code = _numbers_in_code(page)
    for paragraph in _paragraphs(page.text):
        linked = {name for _, text in paragraph for name in LINK.findall(text)}
        typed = [
            (line, *parts)
            for line, text in paragraph
            if "{cite" not in text
            for parts in _exact_numbers(text)
            if not _matches_any(in_code, *parts)
        ]
        paths = [path for name in linked if (path := page.path.parent / name).is_file()]
        in_linked = set[float]().union(*map(_numbers_in_code_of, paths if typed else ()))
        for line, *parts in typed:
            if not _matches_any(in_linked, *parts):
                message = f"the number {''.join(parts)!r} is in no code here, so it may be wrong"
                yield line, f"{message}; glue it, or cite or link its source in the sentence"


def _exact_numbers(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield integer part, decimals and unit of each number that a reader takes for exact."""
    for tex, plain in (("{,}", ","), (r"\,", ","), (r"\%", "%")):
        text = text.replace(tex, plain)
    for match in NUMBER.finditer(NOT_PROSE.sub(" ", text)):
        integer, decimals, unit = match.groups(default="")
        is_exact = unit or decimals or len(integer) > 2
        if is_exact and float(integer.replace(",", "") + decimals) and not YEAR.fullmatch(integer):
            yield integer, decimals, unit


def _matches_any(values: set[float], integer: str, decimals: str, unit: str) -> bool:
    """Return whether a value is this number, or rounds to it."""
    number, digits = float(integer.replace(",", "") + decimals), len(decimals[1:])
    if unit.strip() in ("%", "percent"):
        share = round(number / 100, digits + 2)
        if any(round(value, digits + 2) == share for value in values):
            return True
        if len(integer + decimals) == 1:
            return False  # any code has a 4 that is no share
    return number in values or (digits > 0 and number in {round(v, digits) for v in values})


@cache
def _numbers_in_code_of(path: Path) -> set[float]:
    return _numbers_in_code(read(path, ""))


def _numbers_in_code(page: Page) -> set[float]:
    numbers = set()
    for cell in page.cells:
        if cell.cell_type == "code":
            code = f"{cell.source} {cell.metadata.get('expect', '')}".replace("_", "")
            for number in NUMBER_IN_CODE.findall(code):
                numbers |= {float(number), float(number.partition("e")[0])}
    return numbers


def _paragraphs(text: str) -> Iterator[list[tuple[int, str]]]:
    """Yield the paragraphs that readers see, each as its numbered lines."""
    fence, is_prose, paragraph = "", True, list[tuple[int, str]]()
    in_front_matter = text.startswith("---\n")
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.fullmatch(line)
        if in_front_matter:
            in_front_matter = number == 1 or line != "---"
        elif match and not fence:
            fence, is_prose = match[1], match[2].startswith(PROSE_DIRECTIVES)
            continue
        elif match and line.strip() == fence:
            fence, is_prose = "", True
            continue
        if (is_prose and not in_front_matter) or line.strip().startswith(PROSE_OPTIONS):
            paragraph.append((number, line))
        if not line.strip():
            yield paragraph
            paragraph = []
    yield paragraph
