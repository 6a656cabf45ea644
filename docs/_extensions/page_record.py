"""The record of a page: the one reading of its front matter, its cells and its prose."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it import MarkdownIt
from markdown_it.token import Token
from myst_nb.core.read import (
    MystMetadataParsingError,
    is_myst_markdown_notebook,
    read_myst_markdown_notebook,
)
from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode, ValidationError
from sphinx.errors import SphinxError

FRONT_MATTER = re.compile(r"\A---\n(.*?)^---$", re.DOTALL | re.MULTILINE)
SYNTAX = MdParserConfig(enable_extensions={"colon_fence"})  # it decides where cells begin
HEADINGS = ("h1", "h2", "h3")


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


@dataclass
class Run:
    """The last run of the cells of a page."""

    failed: bool = True
    digests: dict[str, str] = field(default_factory=dict)  # by path, of what the cells read
    assertions: int = 0
    powerless: list[tuple[int, int, str]] = field(default_factory=list)  # cell, line in it, reason
    execution_seconds: float = 0.0  # MyST-NB's name; its table of run times shows it
    executed_at: float = 0.0  # as of time.time()


@dataclass
class Page:
    """The content of one page, and the outputs of its cells once they ran."""

    name: str
    path: Path
    text: str
    head: dict[str, Any]  # the front matter
    notebook: NotebookNode | None = None  # of a page whose cells are executed
    run: Run = field(default_factory=Run)
    fault: tuple[int, str] | None = None  # the line, and the reason why the page is unreadable

    read_linked: Callable[[Path], "Page"] = field(default=lambda path: read_page(path, ""))

    @property
    def cells(self) -> list[NotebookNode]:
        """Return cells of text and code in their order, the code with its outputs."""
        return list(self.notebook.cells) if self.notebook else []

    @property
    def lines(self) -> list[int]:
        """Return the number of lines before each cell."""
        return list(self.notebook.metadata["source_map"]) if self.notebook else []

    def first_line(self, index: int) -> int:
        """Return the line of the first statement of a cell, which is below its options."""
        code = self.cells[index].source.splitlines()
        return self.text.splitlines().index(code[0], self.lines[index]) + 1

    @property
    def needs_execution(self) -> bool:
        """Return whether the page has cells without the outputs of a run that succeeded."""
        return bool(self.cells) and self.run.failed

    @cached_property
    def prose(self) -> list[Line]:
        """Return the lines of the page that are in no cell and no directive."""
        return list(_find_lines(self._tokens))

    @cached_property
    def fences(self) -> list[tuple[int, int, str]]:
        """Return first and last line, and what follows the first fence, of each fenced block."""
        fences = (token for token in self._tokens if token.type == "fence")
        return [(t.map[0] + 1, t.map[1], t.info.strip()) for t in fences if t.map]

    @cached_property
    def head_end(self) -> int:
        """Return the last line of the front matter, or 0."""
        match = FRONT_MATTER.match(self.text)
        return match[0].count("\n") + 1 if match else 0

    @cached_property
    def _tokens(self) -> list[Token]:
        body = FRONT_MATTER.sub(lambda match: "\n" * match[0].count("\n"), self.text)
        return MarkdownIt().enable("table").parse(body)


def _find_lines(tokens: list[Token]) -> Iterator[Line]:
    element = ""
    section = ""
    for token in tokens:
        element = token.tag if token.type.endswith("_open") else element
        if token.type == "fence" and token.map:
            yield Line(token.map[0] + 1, "fence", token.info, section)
        elif token.type == "inline" and token.map:
            texts = {"softbreak": "\n", "hardbreak": "\n"}  # of code and markup, a blank
            parts = (
                child.content if child.type == "text" else texts.get(child.type, " ")
                for child in token.children or []
            )
            for number, text in enumerate("".join(parts).split("\n"), token.map[0] + 1):
                section = text if element in HEADINGS else section
                yield Line(number, element, text, section)


def read_page(path: Path, name: str) -> Page:
    """Read one page; ``fault`` says why its front matter or its cells are unreadable."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SphinxError(f"{path}:{line}: {error}; save the page as UTF-8") from None
    page = Page(name, path, text, {})
    try:
        page.head = _parse_front_matter(text)
        if is_myst_markdown_notebook(text):
            page.notebook = read_myst_markdown_notebook(text, SYNTAX, add_source_map=True)
    except yaml.MarkedYAMLError as error:
        # The mark counts from 0, and the first line of the front matter is the second of the page.
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        page.fault = (line, f"the front matter is not YAML: {error.problem}")
    except MystMetadataParsingError as error:
        line_match = re.search(r"at line (\d+)", str(error))
        message = re.sub(r"ParseWarnings\(msg='(.*?)', .*\)", r"\1", " ".join(str(error).split()))
        page.fault = (int(line_match[1]) if line_match else 1, message)
    except ValidationError as error:
        option = error.relative_path[-1] if error.relative_path else "option"
        page.fault = (1, f"in a cell's `{option}`, {error.message}")
    except (ValueError, yaml.YAMLError) as error:
        page.fault = (1, " ".join(str(error).split()))
    if page.fault:
        page.head = {}
        page.notebook = None
    return page


def _parse_front_matter(text: str) -> dict[str, Any]:
    """Return the front matter; raise ``ValueError`` for values of an unexpected type."""
    match = FRONT_MATTER.match(text)
    head = yaml.safe_load(match[1]) if match else {}
    if not isinstance(head, dict):
        raise ValueError(f"the front matter is {head!r:.40}, expected names with values")
    excused = head.get("excused", {})
    kernel = head.get("kernelspec", {"name": "python3"})
    if not isinstance(excused, dict):
        raise ValueError(f'`excused` is {excused!r:.40}, expected rules as in `hollow: "a reason"`')
    if not isinstance(kernel, dict) or kernel.get("name") != "python3":
        raise ValueError(f"`kernelspec` is {kernel!r:.60}, expected `name: python3`")
    return head


@cache  # several functions parse the same cell
def parse_cell(source: str) -> ast.Module:
    """Return the syntax tree of a cell, in which magics and shell lines are calls."""
    try:
        code = TransformerManager().transform_cell(source)  # type: ignore[no-untyped-call]
        return ast.parse(code)
    except SyntaxError:  # executing the cell reports it with its line
        return ast.Module([], [])


@cache
def walk_cell(source: str) -> list[ast.AST]:
    """Return the nodes of a cell's syntax tree, which many rules go through."""
    return list(ast.walk(parse_cell(source)))


def find_imports(source: str) -> set[str]:
    """Return the top-level name of each module that a cell imports."""
    modules = set[str]()
    for node in walk_cell(source):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.partition(".")[0])
    return modules
