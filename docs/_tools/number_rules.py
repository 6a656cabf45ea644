"""Numbers in prose: code has them too, or their sentence cites a source."""

import re
from collections.abc import Iterator

from _extensions.run.pages import Page, read
from page_rules import Found

FENCE = re.compile(r" *(`{3,}|~{3,})(.*)")
PROSE = ("{glossary}", "{math}", "{note}", "{admonition}")  # directives of words
SHOWN = ("caption:", "description:")  # what readers see of a cell's options and the front matter
UNREAD = re.compile(r"(\{[\w:.-]+\})?`[^`]*`|\]\([^)]*\)|<[^>]*>|https?://\S+")
NUMBER = re.compile(
    r"(?<![\w.,^-])(?<!torch )(?<!Python )(?<!ersion )(?<!section )"
    r"(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\d.,]*\w)"
    r"(-fold| times| ?×(?! ?\w)| ?%| percent)?"
)
YEAR = re.compile(r"(19|20)[0-2]\d")
IN_CODE = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
LINK = re.compile(r"\]\(([\w./-]+\.md)[#)]")


def untraced(page: Page) -> Found:
    """Find numbers that neither the page's code has nor that of a page linked in the paragraph.

    Outputs do not count: they change with a machine or a version, and the sentence would not.
    """
    own = _numbers_in(page)
    for paragraph in _paragraphs(page.text):
        linked = set[str]().union(*(LINK.findall(words) for _, words in paragraph))
        asked = [
            (line, *found)
            for line, words in paragraph
            if "{cite" not in words
            for found in _numbers(words)
            if not _has(own, *found)
        ]
        paths = [path for name in linked if (path := page.path.parent / name).is_file()]
        there = set[float]().union(*(_numbers_in(read(path, "")) for path in paths if asked))
        for line, *found in asked:
            if not _has(there, *found):
                says = f"the number {''.join(found)!r} stands in no code here, and may be false"
                yield line, f"{says}; glue it, or cite or link its source in the sentence"


def _numbers(words: str) -> Iterator[tuple[str, str, str]]:
    """Find digits, decimals and unit of the numbers that a reader takes for exact."""
    for before, after in (("{,}", ","), (r"\,", ","), (r"\%", "%")):
        words = words.replace(before, after)
    for found in NUMBER.finditer(UNREAD.sub(" ", words)):
        whole, decimals, unit = found.groups(default="")
        exact = unit or decimals or len(whole) > 2
        if exact and float(whole.replace(",", "") + decimals) and not YEAR.fullmatch(whole):
            yield whole, decimals, unit


def _has(values: set[float], whole: str, decimals: str, unit: str) -> bool:
    """Tell whether one of the values is this number, or gives it when rounded."""
    number, digits = float(whole.replace(",", "") + decimals), len(decimals[1:])
    share = unit.strip() in ("%", "percent")
    if share and any(round(v, digits + 2) == round(number / 100, digits + 2) for v in values):
        return True
    if share and len(whole + decimals) == 1:
        return False  # any code has a 4 that is no share
    return number in values or (bool(digits) and any(round(v, digits) == number for v in values))


def _numbers_in(page: Page) -> set[float]:
    found = set()
    for cell in page.cells:
        if cell.cell_type == "code":
            code = f"{cell.source} {cell.metadata.get('expect', '')}".replace("_", "")
            for number in IN_CODE.findall(code):
                found |= {float(number), float(number.partition("e")[0])}
    return found


def _paragraphs(text: str) -> Iterator[list[tuple[int, str]]]:
    """Find what readers see, each paragraph as its lines."""
    fence, read_on, paragraph = "", True, list[tuple[int, str]]()
    head = text.startswith("---\n")
    for line, words in enumerate(text.splitlines(), 1):
        if head or (found := FENCE.fullmatch(words)) is None:
            head = head and (line == 1 or words != "---")
        elif not fence:
            fence, read_on = found[1], found[2].startswith(PROSE)
            continue
        elif words.strip() == fence:
            fence, read_on = "", True
            continue
        if (read_on and not head) or words.strip().startswith(SHOWN):
            paragraph.append((line, words))
        if not words.strip():
            yield paragraph
            paragraph = []
    yield paragraph
