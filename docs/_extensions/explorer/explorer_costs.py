"""What a lookup and a product cost at each stop of the explorer's sliders, by the package's model.

Counts are exported as polynomials, and times as a table over all stops, so that no formula of the
package is written again in JavaScript.
"""

import ast
import json
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from math import log10, prod
from pathlib import Path
from typing import Any

from myst_nb.core.read import read_myst_markdown_notebook
from sphinx.application import Sphinx
from sphinx.util import logging

from lookup_matmul import costs as package
from lookup_matmul.recorded import FOLDER

LOG = logging.getLogger(__name__)
FORMS = {
    "lookup": "lookup",
    "one-hot built and multiplied": "one-hot product",
    "multiplication alone": "product, X given",
}
SIZES: list[dict[str, Any]] = [
    {"name": "ids", "values": [1, 16, 256, 1024, 4096, 65_536], "start": 2},
    {"name": "rows V", "values": [16, 64, 256, 1024, 4096, 50_257, 128_256, 10**6], "start": 5},
    {"name": "columns d", "values": [16, 64, 256, 768, 4096], "start": 1},
]
SHEETS = "tutorials/on-a-gpu.md"
Ceilings = dict[str, Any]


def costs(app: Sphinx) -> dict[str, Any]:
    """Give what the panel shows: sizes, counts of each form, and times on each machine."""
    return {
        "sizes": SIZES,
        "forms": [{"name": name} | counts(form) for form, name in FORMS.items()],
        "machines": [
            {"name": name, "about": about, "log": times(ceilings)}
            for name, about, ceilings in (*_here(app), *_recorded(), *_sheets(app))
        ],
    }


def read_from(docs: Path) -> list[Path]:
    """List the files that the panel depends on, beside the package and its own page."""
    return [docs / SHEETS, *FOLDER.glob("*.json")]


def case_of(form: str, ids: int, rows: int, dim: int) -> package.Case:
    """Name one forward pass in float32 whose data lie in the caches where they fit."""
    return package.Case(form, "forward", rows, dim, ids, "uniform", "float32", "hot")


def counts(form: str) -> dict[str, list[list[int]]]:
    """Write operations and bytes as terms: a factor, and the powers of ids, V, d, distinct ids."""

    def total(name: str) -> Callable[..., int]:
        def at(ids: int, rows: int, dim: int, distinct: int) -> int:
            found = package.kernels(case_of(form, ids, rows, dim), distinct)
            return sum(int(getattr(part, name)) for part in found)

        return at

    return {name: terms(total(name)) for name in ("operations", "bytes")}


def terms(count: Callable[..., int]) -> list[list[int]]:
    """Find the terms of a count that is linear in each of its four sizes, by differences."""
    base, found = (2, 2, 1, 0), defaultdict[tuple[int, ...], int](int)
    for powers in product((0, 1), repeat=4):
        difference = sum(
            (-1) ** (sum(powers) - sum(steps)) * count(*map(sum, zip(base, steps, strict=True)))
            for steps in product(*(range(power + 1) for power in powers))
        )
        for kept in product(*(range(power + 1) for power in powers)):
            missing = (-b for b, power, k in zip(base, powers, kept, strict=True) if power > k)
            found[kept] += difference * prod(missing)
    return [[factor, *powers] for powers, factor in found.items() if factor]


def times(ceilings: Ceilings) -> list[int]:
    """Predict each form at all stops, in thousandths of the decimal logarithm of seconds."""
    ids, rows, dims = (size["values"] for size in SIZES)
    return [
        round(1000 * log10(package.predicted_s(case_of(form, n, v, d), min(n, v), ceilings)))
        for form, n, v, d in product(FORMS, ids, rows, dims)
    ]


def _here(app: Sphinx) -> list[tuple[str, str, Ceilings]]:
    """Read what a cell of the page measured on the machine that builds the site."""
    try:
        machine = measured(Path(app.outdir).parent / "jupyter_execute")
    except FileNotFoundError:
        LOG.warning("the explorer's page was not run, so this machine is missing; run its cells")
        return []
    about = f"{machine['cpu']}, one thread, torch {machine['torch']}; measured in this build."
    return [("the machine of this build", about, machine["ceilings"])]


def measured(executed: Path) -> dict[str, Any]:
    """Read what the cell glued: processor, torch and ceilings."""
    glued = json.loads((executed / "explorer.glue.json").read_text("utf-8"))
    machine: dict[str, Any] = ast.literal_eval(glued["explorer-machine"]["data"]["text/plain"])
    return machine


def _recorded() -> list[tuple[str, str, Ceilings]]:
    recordings = package.read_recordings(FOLDER)
    return [
        (f"recorded: {name}", f"{package.describe(found)}.", found["ceilings"][0])
        for name, found in recordings.items()
    ]


def _sheets(app: Sphinx) -> list[tuple[str, str, Ceilings]]:
    """Take the data sheets from the page that cites them; no price of a call stands there."""
    about = "By its data sheet, in float32: a bound, without the price of any call."
    return [
        (f"data sheet: {card}", about, _ceilings(gigabytes * 1e9, tflops * 1e12))
        for card, (gigabytes, tflops, *_) in cards(Path(app.srcdir) / SHEETS).items()
    ]


def cards(page: Path) -> dict[str, tuple[float, ...]]:
    """Read the dictionary of cards from the page's own code."""
    for cell in read_myst_markdown_notebook(page.read_text("utf-8")).cells:
        for line in ast.parse(cell.source).body if cell.cell_type == "code" else []:
            if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "CARDS":
                found: dict[str, tuple[float, ...]] = eval(ast.unparse(line.value), {})
                return found
    raise ValueError(f"{page.name} assigns no CARDS, expected the data sheets that it cites.")


def _ceilings(bytes_per_s: float, operations_per_s: float) -> Ceilings:
    free = {"hot": {f"forward {form}": [0.0] * 3 for form in FORMS}}
    return {
        "fixed_s": free,
        "row_s": {"hot": {}},
        "bandwidth": [{"working_set": 1, "bytes_per_s": [bytes_per_s] * 3}],
        "first_touch": [],
        "rate": {"float32": {"random": [operations_per_s] * 3}},
    }
