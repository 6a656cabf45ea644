"""Rules for the code of a page, read with Python's own parser; see page_rules.py."""

import ast
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from _extensions.claims.cells import get_name, has_only_glue, parse_cell
from _extensions.run.pages import Page
from page_rules import Findings, read_prose

RANDOM = {"rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli"}
SEEDING = {"manual_seed", "seed", "default_rng", "Generator"}
FOLDED_TAGS = {"check", "setup", "remove-input", "remove-cell"}
UNPORTABLE = {
    r"\bpip\W+install\b": "a page installs nothing; add the dependency to pyproject.toml",
    r"""["'](?:/home/|/Users/|/root/|/tmp/|C:\\)""": "this path exists on one machine only; "
    "use a relative path",
}
MAX_LINES = 15
PYTHON = {"python", "py", "ipython3"}


class Cell(NamedTuple):
    """A code cell of a page without its options, and the line of its first statement."""

    line: int
    tags: list[str]
    figure: dict[str, Any]
    code: str

    @property
    def is_open(self) -> bool:
        """Whether readers see the code without opening anything."""
        return not (FOLDED_TAGS & {*self.tags} or self.figure or has_only_glue(self.code))

    def nodes(self, kind: type[ast.AST] = ast.AST) -> Iterator[tuple[int, Any]]:
        """Yield the nodes of the syntax tree of a kind, each with its line on the page."""
        for node in ast.walk(parse_cell(self.code)):
            if isinstance(node, kind):
                yield self.line + getattr(node, "lineno", 1) - 1, node

    def calls_any(self, names: set[str]) -> bool:
        """Return whether the cell calls one of these functions."""
        return any(get_name(call) in names for _, call in self.nodes(ast.Call))


def read_cells(page: Page) -> list[Cell]:
    """Return the code cells of a page."""
    cells = []
    for index, cell in enumerate(page.cells):
        if cell.cell_type == "code" and cell.source:
            figure, tags = cell.metadata.get("mystnb", {}).get("figure"), cell.metadata.get("tags")
            cells.append(Cell(page.first_line(index), tags or [], figure or {}, cell.source))
    return cells


def threads(page: Page) -> Findings:
    """Find a page that measures times without fixing the number of threads."""
    is_fixed = any(cell.calls_any({"set_num_threads"}) for cell in read_cells(page))
    if page.head.get("measures") and page.notebook and not is_fixed:
        message = "the page measures times with a number of threads that depends on the machine"
        yield 1, f"{message}; call torch.set_num_threads(1) first"


def long_cell(page: Page) -> Findings:
    """Find open code that is too long to follow."""
    for cell in read_cells(page):
        count = sum(bool(line.strip()) for line in cell.code.splitlines())
        if count > MAX_LINES and cell.is_open:
            message = f"the cell has {count} lines of open code, expected at most {MAX_LINES}"
            yield cell.line, f"{message}; move part of it into the package or a setup cell"


def caption(page: Page) -> Findings:
    """Find a figure of the package without a caption."""
    for cell in read_cells(page):
        match parse_cell(cell.code).body[-1:]:
            case [ast.Expr(value=ast.Call() as call)] if get_name(call).startswith("draw_"):
                if not cell.figure.get("caption"):
                    message = "this figure has no caption"
                    yield cell.line, f"{message}; add `mystnb: figure: caption:` and a name"


def unseeded(page: Page) -> Findings:
    """Find random numbers that differ in each build."""
    is_seeded = False
    for cell in read_cells(page):
        is_seeded = is_seeded or cell.calls_any(SEEDING)
        for line, call in cell.nodes(ast.Call):
            has_generator = any(keyword.arg == "generator" for keyword in call.keywords)
            if get_name(call) in RANDOM and not is_seeded and not has_generator:
                message = f"{get_name(call)} draws other numbers in each build"
                yield line, f"{message}; call torch.manual_seed(...) first, or pass a generator"


def never_run(page: Page) -> Findings:
    """Find code that is never run, except in sections that repeat or ask."""
    for text in read_prose(page.text):
        is_python = text.element == "fence" and text.text.partition(" ")[0] in PYTHON
        if is_python and not text.is_exempt:
            yield text.number, "this code is never run, so it may be wrong; make it a {code-cell}"
    for cell in read_cells(page):
        if "skip-execution" in cell.tags and "recorded" not in cell.tags:
            message = "this cell is never run, so it may be wrong"
            yield cell.line, f"{message}; remove the tag skip-execution"


def portable(page: Page) -> Findings:
    """Find code that installs packages or names a path of one machine.

    The kernel itself refuses the network, and files that a cell leaves behind.
    """
    for cell in read_cells(page):
        for pattern, message in UNPORTABLE.items():
            for match in re.finditer(pattern, cell.code):
                yield cell.line + cell.code.count("\n", 0, match.start()), message
