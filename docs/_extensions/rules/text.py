"""Rules for the text of a page: each yields lines, with the problem, its reason and its remedy."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from typing import NamedTuple

from markdown_it import MarkdownIt
from nbformat import NotebookNode

from _extensions.claims.cells import BITS, find_kinds
from _extensions.run.pages import Page

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
HEADINGS = ("h1", "h2", "h3")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
FOLD = re.compile(r"^(:{3,})\{(?!admonition|note|tip|warning).*?^\1\s*$", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"\w[\w'’.,-]*")


class Line(NamedTuple):
    """A line of Markdown outside of cells: its number, HTML element, text and section title."""

    number: int
    element: str  # "fence" for the first line of a code block, whose text is its language
    text: str
    section: str

    @property
    def is_prose(self) -> bool:
        """Whether readers see the line as text: it is neither code nor an option of a directive."""
        return self.element != "fence" and not self.text.lstrip().startswith(":")

    @property
    def is_exempt(self) -> bool:
        """Whether its section only repeats or asks what other sections show."""
        return any(word in self.section.lower() for word in EXEMPT_SECTIONS)


def description(page: Page) -> Findings:
    """Find a front matter without a description."""
    head = FRONT_MATTER.match(page.text)
    if not head or not re.search(r"\n +description: *\S", head[0]):
        message = "the front matter has no description, which search engines show"
        yield 1, f"{message}; add `myst: html_meta: description:` with one sentence"


def long_page(page: Page) -> Findings:
    """Find a teaching page with too many words outside of folds, code, captions and tables."""
    lines = (line for line in read_prose(FOLD.sub("", page.text)) if line.is_prose)
    count = sum(len(WORD.findall(line.text)) for line in lines if line.element not in ("th", "td"))
    if page.name.startswith(TEACHING_PAGES) and count > MAX_WORDS:
        message = f"the page has {count:,} words of open text, expected at most {MAX_WORDS:,}"
        yield 1, f"{message}; delete what readers would not miss, or fold details"


def typed_time(page: Page) -> Findings:
    """Find times that are typed into prose."""
    for line in read_prose(page.text):
        if line.is_prose and (time := TIME.search(line.text)):
            message = f"the time {time[0]!r} is typed, and differs on other machines"
            yield line.number, f"{message}; measure it in a cell and glue it"


def unproved(page: Page) -> Findings:
    """Find claims of equal bits without a link and without a comparison of bits right below.

    The opening of a page, before its second heading, may be proved anywhere on the page.
    """
    source_lines = page.text.splitlines()
    lines = read_prose(page.text) if page.notebook else []
    headings = [line.number for line in lines if line.element in HEADINGS]
    opening_end = headings[1] if len(headings) > 1 else len(source_lines)
    for line in lines:
        text = source_lines[line.number - 1]  # with its links and roles
        claim = EQUAL_BITS.search(text)
        is_text = line.element not in (*HEADINGS, "fence") and not line.is_exempt
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


@cache  # several rules read it
def read_prose(text: str) -> list[Line]:
    """Return the lines of a page that are in no cell and no directive."""
    body = FRONT_MATTER.sub(lambda match: "\n" * match[0].count("\n"), text)
    lines = list[Line]()
    element = ""
    section = ""
    for token in MarkdownIt().enable("table").parse(body):
        element = token.tag if token.type.endswith("_open") else element
        if token.type == "fence" and token.map:
            lines.append(Line(token.map[0] + 1, "fence", token.info, section))
        elif token.type == "inline" and token.map:
            texts = {"softbreak": "\n", "hardbreak": "\n"}  # of code and markup, a blank
            parts = (
                child.content if child.type == "text" else texts.get(child.type, " ")
                for child in token.children or []
            )
            for number, line_text in enumerate("".join(parts).split("\n"), token.map[0] + 1):
                section = line_text if element in HEADINGS else section
                lines.append(Line(number, element, line_text, section))
    return lines


def _compares_bits(cell: NotebookNode) -> bool:
    raises = "raises-exception" in cell.metadata.get("tags", [])
    return cell.cell_type == "code" and not raises and BITS in find_kinds(cell.source)
