"""What stands open on a page: its words, which a reader has to have patience for, and its code."""

import re
from collections.abc import Iterator

from _extensions.claims.cells import only_glues
from _extensions.run.pages import Page
from markdown_it import MarkdownIt
from nbformat import NotebookNode

MOST = 1_500  # words, a quarter of an hour with code and figures
FOLD = re.compile(r"^(:{3,})\{(?!admonition|note|tip|warning).*?^\1\s*$", re.MULTILINE | re.DOTALL)
HIDDEN = {"check", "setup", "remove-cell", "remove-input", "hide-input", "skip-execution"}
TAUGHT = ("tutorials/", "index", "getting-started")


def too_long(page: Page) -> Iterator[tuple[int, str]]:
    """Find a page with more open prose than a reader has patience for."""
    if page.name.startswith(TAUGHT) and (words := open_words(page.text)) > MOST:
        yield (
            1,
            f"{words:,} words stand open, expected at most {MOST:,}; cut what nobody would miss",
        )


def open_words(text: str) -> int:
    """Count the words of a page but those in folds, code, captions, tables and formulas."""
    body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    body = re.sub(r"^\$\$.*?\$\$", "", FOLD.sub("", body), flags=re.MULTILINE | re.DOTALL)
    count, kind = 0, ""
    for token in MarkdownIt().enable("table").parse(body):
        kind = token.tag if token.type.endswith("_open") else kind
        if token.type == "inline" and kind not in ("th", "td"):
            said = re.sub(r"\{[\w:]+\}(?=`)|\]\([^)]*\)|^[:(]\S+[:)].*$", " ", token.content)
            count += len(re.findall(r"\w[\w'’.,-]*", said))
    return count


def open_cells(page: Page) -> Iterator[tuple[NotebookNode, int]]:
    """Return the cells whose code a reader sees without opening anything, each with its line."""
    for cell, line in zip(page.cells, page.lines, strict=True):
        folded = HIDDEN & {*cell.metadata.get("tags", [])}
        figure = "figure" in cell.metadata.get("mystnb", {})
        if cell.cell_type == "code" and not (folded or figure or only_glues(cell.source)):
            yield cell, line
