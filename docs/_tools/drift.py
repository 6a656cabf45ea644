"""Run every page and compare what its cells print with another run, cell by cell.

``record FILE`` runs the pages under the versions at hand and keeps their outputs;
``compare FILE OTHER`` prints where two recordings differ, as a table in Markdown.
Times, and the outputs of pages that measure them, are left out of the comparison.
"""

import argparse
import asyncio
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[1]
sys.path.append(str(DOCS))

from _extensions.run.kernel import kernel_environment, run_page  # noqa: E402
from _extensions.run.pages import Page, read  # noqa: E402
from nbformat import NotebookNode  # noqa: E402

VARYING = re.compile(r"\d[\d.,]* ?(ns|µs|ms|s)\b|0x[0-9a-f]+|\d{4}-\d\d-\d\d")
LIMIT_S = 300  # of a cell
SHOWN = 80  # characters of an output in the table
NAMES = ("torch", "numpy", "scipy")


def record(file: Path, only: list[str]) -> None:
    """Run pages, all by default, and write what their cells gave."""
    found = sorted(DOCS.rglob("*.md"))
    read_all = (read(path, path.relative_to(DOCS).with_suffix("").as_posix()) for path in found)
    pages = [page for page in read_all if page.cells and (page.name in only or not only)]
    with kernel_environment() as environment, ThreadPoolExecutor(os.cpu_count()) as pool:

        def outputs_of(page: Page) -> list[dict[str, Any]]:
            asyncio.run(run_page(page, environment, LIMIT_S, allow_errors=True))
            return cells_of(page)

        outputs = dict(zip([page.name for page in pages], pool.map(outputs_of, pages), strict=True))
    versions = {"python": sys.version.split()[0]} | {name: version(name) for name in NAMES}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"versions": versions, "pages": outputs}, indent=1), "utf-8")


def cells_of(page: Page) -> list[dict[str, Any]]:
    """Return line, code and outputs of each cell that ran."""
    measures = page.head.get("measures", False)
    found = []
    for cell, line in zip(page.cells, page.lines, strict=True):
        if cell.cell_type == "code":
            outputs = map(said, cell.outputs)
            kept = [text for text in outputs if not measures or text.startswith("error: ")]
            expected = "raises-exception" in cell.metadata.get("tags", [])
            found.append({"line": line, "code": cell.source, "outputs": kept, "raises": expected})
    return found


def said(output: NotebookNode) -> str:
    """Return what an output shows, as text."""
    if output.output_type == "error":
        return f"error: {output.ename}: {output.evalue}"
    data = output.get("data", {})
    picture = data.get("image/svg+xml") or data.get("text/html")
    return str(output.get("text") or picture or data.get("text/plain", ""))


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return page, line, kind and both outputs of each cell that changed."""
    found: list[tuple[str, ...]] = []
    for name, cells in one["pages"].items():
        others = {cell["line"]: cell for cell in other["pages"].get(name, [])}
        for cell in cells:
            before, line = cell["outputs"], cell["line"]
            after = others.get(line, {"outputs": ["not run"]})["outputs"]
            if [VARYING.sub("#", text) for text in before] == [
                VARYING.sub("#", text) for text in after
            ]:
                continue
            failed = any(text.startswith("error: ") for text in (*before, *after))
            kind = "output" if not failed else "error text" if cell["raises"] else "check or code"
            found.append((name, str(line), kind, *_first_difference(before, after)))
    return found


def _first_difference(before: list[str], after: list[str]) -> tuple[str, str]:
    """Return the first line of two outputs that differs, short and harmless in a table."""
    left, right = ("\n".join(texts).splitlines() or [""] for texts in (before, after))
    length = max(len(left), len(right))
    pairs = zip(
        left + [""] * (length - len(left)), right + [""] * (length - len(right)), strict=True
    )
    pair = next((a, b) for a, b in pairs if a != b)
    return tuple(f"`{text[:SHOWN]}`".replace("|", "\\|") for text in pair)  # type: ignore[return-value]


def compare(file: Path, other: Path) -> str:
    """Write the differences between two recordings as a table."""
    one, two = (json.loads(path.read_text("utf-8")) for path in (file, other))
    versions = [", ".join(f"{k} {v}" for k, v in run["versions"].items()) for run in (one, two)]
    found = differences(one, two)
    count = sum(map(len, one["pages"].values()))
    lines = [f"{len(found)} of {count} cells differ between {versions[0]} and {versions[1]}."]
    if found:
        lines += ["", "| page | line | what | before | after |", "|---|---|---|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in found]
    return "\n".join(lines)


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    recorder = commands.add_parser("record")
    recorder.add_argument("file", type=Path)
    recorder.add_argument("pages", nargs="*", help="such as tutorials/tied-weights")
    comparer = commands.add_parser("compare")
    comparer.add_argument("file", type=Path)
    comparer.add_argument("other", type=Path)
    options = parser.parse_args()
    if options.command == "record":
        record(options.file, options.pages)
    else:
        print(compare(options.file, options.other))


if __name__ == "__main__":
    main()
