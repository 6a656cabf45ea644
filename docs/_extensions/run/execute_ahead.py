"""Runs pages side by side before the first is read, all but those that measure times.

MyST-NB would execute one page after the other, each when its turn to be read comes, unless its
outputs lie in the cache: so they are put there. A page that fails is left to MyST-NB, which runs
it again and reports it.
"""

import os
import time
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.read import is_myst_markdown_notebook, myst_nb_reader_plugin
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

AT_ONCE = min(os.cpu_count() or 1, 4)  # each is a process that holds torch


def execute(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Execute what the cache lacks and keep what did not fail."""
    app.lookup_ahead = set()  # type: ignore[attr-defined]  # what need not be reported again
    if app.config.nb_execution_mode != "cache":
        return
    cache = get_cache(app.config.nb_execution_cache_path)
    waiting = {
        docname: page
        for docname in docnames
        if (page := _page(Path(env.doc2path(docname)))) and not _is_kept(cache, page)
    }
    if len(waiting) < 2:
        return
    longest_first = sorted(waiting, key=lambda docname: -_length(waiting[docname]))
    print(f"Running {len(waiting)} pages, {AT_ONCE} at a time.", flush=True)
    begin, limit_s = time.perf_counter(), app.config.nb_execution_timeout
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running: dict[Future[ExecutionResult], str] = {}
        for docname in longest_first:
            folder = str(Path(env.doc2path(docname)).parent)
            running[pool.submit(single_nb_execution, waiting[docname], folder, limit_s, False)] = (
                docname
            )
        for done in as_completed(running):
            if done.exception():  # its kernel died
                continue
            docname, result = running[done], done.result()
            if result.err is None:
                share_s = result.time / min(AT_ONCE, len(waiting))  # so that all add up
                print(f"{share_s:7.1f} s  {docname}", flush=True)
                bundle = CacheBundleIn(
                    result.nb, env.doc2path(docname), data={"execution_seconds": share_s}
                )
                cache.cache_notebook_bundle(bundle, check_validity=False, overwrite=True)
                app.lookup_ahead.add(docname)  # type: ignore[attr-defined]
    print(f"{time.perf_counter() - begin:7.1f} s  for these; each above counts its share.")


def _page(path: Path) -> NotebookNode | None:
    """Read a page that may share the machine, by what its front matter says."""
    if not is_myst_markdown_notebook(path.read_text("utf-8")):
        return None
    page = myst_nb_reader_plugin(str(path))
    return None if page.metadata.get("measures") else page


def _length(page: NotebookNode) -> int:
    """Give a measure of how long a page will run: at the end no long one should be left alone."""
    return sum(len(cell.source) for cell in page.cells if cell.cell_type == "code")


def _is_kept(cache: JupyterCacheAbstract, page: NotebookNode) -> bool:
    try:
        cache.match_cache_notebook(page)
    except KeyError:
        return False
    return True


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to the moment when it is known which pages are to be read."""
    app.connect("env-before-read-docs", execute, priority=600)  # after a failed build's repair
    return {"parallel_read_safe": True, "parallel_write_safe": True}
