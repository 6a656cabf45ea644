"""Store the outputs of executed pages, with digests of what their cells read of the package.

MyST-NB takes outputs from this cache by the code of the cells alone. A record is removed here, when
a file that the page read has changed, before MyST-NB can use it; then the page is executed again.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from nbformat import NotebookNode

from _extensions.run.observer.sitecustomize import digest


class Execution(NamedTuple):
    """A notebook with its outputs, the seconds and time of its run, and its assertions."""

    notebook: NotebookNode
    seconds: float
    executed_at: float
    assertions: int
    powerless: list[tuple[int, int, str]]  # those that cannot fail: cell, line in it, reason


@cache
def package_folder() -> Path:
    """Return the folder of the package that pages import."""
    spec = find_spec("lookup_matmul")  # an import would load torch
    assert spec
    return Path(str(spec.origin)).absolute().parent


def load_execution(notebook: NotebookNode, cache_path: str) -> Execution | None:
    """Return the cached execution of these cells; remove it if it is outdated or failed."""
    cache = _open_cache(cache_path)
    try:
        record = cache.match_cache_notebook(notebook)
        digests = record.data["digests"].items()
        is_current = all(digest(package_folder() / path) == value for path, value in digests)
        if record.data["failed"] or not is_current:
            cache.remove_cache(record.pk)
            return None
        merged_notebook = cache.merge_match_into_notebook(notebook)[1]
        names = ("execution_seconds", "executed_at", "assertions", "powerless")
        return Execution(merged_notebook, *(record.data[name] for name in names))
    except KeyError:  # not executed, or by an earlier version of this site
        return None


def store_execution(
    notebook: NotebookNode, uri: str, cache_path: str, data: dict[str, object]
) -> None:
    """Store outputs where MyST-NB takes them; those of a failed run serve only this build."""
    bundle = CacheBundleIn(notebook, uri, data=data)
    _open_cache(cache_path).cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


@cache
def _open_cache(path: str) -> JupyterCacheAbstract:
    return get_cache(path)
