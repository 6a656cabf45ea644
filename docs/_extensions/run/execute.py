"""Runs the pages that have to run before the first is read, side by side but those that measure.

MyST-NB would execute one after the other, and stop at a dead kernel; it finds all in the cache.
"""

import asyncio
import os
import time

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from _extensions.run import kernel
from _extensions.run.pages import Page, keep, page_of

AT_ONCE = min(max(os.cpu_count() or 1, 2), 4)  # each is a process that holds torch


def execute_pages(app: Sphinx, _env: BuildEnvironment, docnames: list[str]) -> None:
    """Execute what has not been executed, or failed when it was."""
    pages = [page_of(app, docname) for docname in docnames]
    if waiting := [page for page in pages if page.cells and page.seconds is None]:
        # An interrupt cancels what runs here, and what runs ends its kernel then.
        asyncio.run(_execute(app, waiting))


async def _execute(app: Sphinx, waiting: list[Page]) -> None:
    alone = [page for page in waiting if page.head.get("measures")]
    beside = sorted((page for page in waiting if page not in alone), key=_length, reverse=True)
    places, begin = asyncio.Semaphore(AT_ONCE), time.perf_counter()

    async def run(page: Page, beside: int) -> None:
        async with places:
            start = time.perf_counter()
            limit_s = app.config.nb_execution_timeout
            whole = await kernel.run(page, environment, limit_s)
            share_s = (time.perf_counter() - start) / min(AT_ONCE, beside)  # so that all add up
        keep(page, app.config.nb_execution_cache_path, share_s, failed=not whole)
        print(f"{share_s:7.1f} s  {page.name}", flush=True)

    with kernel.surroundings() as environment:
        if len(beside) > 1:
            print(f"Running {len(beside)} pages, {AT_ONCE} at a time.", flush=True)
        async with asyncio.TaskGroup() as group:
            for page in beside:
                group.create_task(run(page, len(beside)))
        if len(beside) > 1:
            elapsed_s = time.perf_counter() - begin
            print(f"{elapsed_s:7.1f} s  for these; each above counts its share.", flush=True)
        for page in alone:
            await run(page, 1)


def _length(page: Page) -> int:
    """Return how much a page will run: at the end no long one should be left alone."""
    return sum(len(cell.source) for cell in page.cells if cell.cell_type == "code")
