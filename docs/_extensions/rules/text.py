"""Rules for the text of a page: each yields lines, with the problem, its reason and its remedy."""

import re
from collections.abc import Iterator
from itertools import takewhile

from nbformat import NotebookNode

from _extensions.claims.checks import BITS, find_kinds
from _extensions.page_record import FRONT_MATTER, HEADINGS, Line, Page

Findings = Iterator[tuple[int, str]]

MAX_WORDS = 1_500  # a quarter of an hour with code and figures
TEACHING_PAGES = ("tutorials/", "index", "getting-started")
TIME = re.compile(
    r"\d[\d.,]* ?(ns|µs|us|ms|seconds|minutes)\b|\d[\d.,]*( ?×| times) (faster|slower)"
)
EQUAL_BITS = re.compile(
    r"bitwise equal|every bit\b|bit for bit|to the last bit|\b(same|all|no) bits?\b|\bbits agree\b"
)
NEGATION = re.compile(r"\bnot\b[^,;:]*$")
EXEMPT_SECTIONS = ("remember", "exercise", "solution", "where it matters", "sources", "can now say")
FOLD = re.compile(r"^(:{3,})\{(?!admonition|note|tip|warning).*?^\1\s*$", re.MULTILINE | re.DOTALL)
CHOICES = re.compile(r"\[([^]]*)\]\{\.choices\}")
WORD = re.compile(r"\w[\w'’.,-]*")


def description(page: Page) -> Findings:
    """Find a front matter without a description."""
    head = FRONT_MATTER.match(page.text)
    if not head or not re.search(r"\n +description: *\S", head[0]):
        message = "the front matter has no description, which search engines show"
        yield 1, f"{message}; add `myst: html_meta: description:` with one sentence"


def long_page(page: Page) -> Findings:
    """Find a teaching page with too many words outside of folds, code, captions and tables."""
    folded = {line for match in FOLD.finditer(page.text) for line in _find_span(page.text, match)}
    lines = (line for line in page.prose if line.is_prose and line.number not in folded)
    count = sum(len(WORD.findall(line.text)) for line in lines if line.element not in ("th", "td"))
    if page.name.startswith(TEACHING_PAGES) and count > MAX_WORDS:
        message = f"the page has {count:,} words of open text, expected at most {MAX_WORDS:,}"
        yield 1, f"{message}; delete what readers would not miss, or fold details"


def typed_time(page: Page) -> Findings:
    """Find times that are typed into prose."""
    for line in page.prose:
        if line.is_prose and (time := TIME.search(line.text)):
            message = f"the time {time[0]!r} is typed, and differs on other machines"
            yield line.number, f"{message}; measure it in a cell and glue it"


def unproved(page: Page) -> Findings:
    """Find claims of equal bits without a link and without a comparison of bits right below.

    The opening of a page, before its second heading, may be proved anywhere on the page.
    """
    source_lines = page.text.splitlines()
    lines = page.prose if page.notebook else []
    headings = [line.number for line in lines if line.element in HEADINGS]
    opening_end = headings[1] if len(headings) > 1 else len(source_lines)
    for line in lines:
        text = source_lines[line.number - 1]  # with its links and roles
        claim = EQUAL_BITS.search(text)
        is_text = line.element not in (*HEADINGS, "fence") and not is_exempt(line)
        if not claim or not is_text or "](" in text or NEGATION.search(text[: claim.start()]):
            continue
        proofs = [cell for k, cell in enumerate(page.cells) if page.lines[k] >= line.number]
        if line.number > opening_end:
            following = "\n".join(["", *source_lines[line.number :]])
            paragraph = following.partition("```{code-cell}")[0].rstrip()
            code_cells = takewhile(lambda cell: cell.cell_type == "code", proofs)
            proofs = [] if "\n\n" in paragraph else [*code_cells]
        if not any(map(_compares_bits, proofs)):
            message = "the sentence claims equal bits, and no cell right below it compares bits"
            yield line.number, f"{message}; add assert_bitwise_equal there, or link to the proof"


def eaten_answer(page: Page) -> Findings:
    """Find answers to a guess with characters that are read as math, code or markup."""
    for number, line in enumerate(page.text.splitlines(), start=1):
        for answers in CHOICES.findall(line):
            if mark := re.search(r"[$`{<]", re.sub(r"\\.", "", answers)):
                message = f"{mark[0]!r} is markup in the answers {answers!r}, and eats their text"
                yield number, f"{message}; write a backslash before it"


def is_exempt(line: Line) -> bool:
    """Return whether the section of a line only repeats or asks what other sections show."""
    return any(word in line.section.lower() for word in EXEMPT_SECTIONS)


def _find_span(text: str, match: re.Match[str]) -> range:
    """Return the numbers of the lines of a match."""
    first = text.count("\n", 0, match.start()) + 1
    return range(first, first + match[0].count("\n") + 1)


def _compares_bits(cell: NotebookNode) -> bool:
    raises = "raises-exception" in cell.metadata.get("tags", [])
    return cell.cell_type == "code" and not raises and BITS in find_kinds(cell.source)
