"""Store the outputs of executed pages, with digests of what their cells read of the package.

MyST-NB takes outputs from this cache by the code of the cells alone. A record is removed here, when
a file that the page read has changed, before MyST-NB can use it; then the page is executed again.
"""

from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from nbformat import NotebookNode

from _extensions.run.observer.sitecustomize import digest


@dataclass
class Run:
    """The last run of the cells of a page."""

    failed: bool = True
    digests: dict[str, str] = field(default_factory=dict)  # by path, of what the cells read
    assertions: int = 0
    powerless: list[tuple[int, int, str]] = field(default_factory=list)  # cell, line in it, reason
    execution_seconds: float = 0.0  # MyST-NB's name; its table of run times shows it
    executed_at: float = 0.0  # as of time.time()


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
