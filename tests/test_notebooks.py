"""The notebook of each page runs away from the site, and gives what the page gave."""

import asyncio
import json
import os
import re
import runpy
import sys
import zipfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

sys.path += [str(ROOT / "docs" / name) for name in ("_extensions", "_tools")]
from checks import executed_cells
from drift import VARYING, said
from glue_free import without_glue
from notebooks import outputs_of

BUILT = ROOT / "build" / "html"
SOURCES = {p.relative_to(ROOT / "docs").with_suffix("").as_posix(): p for p in (ROOT / "docs").rglob("*.md")}
EXECUTED = {name: path for name, path in SOURCES.items() if "file_format: mystnb" in path.read_text("utf-8")}
# Pages that measure come last, as in a build; their outputs are times, so only errors are compared.
MEASURING = {name for name, path in EXECUTED.items() if "\nmeasures: true" in path.read_text("utf-8")}
NAMES = sorted(EXECUTED, key=lambda name: (name in MEASURING, name))
FIRST = 2  # cells before those of the page: what is needed, and the settings


def notebook(name: str) -> nbformat.NotebookNode:
    """Read the notebook of a page."""
    return nbformat.read(BUILT / f"{name}.ipynb", as_version=4)


def code_of(made: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Give the code cells that stand on the page."""
    return [cell for cell in made.cells if cell.cell_type == "code"][FIRST:]


@pytest.fixture(scope="session")
def cells_of_page(site: Path):
    """Give what the build executed of a page: the cells that a notebook has, with their outputs."""
    cache = runpy.run_path(str(ROOT / "docs" / "conf.py"))["nb_execution_cache_path"]
    app = SimpleNamespace(outdir=site, config=SimpleNamespace(nb_execution_cache_path=cache))

    def cells(name: str) -> list[nbformat.NotebookNode]:
        ran = [cell for cell in executed_cells(app, name)[0] if cell.cell_type == "code"]
        ran = [cell for cell in ran if "skip-execution" not in cell.metadata.get("tags", [])]
        return [cell for cell in ran if without_glue(cell.source)]

    return cells


@pytest.fixture(scope="session")
def running(request: pytest.FixtureRequest, site: Path, tmp_path_factory: pytest.TempPathFactory):
    """Run the notebooks that are asked for, as many at a time as there are processors.

    Each has a fresh kernel and an empty folder, and the package from the site's wheel alone.
    """
    package, home = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("home")
    (wheel,) = site.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(package)
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    environment |= {"PYTHONPATH": str(package), "IPYTHONDIR": str(home), "PYTHONWARNINGS": "default"}
    folders = {name: tmp_path_factory.mktemp("empty") for name in NAMES}

    def run(name: str) -> nbformat.NotebookNode:
        client = NotebookClient(notebook(name), timeout=120, kernel_name="python3")
        return asyncio.run(client.async_execute(cwd=str(folders[name]), env=environment))

    wanted = {i.callspec.params["name"] for i in request.session.items if running.__name__ in i.fixturenames}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield {name: pool.submit(run, name) for name in NAMES if name in wanted}, folders


@pytest.mark.parametrize("name", NAMES)
def test_it_gives_what_the_page_gave(name, running, cells_of_page):
    """Cell by cell the same outputs, drawings and errors; times and addresses aside."""
    futures, folders = running
    done = code_of(futures[name].result())
    page = cells_of_page(name)
    assert len(done) == len(page) > 0
    for cell, expected in zip(done, page, strict=True):
        assert cell.source == without_glue(expected.source)
        before, after = map(compared, ([said(o) for o in outputs_of(expected)], [said(o) for o in cell.outputs]))
        if name in MEASURING:
            before, after = ([text for text in each if text.startswith("error: ")] for each in (before, after))
        assert after == before, cell.source
    assert list(folders[name].iterdir()) == [], "it left files behind"


def compared(texts: list[str]) -> list[str]:
    """Give outputs without what differs in every run."""
    return [VARYING.sub("#", text) for text in texts]
