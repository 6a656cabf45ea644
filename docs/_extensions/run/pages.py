"""The record of each page: its source and cells, read once in a build, and their stored outputs.

MyST-NB takes outputs from the cache by the code of the cells alone. A record is removed here when
a file that the page read has changed, before MyST-NB can use it; then the page is executed again.
"""

import ast
import re
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml
from IPython.core.inputtransformer2 import TransformerManager
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from myst_nb.core.read import (
    MystMetadataParsingError,
    is_myst_markdown_notebook,
    read_myst_markdown_notebook,
)
from myst_parser.config.main import MdParserConfig
from nbformat import NotebookNode, ValidationError
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import SphinxError

from _extensions.run.observer.sitecustomize import digest

FRONT_MATTER = re.compile(r"\A---\n(.*?)^---$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r"^# ", re.MULTILINE)
LINK_TARGET = re.compile(r"^(?:# .*|\(\S+\)=)$", re.MULTILINE)  # a title or label
SYNTAX = MdParserConfig(enable_extensions={"colon_fence"})  # it decides where cells begin


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


def get_page(app: Sphinx, name: str) -> Page:
    """Return the record of a page, which the first call of a build reads."""
    pages: dict[str, Page] = app.lookup_pages  # type: ignore[attr-defined]
    if name not in pages:
        page = pages[name] = read_page(Path(app.env.doc2path(name)), name)
        texts = [cell.source for cell in page.cells if cell.cell_type == "markdown"]
        if not page.fault and not any(map(TITLE.search, texts or [page.text])):
            page.fault = (1, "the page has no title; begin it with `# Title`")
            page.notebook = None
        if page.notebook:
            path = app.config.nb_execution_cache_path
            page.notebook, page.run = load_execution(page.notebook, path) or (page.notebook, Run())
    return pages[name]


def start_records(app: Sphinx, _config: Config) -> None:
    """Start a build without records."""
    app.lookup_pages = {}  # type: ignore[attr-defined]


def replace_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Give Sphinx the text of a page's record, or an unreadable page's title and labels."""
    page = get_page(app, name)
    app.env.metadata[name]["executed_at"] = page.run.executed_at
    app.env.metadata[name]["assertions"] = page.run.assertions
    source[0] = page.text
    if page.fault:
        source[0] = "\n\n".join(LINK_TARGET.findall(page.text)) or "# Unreadable"


@cache
def package_folder() -> Path:
    """Return the folder of the package that pages import."""
    spec = find_spec("lookup_matmul")  # an import would load torch
    assert spec
    return Path(str(spec.origin)).absolute().parent


def load_execution(notebook: NotebookNode, cache_path: str) -> tuple[NotebookNode, Run] | None:
    """Return the cells with their outputs, and their run; remove it if it is outdated or failed."""
    cache = _open_cache(cache_path)
    try:
        record = cache.match_cache_notebook(notebook)
    except KeyError:  # not executed
        return None
    run = Run(**record.data)
    read = run.digests.items()
    if run.failed or any(digest(package_folder() / path) != value for path, value in read):
        cache.remove_cache(record.pk)
        return None
    return cache.merge_match_into_notebook(notebook)[1], run


def store_execution(notebook: NotebookNode | None, uri: str, cache_path: str, run: Run) -> None:
    """Store outputs where MyST-NB takes them; those of a failed run serve only this build."""
    bundle = CacheBundleIn(notebook, uri, data=asdict(run))
    _open_cache(cache_path).cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


@cache
def _open_cache(path: str) -> JupyterCacheAbstract:
    return get_cache(path)
