"""The rule for numbers in prose: the page's code has them too, or their sentence cites a source."""

import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from _extensions.page_record import Page
from _extensions.rules.text import Findings

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
    """Find numbers in no code of the page or of those linked beside them; outputs change alone."""
    in_code = _find_numbers(page)
    for paragraph in _read_paragraphs(page):
        paths = [page.path.parent / name for _, text in paragraph for name in LINK.findall(text)]
        values = in_code.union(
            *map(_find_numbers, map(page.read_linked, filter(Path.is_file, paths)))
        )
        for line, text in paragraph:
            for parts in _find_exact_numbers(text) if "{cite" not in text else ():
                if not _matches_any(values, *parts):
                    message = (
                        f"the number {''.join(parts)!r} is in no code here, so it may be wrong"
                    )
                    yield line, f"{message}; glue it, or cite or link its source in the sentence"


def _find_exact_numbers(text: str) -> Iterator[tuple[str, str, str]]:
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
    number = float(integer.replace(",", "") + decimals)
    digits = len(decimals[1:])
    if unit.strip() in ("%", "percent"):
        share = round(number / 100, digits + 2)
        if any(round(value, digits + 2) == share for value in values):
            return True
        if len(integer + decimals) == 1:
            return False  # any code has a 4 that is no share
    return number in values or (digits > 0 and number in {round(v, digits) for v in values})


def _find_numbers(page: Page) -> set[float]:
    cells = (cell for cell in page.cells if cell.cell_type == "code")
    code = "\n".join(f"{cell.source} {cell.metadata.get('expect', '')}" for cell in cells)
    numbers = NUMBER_IN_CODE.findall(code.replace("_", ""))
    return {float(part) for number in numbers for part in (number, number.partition("e")[0])}


def _read_paragraphs(page: Page) -> Iterator[list[tuple[int, str]]]:
    """Yield the paragraphs that readers see, each as its numbered lines."""
    lines = page.text.splitlines()
    is_code = {
        number
        for first, last, info in page.fences
        if not info.startswith(PROSE_DIRECTIVES)
        for number in range(first, last + 1)
    }
    is_code |= {*range(1, page.head_end + 1)}
    numbered = [
        (number, "" if number in is_code and not text.strip().startswith(PROSE_OPTIONS) else text)
        for number, text in enumerate(lines, 1)
    ]
    for has_text, paragraph in groupby(numbered, key=lambda line: bool(line[1].strip())):
        if has_text:
            yield list(paragraph)
