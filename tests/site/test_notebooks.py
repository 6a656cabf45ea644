"""The notebook of each page says what the page says, and some of each kind run away from the site."""

import asyncio
import os
import re
import runpy
import sys
import zipfile
from pathlib import Path

import nbformat
import pytest
from _extensions.notebooks.first_cells import imported
from _extensions.notebooks.notebook_cells import outputs_of, without_glue
from _extensions.paths import SECOND_LANGUAGE
from _extensions.run.cache import load_execution
from _extensions.run.pages import Page, read
from drift import VARYING, output_text
from nbclient import NotebookClient
from served import ROOT, SOURCES

BUILT = ROOT / "build" / "html"
PAGES = {name: read(path, name) for name, path in SOURCES.items()}
EXECUTED = [name for name, page in PAGES.items() if page.notebook]
ROOMS = {p.name for p in (ROOT / "src" / "lookup_matmul").iterdir() if p.is_dir()}
INSTALLED = re.compile(r"(?<=\s)/\S*/(?=site-packages/)")  # torch names its files in an error
FIRST = 2  # cells before those of the page: what is needed, and the settings
LIMIT_S = 900  # of a cell that takes seconds, unless the machine is very busy


def kinds_of(page: Page) -> set[str]:
    """Return what a page has that a notebook could lose: tags, modules and rooms of the package."""
    code = [cell for cell in page.cells if cell.cell_type == "code"]
    found = {tag for cell in code for tag in cell.metadata.get("tags", [])}
    found |= {name for cell in code for name in imported(cell.source)} - sys.stdlib_module_names
    used = re.findall(r"\blookup_matmul[. ].*", page.text)  # where it is imported
    found |= {room for room in ROOMS if any(re.search(rf"\b{room}\b", line) for line in used)}
    return found | ({"measures"} if page.head.get("measures") else set())


def length_of(name: str) -> int:
    """Return how much code a page has."""
    return sum(len(cell.source) for cell in PAGES[name].cells if cell.cell_type == "code")


def some_of_each_kind() -> list[str]:
    """Return few pages that together have every kind, short ones, since each takes seconds."""
    kinds = {name: kinds_of(PAGES[name]) for name in sorted(EXECUTED, key=length_of)}
    chosen = []
    while any(kinds.values()):
        chosen.append(max(kinds, key=lambda name: len(kinds[name])))
        met = kinds[chosen[-1]]
        kinds = {name: found - met for name, found in kinds.items()}
    return chosen


def notebook(name: str) -> nbformat.NotebookNode:
    """Read the notebook of a page."""
    return nbformat.read(BUILT / f"{name}.ipynb", as_version=4)


def run_away(made: nbformat.NotebookNode, folder: Path, site=BUILT) -> nbformat.NotebookNode:
    """Run a notebook in an empty folder, with the package from the site's wheel alone."""
    package, home, empty = (folder / name for name in ("package", "home", "empty"))
    (wheel,) = site.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(package)
    for place in (home, empty):
        place.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    environment |= {"PYTHONPATH": str(package), "IPYTHONDIR": str(home)}
    options = {"timeout": LIMIT_S, "startup_timeout": LIMIT_S, "coalesce_streams": True}
    client = NotebookClient(made, kernel_name="python3", **options)
    return asyncio.run(client.async_execute(cwd=str(empty), env=environment))


@pytest.fixture(scope="session")
def executed(site: Path) -> dict[str, list[nbformat.NotebookNode]]:
    """Return what the build executed of each page: the cells of a notebook, with their outputs."""
    cache, found = runpy.run_path(str(ROOT / "docs" / "conf.py"))["nb_execution_cache_path"], {}
    for name in EXECUTED:
        execution = load_execution(PAGES[name].notebook, str(site.parents[1] / cache))
        ran = [cell for cell in execution.notebook.cells if cell.cell_type == "code"]
        ran = [cell for cell in ran if "skip-execution" not in cell.metadata.get("tags", [])]
        found[name] = [cell for cell in ran if without_glue(cell.source)]
    return found


@pytest.mark.parametrize("name", EXECUTED)
def test_it_holds_what_the_page_holds(name, executed):
    """Cell by cell the page's code and outputs; nothing but glue and drawings is left out."""
    cells = [cell for cell in notebook(name).cells if cell.cell_type == "code"][FIRST:]
    assert len(cells) == len(executed[name]) > 0
    for cell, ran in zip(cells, executed[name], strict=True):
        words, _, code = cell.source.partition("\n")
        assert without_glue(ran.source) in (cell.source, words.startswith("# ") and code)
        if "remove-output" not in ran.metadata.get("tags", []):
            drawn = [text.startswith("<svg") for text in texts(ran)]
            for shown, kept, drawing in zip(texts(ran), texts(cell), drawn, strict=True):
                assert kept == shown or (drawing and "<svg" not in kept)


def texts(cell: nbformat.NotebookNode) -> list[str]:
    """Return outputs as text, without what differs in every run."""
    return [VARYING.sub("#", INSTALLED.sub("", output_text(output))) for output in outputs_of(cell)]


@pytest.mark.parametrize("name", some_of_each_kind())
def test_it_runs_away_from_the_site(name, tmp_path, executed):
    """In an empty folder, which stays empty, as on the page; times, addresses and folders aside."""
    done = run_away(notebook(name), tmp_path).cells
    done = [cell for cell in done if cell.cell_type == "code"][FIRST:]
    for cell, ran in zip(done, executed[name], strict=True):
        before, after = texts(ran), texts(cell)
        if PAGES[name].head.get("measures"):  # its outputs are times
            before, after = (
                [text for text in each if text.startswith("error: ")] for each in (before, after)
            )
        assert after == before, cell.source
    assert list((tmp_path / "empty").iterdir()) == [], "it left files behind"


@pytest.mark.parametrize("name", EXECUTED)
def test_it_stands_for_itself(name, site):
    """No place of the building machine, nothing of MyST-NB, and nothing that only Sphinx reads."""
    made = notebook(name)
    nbformat.validate(made)
    whole = (site / f"{name}.ipynb").read_text("utf-8")
    places = (ROOT, sys.prefix, sys.base_prefix, Path.home())
    assert not [place for place in places if f"{place}/" in whole]
    assert not re.search(r"myst_nb|\bglue\(|application/papermill", whole)
    text = "\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")
    assert not re.search(r"\{[a-z:]+\}`|^:::|^\(\S+\)=$", text, re.MULTILINE)
    addresses = re.findall(r"\]\(<([^>]*)>\)", text)
    assert all(address.startswith(("https://", "#")) for address in addresses)
    assert text.startswith("# ")


def test_every_executed_page_has_one_and_every_page_its_source(site):
    """And no other page has one, but the notebook that measures a GPU."""
    found = {p.relative_to(site).with_suffix("").as_posix() for p in site.rglob("*.ipynb")}
    found -= {name for name in found if name.startswith(f"{SECOND_LANGUAGE}/")}
    assert found == {*EXECUTED, "tutorials/measure-your-gpu"}
    for name, path in SOURCES.items():
        assert (site / f"{name}.md").read_bytes() == path.read_bytes()
