"""What the text of a page has to keep to: each rule gives lines, and what is wrong there.

A reason says what stands there, why that is wrong and how to mend it.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from typing import Any

from _extensions.claims.cells import BITS, kinds_of
from _extensions.run.pages import Page
from markdown_it import MarkdownIt
from nbformat import NotebookNode

Found = Iterator[tuple[int, str]]

HOLLOW = ("simply", "obviously", "of course", "seamless", "powerful", "blazing", "in vain")
TIME = re.compile(
    r"\d[\d.,]* ?(ns|µs|us|ms|seconds|minutes)\b|\d[\d.,]*( ?×| times) (faster|slower)"
)
EQUAL = re.compile(
    r"bitwise equal|every bit\b|bit for bit|to the last bit|\b(same|all|no) bits?\b|\bbits agree\b"
)
NOT = re.compile(r"\bnot\b[^,;:]*$")
SOURCE = re.compile(r"{cite|https?://|{class}`|{func}`")
REMEMBER = re.compile(r"^## What to remember\n.*?(?=^#|\Z)", re.MULTILINE | re.DOTALL)
POINT = re.compile(r"^(?:- .*(?:\n  .*)*|\| .*)$(?!\n\|-)", re.MULTILINE)  # or row of a table
REPEATS = ("remember", "exercise", "solution", "where it matters", "sources", "can now say")
HEADS = ("h1", "h2", "h3")
PYTHON = (["python"], ["py"], ["ipython3"])


def description(page: Page) -> Found:
    """Find a front matter without a description."""
    if not inner(page.head, "myst", "html_meta", "description"):
        yield (
            1,
            "no description in the front matter, which search engines "
            "show; add `myst: html_meta: description:` with one sentence",
        )


def source(page: Page) -> Found:
    """Find a page that teaches and names no source."""
    if page.name.startswith(("tutorials/", "appendix/")) and not SOURCE.search(page.text):
        yield 1, "no source is named, so nobody can look further; cite one from docs/references.bib"


def never_run(page: Page) -> Found:
    """Find code that is never run, but where a page repeats or asks."""
    for line, kind, words, title in prose_of(page.text):
        if kind == "fence" and words.split()[:1] in PYTHON and not _repeats(title):
            yield line, "this code is never run, so it may be wrong; make it a {code-cell}"
    for cell, before in zip(page.cells, page.lines, strict=True):
        tags = cell.metadata.get("tags", [])
        if "skip-execution" in tags and "recorded" not in tags:
            line = page.text.splitlines().index(cell.source.splitlines()[0], before) + 1
            yield line, "this cell is never run, so it may be wrong; drop the tag skip-execution"


def typed_time(page: Page) -> Found:
    """Find times that are typed."""
    for line, kind, words, _ in prose_of(page.text):
        if _is_read(kind, words) and (time := TIME.search(words)):
            says = f"the time {time[0]!r} is typed, and true nowhere else"
            yield line, f"{says}; measure it in a cell and glue it"


def hollow(page: Page) -> Found:
    """Find words that tell a reader nothing."""
    for line, kind, words, _ in prose_of(page.text):
        for word in HOLLOW if _is_read(kind, words) else ():
            if re.search(rf"\b{word}\b", words, re.IGNORECASE):
                yield line, f"{word!r} tells a reader nothing; leave it out"


def unproved(page: Page) -> Found:
    """Find equalities of bits without a link and without a comparison of bits right below.

    What opens a page, before its second heading, is proved anywhere on it.
    """
    cells, text = [*zip(page.cells, page.lines, strict=True)], page.text.splitlines()
    said = prose_of(page.text) if page.notebook else []
    opened = [*[line for line, kind, _, _ in said if kind in HEADS], len(text), len(text)][1]
    for line, kind, _, title in said:
        words = text[line - 1]  # with its links and roles
        claimed = EQUAL.search(words)
        if not claimed or kind in (*HEADS, "fence") or _repeats(title) or "](" in words:
            continue
        below = [cell for cell, before in cells if before >= line]
        if line > opened:
            rest = "\n".join(["", *text[line:]]).partition("```{code-cell}")[0].rstrip()
            fold = takewhile(lambda cell: cell.cell_type == "code", below)
            below = [] if "\n\n" in rest else [*fold]
        if not (NOT.search(words[: claimed.start()]) or any(map(_compares_bits, below))):
            says = "an equality of bits is claimed, and no fold right below compares bits"
            yield line, f"{says}; add assert_bitwise_equal there, or link to where it is shown"


def unlinked(page: Page) -> Found:
    """Find points to remember that do not lead to where the page shows them."""
    for section in REMEMBER.finditer(page.text):
        for point in POINT.finditer(section[0]):
            if "](" not in point[0]:
                line = page.text.count("\n", 0, section.start() + point.start()) + 1
                says = "this point to remember does not say where it is shown"
                yield line, f"{says}; link some of its words to that section"


@cache  # several rules read it
def prose_of(text: str) -> list[tuple[int, str, str, str]]:
    """Return line, kind of block, words and section of all that is neither cell nor directive."""
    body = re.sub(r"\A---\n.*?\n---\n", lambda m: "\n" * m[0].count("\n"), text, flags=re.DOTALL)
    found, kind, title = list[tuple[int, str, str, str]](), "", ""
    for token in MarkdownIt().enable("table").parse(body):
        kind = token.tag if token.type.endswith("_open") else kind
        if token.type == "fence" and token.map:
            found.append((token.map[0] + 1, "fence", token.info, title))
        elif token.type == "inline" and token.map:
            words = [""]
            for part in token.children or []:
                if part.type in ("softbreak", "hardbreak"):
                    words.append("")
                else:
                    words[-1] += part.content if part.type == "text" else " "
            for line, said in enumerate(words, token.map[0] + 1):
                title = said if kind in HEADS else title
                found.append((line, kind, said, title))
    return found


def inner(mapping: Any, *names: str) -> Any:
    """Return what stands under these names, one in the other, or none."""
    for name in names:
        mapping = mapping.get(name) if isinstance(mapping, dict) else None
    return mapping


def _is_read(kind: str, words: str) -> bool:
    return kind != "fence" and not words.lstrip().startswith(":")  # an option of a directive


def _compares_bits(cell: NotebookNode) -> bool:
    raises = "raises-exception" in cell.metadata.get("tags", [])
    return cell.cell_type == "code" and not raises and BITS in kinds_of(cell.source)


def _repeats(title: str) -> bool:
    """Tell whether a section only repeats or asks what others show."""
    return any(word in title.lower() for word in REPEATS)
