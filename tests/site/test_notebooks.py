"""The notebook of each page has the cells of the page, and first cells that it can begin with.

A page runs in a kernel that finds only what its notebook requires, so its cells are not run again.
"""

import json
import re
import runpy
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import nbformat
import pytest
from _extensions.notebooks.cells import remove_import_of_glue, select_outputs
from _extensions.page_record import read_page
from _extensions.run.pages import load_execution
from _extensions.run.requirements import find_closure, is_drawing
from served import LANGUAGES, ROOT, SOURCES

PAGES = {name: read_page(path, name) for name, path in SOURCES.items()}
EXECUTED = [
    name for name, page in PAGES.items() if page.notebook and page.head.get("notebook", True)
]
FIRST_CELLS = 2  # requirements and settings


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.fixture(scope="session")
def notebooks(site):
    """Return the notebook of each executed page by the page's name."""
    return {name: nbformat.read(site / f"{name}.ipynb", as_version=4) for name in EXECUTED}


@pytest.fixture(scope="session")
def executed(site):
    """Return the executed cells of each page that its notebook has to contain."""
    cache = runpy.run_path(str(ROOT / "docs" / "conf.py"))["nb_execution_cache_path"]
    cells = {}
    for name in EXECUTED:
        execution = load_execution(PAGES[name].notebook, str(site.parents[1] / cache))
        assert execution, f"{name} is not in the cache of executed pages"
        cells[name] = [
            cell
            for cell in code_cells(execution[0])
            if "skip-execution" not in cell.metadata.get("tags", [])
            and remove_import_of_glue(cell.source)
            and not is_drawing(cell.source)
        ]
    return cells


def output_text(output):
    """Return what an output shows, as text."""
    if output.output_type == "error":
        return f"error: {output.ename}: {output.evalue}"
    data = output.get("data", {})
    figure = data.get("image/svg+xml") or data.get("text/html")
    return str(output.get("text") or figure or data.get("text/plain", ""))


def texts(cell):
    """Return the outputs of a cell as text."""
    return [output_text(output) for output in select_outputs(cell)]


@pytest.mark.parametrize("name", EXECUTED)
def test_a_notebook_has_the_cells_of_its_page(name, notebooks, executed):
    """Code and outputs are the same, cell by cell, except glue and the SVG of figures."""
    cells = code_cells(notebooks[name])[FIRST_CELLS:]
    assert len(cells) == len(executed[name]) > 0
    for cell, page_cell in zip(cells, executed[name], strict=True):
        comment, _, code = cell.source.partition("\n")
        assert remove_import_of_glue(page_cell.source) in (
            cell.source,
            comment.startswith("# ") and code,
        )
        if "remove-output" not in page_cell.metadata.get("tags", []):
            for text, expected in zip(texts(cell), texts(page_cell), strict=True):
                assert text == expected or (expected.startswith("<svg") and "<svg" not in text)


@pytest.mark.parametrize("name", EXECUTED)
def test_a_notebook_has_a_picture_for_each_drawing_of_the_site(name, notebooks):
    """A reader has no module that draws it."""
    drawings = [cell for cell in PAGES[name].cells if is_drawing(cell.source)]
    cells = [cell for cell in notebooks[name].cells if cell.cell_type == "markdown"]
    pictures = [cell.source.count('src="data:image/svg+xml;charset=utf-8,') for cell in cells]
    assert sum(pictures) >= len(drawings)  # and a figure of the package in the text
    assert "_figures" not in "".join(cell.source for cell in code_cells(notebooks[name]))


def link_packages(folder, requirements):
    """Fill a folder with links to the modules of distributions and of all that they require."""
    for name in find_closure(tuple(requirements)):
        installed = distribution(name)
        for part in {file.parts[0] for file in installed.files} - {"..", "__pycache__"}:
            if not (folder / part).exists():
                (folder / part).symlink_to(installed.locate_file(part))


# Runs cells of standard input in IPython, with one folder of packages.
RUN = """import json, sys
sys.path.append(sys.argv[1])
from IPython.core.interactiveshell import InteractiveShell
for source in json.load(sys.stdin):
    InteractiveShell.instance().run_cell(source).raise_error()
import lookup_matmul.figures, lookup_matmul.sharded
"""


def test_first_cells_find_what_they_require(site, notebooks, tmp_path):
    """They find each module where only the site's wheel and what they name are installed."""
    firsts = {c.source for n in notebooks.values() for c in code_cells(n)[:FIRST_CELLS]}
    names = [re.search(r"pip install '[^']*'(.*?)\"", source) for source in firsts]
    distributions = {name for match in names if match for name in match[1].split()}
    (wheel,) = site.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path)
    link_packages(tmp_path, ["lookup-matmul[figures,sharded]", *distributions, "ipython"])
    command = [sys.executable, "-I", "-S", "-c", RUN, str(tmp_path)]
    done = subprocess.run(command, input=json.dumps([*firsts]), capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")  # nor another version


@pytest.mark.parametrize("name", EXECUTED)
def test_a_notebook_needs_neither_the_site_nor_its_builder(name, site, notebooks):
    """It names no folder of this machine, nothing of MyST-NB, and no role or directive."""
    nbformat.validate(notebooks[name])
    source = (site / f"{name}.ipynb").read_text("utf-8")
    folders = (ROOT, sys.prefix, sys.base_prefix, Path.home())
    assert not [folder for folder in folders if f"{folder}/" in source]
    assert not re.search(r"myst_nb|application/papermill", source)
    markdown = [cell.source for cell in notebooks[name].cells if cell.cell_type == "markdown"]
    text = "\n".join(markdown)
    assert not re.search(r"\{[a-z:]+\}`|^:::|^\(\S+\)=$", text, re.MULTILINE)
    addresses = re.findall(r"\]\(<([^>]*)>\)", text)
    assert all(address.startswith(("https://", "#")) for address in addresses)
    assert text.startswith("# ")


def test_executed_pages_have_notebooks(site):
    """No other page has a notebook, such as the one that needs the site's environment."""
    names = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.ipynb")}
    assert {name for name in names if name.split("/")[0] not in LANGUAGES.values()} == {*EXECUTED}
    assert "build" not in EXECUTED
