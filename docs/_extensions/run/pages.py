"""The records of the pages of a build, each read once, and their stored outputs.

MyST-NB takes outputs from the cache by the code of the cells alone. A record is removed here when
a file that the page read has changed, before MyST-NB can use it; then the page is executed again.
"""

import re
from dataclasses import asdict
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config

from _extensions.page_record import Page, Run, read_page
from _extensions.paths import ROOT
from _extensions.run.observer.sitecustomize import digest

FIGURES_FOLDER = ROOT / "docs" / "_figures"  # of drawings that one page draws
TITLE = re.compile(r"^# ", re.MULTILINE)
LINK_TARGET = re.compile(r"^(?:# .*|\(\S+\)=)$", re.MULTILINE)  # a title or label


def get_page(app: Sphinx, name: str) -> Page:
    """Return the record of a page, which the first call of a build reads."""
    pages: dict[str, Page] = app.lookup_pages  # type: ignore[attr-defined]
    if name not in pages:
        page = pages[name] = read_page(Path(app.env.doc2path(name)), name)
        page.read_linked = partial(_read_linked, app)
        texts = [cell.source for cell in page.cells if cell.cell_type == "markdown"]
        if not page.fault and not any(map(TITLE.search, texts or [page.text])):
            page.fault = (1, "the page has no title; begin it with `# Title`")
            page.notebook = None
        if page.notebook:
            path = app.config.nb_execution_cache_path
            page.notebook, page.run = load_execution(page.notebook, path) or (page.notebook, Run())
    return pages[name]


def _read_linked(app: Sphinx, path: Path) -> Page:
    """Return the record of another page, or of one that this build leaves out."""
    name = app.env.path2doc(path.resolve())
    return get_page(app, name) if name in app.env.found_docs else read_page(path, "")


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


def observed_folders() -> list[Path]:
    """Return the folders of which a page may read files: the package, and drawings of pages."""
    return [package_folder(), FIGURES_FOLDER]


def _current_digest(path: str) -> str:
    """Return the digest of a path that begins with the name of an observed folder."""
    name, *parts = Path(path).parts
    (folder,) = (folder for folder in observed_folders() if folder.name == name)
    return digest(folder.joinpath(*parts))


def load_execution(notebook: NotebookNode, cache_path: str) -> tuple[NotebookNode, Run] | None:
    """Return the cells with their outputs, and their run; remove it if it is outdated or failed."""
    cache = _open_cache(cache_path)
    try:
        record = cache.match_cache_notebook(notebook)
    except KeyError:  # not executed
        return None
    run = Run(**record.data)
    read = run.digests.items()
    if run.failed or any(_current_digest(path) != value for path, value in read):
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
