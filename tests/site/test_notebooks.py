"""The notebook of each page runs away from the site, and gives what the page gave."""

import asyncio
import os
import re
import runpy
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from served import ROOT

sys.path += [str(ROOT / "docs" / name) for name in ("_extensions", "_tools")]
from drift import VARYING, said
from notebooks.notebook_cells import outputs_of, without_glue
from run.kernel import merged
from run.pages import read, recall

BUILT = ROOT / "build" / "html"
THREADS = "import torch\nprint(torch.get_num_threads())"
SOURCES = {
    p.relative_to(ROOT / "docs").with_suffix("").as_posix(): p
    for p in (ROOT / "docs").rglob("*.md")
}
EXECUTED = {
    name: path for name, path in SOURCES.items() if "file_format: mystnb" in path.read_text("utf-8")
}
# Pages that measure come last, as in a build; their outputs are times, so only errors are compared.
MEASURING = {
    name for name, path in EXECUTED.items() if "\nmeasures: true" in path.read_text("utf-8")
}
NAMES = sorted(EXECUTED, key=lambda name: (name in MEASURING, name))
INSTALLED = re.compile(r"(?<=\s)/\S*/(?=site-packages/)")  # torch names its files in an error
FIRST = 2  # cells before those of the page: what is needed, and the settings


def notebook(name: str) -> nbformat.NotebookNode:
    """Read the notebook of a page."""
    return nbformat.read(BUILT / f"{name}.ipynb", as_version=4)


def code_of(made: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Give the code cells that stand on the page."""
    return [cell for cell in made.cells if cell.cell_type == "code"][FIRST:]


@pytest.fixture(scope="session")
def cells_of_page():
    """Give what the build executed of a page: the cells that a notebook has, with their outputs."""
    cache = runpy.run_path(str(ROOT / "docs" / "conf.py"))["nb_execution_cache_path"]

    def cells(name: str) -> list[nbformat.NotebookNode]:
        page = read(SOURCES[name], name)
        recall(page, cache)
        ran = [cell for cell in page.cells if cell.cell_type == "code"]
        ran = [cell for cell in ran if "skip-execution" not in cell.metadata.get("tags", [])]
        return [cell for cell in ran if without_glue(cell.source)]

    return cells


@pytest.fixture(scope="session")
def running(request: pytest.FixtureRequest, site: Path, tmp_path_factory: pytest.TempPathFactory):
    """Run the notebooks that are asked for, as many at a time as there are processors.

    Each has a fresh kernel, an empty folder, and the package from the site's wheel alone.
    """
    package, home = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("home")
    (wheel,) = site.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(package)
    left_out = ("PYTEST_CURRENT_TEST", "PYTHONDONTWRITEBYTECODE")  # so that it is compiled once
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    # One thread for each, since they share the processors; the pages had as many as there are.
    environment |= {"PYTHONPATH": str(package), "IPYTHONDIR": str(home), "OMP_NUM_THREADS": "1"}
    folders = {name: tmp_path_factory.mktemp("empty") for name in NAMES}

    def run(name: str) -> nbformat.NotebookNode:
        asked = notebook(name)
        asked.cells.append(nbformat.v4.new_code_cell(THREADS))
        client = NotebookClient(asked, timeout=120, kernel_name="python3")
        return asyncio.run(client.async_execute(cwd=str(folders[name]), env=environment))

    wanted = {
        i.callspec.params["name"]
        for i in request.session.items
        if running.__name__ in i.fixturenames
    }
    pool = ThreadPoolExecutor(os.cpu_count())
    yield {name: pool.submit(run, name) for name in NAMES if name in wanted}, folders
    pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("name", NAMES)
def test_it_gives_what_the_page_gave(name, running, cells_of_page):
    """Cell by cell the same outputs, drawings and errors; times, addresses and folders aside."""
    futures, folders = running
    *done, threads = code_of(futures[name].result())
    page = cells_of_page(name)
    assert len(done) == len(page) > 0
    for cell, expected in zip(done, page, strict=True):
        said_first, _, code = cell.source.partition("\n")
        assert without_glue(expected.source) in (cell.source, said_first.startswith("# ") and code)
        before, after = compared(outputs_of(expected)), compared(cell.outputs)
        if name in MEASURING:
            before, after = (
                [text for text in each if text.startswith("error: ")] for each in (before, after)
            )
        assert after == before, cell.source
    assert threads.outputs[0].text == "1\n"
    assert list(folders[name].iterdir()) == [], "it left files behind"


def compared(outputs: list[nbformat.NotebookNode]) -> list[str]:
    """Give outputs as text, without what differs in every run."""
    return [VARYING.sub("#", INSTALLED.sub("", said(output))) for output in merged(outputs)]


@pytest.mark.parametrize("name", NAMES)
def test_it_stands_for_itself(name, site):
    """No place of the building machine, nothing of MyST-NB, and nothing that only Sphinx reads."""
    made = notebook(name)
    nbformat.validate(made)
    whole = (site / f"{name}.ipynb").read_text("utf-8")
    assert not [
        place for place in (ROOT, sys.prefix, sys.base_prefix, Path.home()) if f"{place}/" in whole
    ]
    assert not re.search(r"myst_nb|\bglue\(|application/papermill", whole)
    text = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert not re.search(r"\{[a-z:]+\}`|^:::|^\(\S+\)=$", text, re.MULTILINE)
    addresses = re.findall(r"\]\(<([^>]*)>\)", text)
    assert all(address.startswith(("https://", "#")) for address in addresses)
    assert text.startswith("# ")


def test_every_executed_page_has_one_and_every_page_its_source(site):
    """And no other page has one, but the notebook that measures a GPU."""
    found = {p.relative_to(site).with_suffix("").as_posix() for p in site.rglob("*.ipynb")}
    assert found == {*NAMES, "tutorials/measure-your-gpu"}
    for name, path in SOURCES.items():
        assert (site / f"{name}.md").read_bytes() == path.read_bytes()
