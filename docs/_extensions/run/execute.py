"""Execute pages in parallel before Sphinx reads the first; those that measure time run alone.

MyST-NB, which would execute them one after the other, finds all their outputs in the cache.
"""

import asyncio
import os
import time

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from _extensions.page_record import Page
from _extensions.paths import is_source_language
from _extensions.run import kernel
from _extensions.run.pages import get_page, store_execution

EXECUTED = "The outputs of all pages are current."  # build_site.py waits for this line
MAX_KERNELS = min(max(os.cpu_count() or 1, 2), 4)  # each is a process that has imported torch


def find_pages_with_other_outputs(
    app: Sphinx, env: BuildEnvironment, *_changes: set[str]
) -> set[str]:
    """Return the pages to execute, and those that another build executed, with the same cache."""
    pages = [get_page(app, docname) for docname in env.found_docs]
    seen = {name: metadata.get("executed_at") for name, metadata in env.metadata.items()}
    return {p.name for p in pages if p.needs_execution or p.run.executed_at != seen.get(p.name)}


def execute_pages(app: Sphinx, _env: BuildEnvironment, docnames: list[str]) -> None:
    """Execute the pages without current outputs."""
    pages = [get_page(app, docname) for docname in docnames]
    if pages := [page for page in pages if page.needs_execution]:
        # An interrupt cancels the tasks, and each of them ends its kernel then.
        asyncio.run(_execute(app, pages))
    is_waited_for = app.tags.has("multilingual") and is_source_language(app.config)
    if is_waited_for and not any(page.run.failed for page in pages):
        print(EXECUTED, flush=True)


def _code_length(page: Page) -> int:
    return sum(len(cell.source) for cell in page.cells if cell.cell_type == "code")


async def _execute(app: Sphinx, pages: list[Page]) -> None:
    measuring = [page for page in pages if page.head.get("measures")]
    # The longest first, so that none of them runs alone at the end.
    concurrent = sorted((p for p in pages if p not in measuring), key=_code_length, reverse=True)
    semaphore = asyncio.Semaphore(MAX_KERNELS)

    async def execute(page: Page) -> None:
        async with semaphore:
            page_start = time.perf_counter()
            await kernel.run_page(page, kernels, app.config.nb_execution_timeout)
            elapsed_s = time.perf_counter() - page_start
        page.run.execution_seconds = elapsed_s
        page.run.executed_at = time.time()
        store_execution(page.notebook, str(page.path), app.config.nb_execution_cache_path, page.run)
        print(f"{elapsed_s:7.1f} s  {page.name}", flush=True)

    with kernel.prepare_kernels(len(pages)) as kernels:
        if len(concurrent) > 1:
            print(f"Running {len(concurrent)} pages, {MAX_KERNELS} at a time.", flush=True)
        async with asyncio.TaskGroup() as group:
            for page in concurrent:
                group.create_task(execute(page))
        for page in measuring:
            await execute(page)
