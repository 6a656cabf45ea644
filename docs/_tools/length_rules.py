"""How much a page asks of its readers: the words that stand open, and cells that can be pasted."""

import ast
import builtins
import re
from collections.abc import Iterator

from claims.cells import glues, only_glues, parsed
from markdown_it import MarkdownIt
from nbformat import NotebookNode
from run.pages import Page

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


def not_pasted(page: Page) -> Iterator[tuple[int, str]]:
    """Find open cells that use a name which no open cell before them has defined."""
    known = {*dir(builtins), "get_ipython"}
    for cell, line in open_cells(page):
        used, defined = _names(cell.source)
        if missing := sorted(used - known - defined):
            says = f"whoever pastes the open cells in their order has no {', '.join(missing)}"
            yield line + 1, f"{says}; define or import it in an open cell"
        if glues(cell.source):
            yield line + 1, "glue stands in an open cell; move it to a folded one"
        known |= defined


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


def _names(source: str) -> tuple[set[str], set[str]]:
    """Return the names that a cell reads, and those that it binds anywhere."""
    read, bound = set[str](), set[str]()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return read, bound
