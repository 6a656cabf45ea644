"""The record of each page: its source and its cells, read once in a build, with what they gave."""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
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

FRONT = re.compile(r"\A---\n(.*?)^---$", re.DOTALL | re.MULTILINE)
LEFT = re.compile(r"^(?:# .*|\(\S+\)=)$", re.MULTILINE)  # title and labels, which others link to
SYNTAX = MdParserConfig(enable_extensions={"colon_fence"})  # what decides where a cell begins


@dataclass
class Page:
    """What one page holds, and what its cells gave as soon as they ran."""

    name: str
    path: Path
    text: str
    head: dict[str, Any]
    notebook: NotebookNode | None = None  # of a page whose cells are executed
    seconds: float | None = None  # that its cells took when they ran without an error
    fault: tuple[int, str] | None = None  # the line, and why nobody can read the page

    @property
    def cells(self) -> list[NotebookNode]:
        """Return text and code in their order, the code with its outputs."""
        return list(self.notebook.cells) if self.notebook else []

    @property
    def lines(self) -> list[int]:
        """Return for each cell the number of lines before it."""
        return list(self.notebook.metadata["source_map"]) if self.notebook else []


def read(path: Path, name: str) -> Page:
    """Read one page; what nobody can read is its fault and no exception."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        wrong = f"byte {error.object[error.start]:#04x} is not UTF-8; save the page as UTF-8"
        return Page(name, path, "", {}, fault=(line, wrong))
    page = Page(name, path, text, {})
    try:
        page.head = _head(text)
        if is_myst_markdown_notebook(text):
            page.notebook = read_myst_markdown_notebook(text, SYNTAX, add_source_map=True)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        page.fault = (line, f"the front matter is no YAML: {error.problem}")
    except MystMetadataParsingError as error:
        at = re.search(r"at line (\d+)", str(error))
        said = re.sub(r"ParseWarnings\(msg='(.*?)', .*\)", r"\1", " ".join(str(error).split()))
        page.fault = (int(at[1]) if at else 1, said)
    except ValidationError as error:
        option = error.relative_path[-1] if error.relative_path else "option"
        page.fault = (1, f"in a cell's `{option}`, {error.message}")
    except (ValueError, yaml.YAMLError) as error:
        page.fault = (1, " ".join(str(error).split()))
    if page.fault:
        page.head, page.notebook = {}, None
    return page


def _head(text: str) -> dict[str, Any]:
    """Return the front matter.

    Raises
    ------
    ValueError
        If a part that is read here is of another kind.
    """
    found = FRONT.match(text)
    head = yaml.safe_load(found[1]) if found else {}
    if not isinstance(head, dict):
        raise ValueError(f"the front matter is {head!r:.40}, expected names with values")
    excused, kernel = head.get("excused", {}), head.get("kernelspec", {"name": "python3"})
    if not isinstance(excused, dict):
        raise ValueError(f'`excused` is {excused!r:.40}, expected rules as in `hollow: "a reason"`')
    if not isinstance(kernel, dict) or kernel.get("name") != "python3":
        raise ValueError(f"`kernelspec` is {kernel!r:.60}, expected `name: python3`")
    return head


def page_of(app: Sphinx, name: str) -> Page:
    """Return the record of a page, which is read when it is asked for first."""
    pages: dict[str, Page] = app.lookup_pages  # type: ignore[attr-defined]
    if name not in pages:
        pages[name] = read(Path(app.env.doc2path(name)), name)
        recall(pages[name], app.config.nb_execution_cache_path)
    return pages[name]


def recall(page: Page, cache_path: str) -> None:
    """Take the outputs from the cache, if the page was executed before and nothing failed."""
    if not page.notebook:
        return
    kept = _cache(cache_path)
    with suppress(KeyError):
        data = kept.match_cache_notebook(page.notebook).data
        if not data.get("failed"):
            page.notebook = kept.merge_match_into_notebook(page.notebook)[1]
            page.seconds = data["execution_seconds"]


def keep(page: Page, cache_path: str, seconds: float, *, failed: bool) -> None:
    """Lay the outputs into the cache, where MyST-NB finds them.

    Those of a page that failed too, or it would run again; but only this build takes them.
    """
    page.seconds = None if failed else seconds
    data = {"execution_seconds": seconds, "failed": failed}
    bundle = CacheBundleIn(page.notebook, str(page.path), data=data)
    _cache(cache_path).cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


@cache
def _cache(path: str) -> JupyterCacheAbstract:
    return get_cache(path)


def start_records(app: Sphinx, config: Config) -> None:
    """Begin without a record, and let Sphinx read any byte."""
    app.lookup_pages = {}  # type: ignore[attr-defined]
    config.source_encoding = "latin-1"  # cannot fail, and what it gives is replaced below


def replace_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Give Sphinx the text of the record; of a page that nobody can read, title and labels."""
    page = page_of(app, name)
    source[0] = page.text
    if page.fault:
        source[0] = "\n\n".join(LEFT.findall(page.text)) or "# Unreadable"
