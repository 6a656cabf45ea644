"""Run every page and compare the outputs of its cells with those of another run.

``drift.py record FILE [PAGE ...]`` runs the pages and saves their outputs with the versions;
``drift.py compare FILE OTHER`` prints the differences between two recordings as a Markdown table.
Times, and the outputs of pages that measure them, are not compared.
"""

import asyncio
import json
import os
import re
import sys
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
sys.path.append(str(DOCS))

from _extensions.run.kernel import prepare_kernels, run_page  # noqa: E402
from _extensions.run.pages import Page, read  # noqa: E402
from nbformat import NotebookNode  # noqa: E402

VARYING = re.compile(r"\d[\d.,]* ?(ns|µs|ms|s)\b|0x[0-9a-f]+|\d{4}-\d\d-\d\d")
CELL_TIMEOUT_S = 300
MAX_CHARACTERS = 80  # of an output in the table
PACKAGES = ("torch", "numpy", "scipy")


def record(file: Path, names: list[str]) -> None:
    """Run pages, all by default, and write the outputs of their cells as JSON."""
    sources = {
        p.relative_to(DOCS).with_suffix("").as_posix(): p for p in sorted(DOCS.rglob("*.md"))
    }
    chosen = (read(path, name) for name, path in sources.items() if name in names or not names)
    pages = [page for page in chosen if page.cells]
    asyncio.run(run_pages(pages))
    cells = {page.name: recorded_cells(page) for page in pages}
    versions = {"python": sys.version.split()[0]} | {name: version(name) for name in PACKAGES}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"versions": versions, "pages": cells}, indent=1), "utf-8")


async def run_pages(pages: list[Page]) -> None:
    """Run the cells of pages, at most one page for each core at a time."""
    semaphore = asyncio.Semaphore(os.cpu_count() or 1)

    async def run(page: Page) -> None:
        async with semaphore:
            await run_page(page, kernels, CELL_TIMEOUT_S, allow_errors=True)

    with prepare_kernels() as kernels:
        await asyncio.gather(*map(run, pages))


def recorded_cells(page: Page) -> list[dict[str, Any]]:
    """Return line, code and outputs of each code cell of an executed page."""
    cells = []
    for cell, line in zip(page.cells, page.lines, strict=True):
        if cell.cell_type == "code":
            texts = map(output_text, cell.outputs)
            measures = page.head.get("measures", False)
            outputs = [text for text in texts if not measures or text.startswith("error: ")]
            raises = "raises-exception" in cell.metadata.get("tags", [])
            cells.append({"line": line, "code": cell.source, "outputs": outputs, "raises": raises})
    return cells


def output_text(output: NotebookNode) -> str:
    """Return what an output shows, as text."""
    if output.output_type == "error":
        return f"error: {output.ename}: {output.evalue}"
    data = output.get("data", {})
    figure = data.get("image/svg+xml") or data.get("text/html")
    return str(output.get("text") or figure or data.get("text/plain", ""))


def compare(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Return the differences between two recordings as a Markdown table."""
    rows = []
    for name, cells in before["pages"].items():
        new_cells = {cell["line"]: cell for cell in after["pages"].get(name, [])}
        for cell in cells:
            new_outputs = new_cells.get(cell["line"], {"outputs": ["not run"]})["outputs"]
            outputs = cell["outputs"], new_outputs
            if len({VARYING.sub("#", "\0".join(texts)) for texts in outputs}) > 1:
                is_error = any(text.startswith("error: ") for texts in outputs for text in texts)
                error_kind = "error text" if cell["raises"] else "check or code"
                kind = error_kind if is_error else "output"
                rows.append((name, str(cell["line"]), kind, *_first_difference(*outputs)))
    count = sum(map(len, before["pages"].values()))
    versions = " and ".join(
        ", ".join(f"{name} {number}" for name, number in recording["versions"].items())
        for recording in (before, after)
    )
    lines = [f"{len(rows)} of {count} cells differ between {versions}."]
    if rows:
        lines += ["", "| page | line | what | before | after |", "|---|---|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def _first_difference(*outputs: list[str]) -> list[str]:
    """Return the first lines that differ, shortened and escaped for a table."""
    lines = zip_longest(*("\n".join(texts).splitlines() for texts in outputs), fillvalue="")
    differing = next(pair for pair in lines if len(set(pair)) > 1)
    return [f"`{text[:MAX_CHARACTERS]}`".replace("|", "\\|") for text in differing]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", file, *names]:
            record(Path(file), names)
        case ["compare", *files] if len(files) == 2:
            print(compare(*(json.loads(Path(file).read_text("utf-8")) for file in files)))
        case arguments:
            sys.exit(f"the arguments are {arguments}, expected one of these commands:\n{__doc__}")
