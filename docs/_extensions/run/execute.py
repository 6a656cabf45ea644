"""Runs the pages that have to run before the first is read, side by side but those that measure.

MyST-NB would execute one after the other, and stop at a dead kernel; it finds all in the cache.
"""

import asyncio
import os
import time

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from run import kernel
from run.pages import Page, keep, page_of

AT_ONCE = min(max(os.cpu_count() or 1, 2), 4)  # each is a process that holds torch


def execute(app: Sphinx, _env: BuildEnvironment, docnames: list[str]) -> None:
    """Execute what has not been executed, or failed when it was."""
    pages = [page_of(app, docname) for docname in docnames]
    if waiting := [page for page in pages if page.cells and page.seconds is None]:
        # An interrupt cancels what runs here, and what runs ends its kernel then.
        asyncio.run(_execute(app, waiting))


async def _execute(app: Sphinx, waiting: list[Page]) -> None:
    alone = [page for page in waiting if page.head.get("measures")]
    beside = [page for page in waiting if page not in alone]
    places = asyncio.Semaphore(AT_ONCE)

    async def run(page: Page) -> None:
        async with places:
            start = time.perf_counter()
            whole = await kernel.run(page, environment, app.config.nb_execution_timeout)
            seconds = time.perf_counter() - start
        keep(page, app.config.nb_execution_cache_path, seconds, failed=not whole)
        print(f"{seconds:7.1f} s  {page.name}", flush=True)

    with kernel.surroundings() as environment:
        if len(beside) > 1:
            print(f"Running {len(beside)} pages, {AT_ONCE} at a time.", flush=True)
        async with asyncio.TaskGroup() as group:
            for page in beside:
                group.create_task(run(page))
        for page in alone:
            await run(page)


def setup(app: Sphinx) -> None:
    """Connect to the moment when it is known which pages are to be read."""
    app.connect("env-before-read-docs", execute, priority=600)
