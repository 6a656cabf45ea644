"""The notebook of each page has the page's content, and runs without the site's environment."""

import ast
import json
import os
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
from _extensions.run.pages import load_execution, read_page
from packaging.requirements import Requirement
from served import LANGUAGES, ROOT, SOURCES

PAGES = {name: read_page(path, name) for name, path in SOURCES.items()}
EXECUTED = [
    name for name, page in PAGES.items() if page.notebook and page.head.get("notebook", True)
]
PACKAGES = re.compile(r"(?<=\s)/\S*/(?=torch/)")  # torch names its files in an error
VARYING = re.compile(r"\d[\d.,]* ?(ns|µs|ms|s)\b|0x[0-9a-f]+|\d{4}-\d\d-\d\d")
FIRST_CELLS = 2  # requirements and settings
DOCSTRINGS = "tutorials/text-both-ways"  # counts docstrings, which optional packages change
RUNNER = str(Path(__file__).with_name("run_cells.py"))


def code_cells(notebook):
    """Return the cells of a notebook with code."""
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
        ]
    return cells


def output_text(output):
    """Return what an output shows, as text."""
    if output.output_type == "error":
        return f"error: {output.ename}: {output.evalue}"
    data = output.get("data", {})
    figure = data.get("image/svg+xml") or data.get("text/html")
    return str(output.get("text") or figure or data.get("text/plain", ""))


def without_varying(text):
    """Remove what differs in every run, and the folder of the packages."""
    return VARYING.sub("#", PACKAGES.sub("", text))


def texts(cell):
    """Return the outputs of a cell as text."""
    return [without_varying(output_text(output)) for output in select_outputs(cell)]


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


def link_packages(folder, requirements):
    """Fill a folder with links to distributions and all that they require."""
    pending, visited = list(requirements), set()
    while pending:
        requirement = Requirement(pending.pop())
        if str(requirement) in visited:
            continue
        visited.add(str(requirement))
        installed = distribution(requirement.name)
        for name in {file.parts[0] for file in installed.files} - {"..", "__pycache__"}:
            if not (folder / name).exists():
                (folder / name).symlink_to(installed.locate_file(name))
        for line in installed.requires or []:
            marker = Requirement(line).marker
            if not marker or any(marker.evaluate({"extra": e}) for e in ("", *requirement.extras)):
                pending.append(line)


@pytest.fixture(scope="session")
def results(site, notebooks, tmp_path_factory):
    """Run all notebooks with the site's wheel and the requirements that their first cells name."""
    extras, distributions, runs = set(), set(), {}
    for name, notebook in notebooks.items():
        first = code_cells(notebook)[0].source
        install = re.search(r"pip install '[^'\[]*(?:\[(.*?)\])?'(.*?)\"", first)
        extras |= set((install[1] or "").split(",")) - {""}
        distributions |= set(install[2].split())
        needed = ast.literal_eval(re.search(r"^needed = (.*)$", first, re.MULTILINE)[1])
        cells = [
            (index, cell.source, "raises-exception" in cell.metadata.get("tags", []))
            for index, cell in enumerate(code_cells(notebook))
        ]
        runs[name] = needed, cells
    packages = tmp_path_factory.mktemp("packages")
    (wheel,) = site.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
    package = f"lookup-matmul[{','.join(extras)}]"
    link_packages(packages, [package, *distributions, "ipython"])
    done = subprocess.run(
        [sys.executable, "-I", "-S", RUNNER, "execute", str(packages)],
        input=json.dumps(runs),
        env=os.environ | {"OMP_WAIT_POLICY": "PASSIVE"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", EXECUTED)
def test_a_notebook_runs_with_its_requirements_alone(name, results, executed):
    """It leaves no files, and its outputs are the page's, except times and addresses."""
    outputs, fault = results[name]
    assert not fault, fault
    for cell, output in zip(executed[name], outputs[FIRST_CELLS:], strict=True):
        *streams, displayed, message = output
        errors = [f"error: {message}"] if message else []
        contents = [data.get("text/html") or data["text/plain"] for data in displayed]
        actual = [without_varying(text) for text in [*filter(None, streams), *contents, *errors]]
        expected = texts(cell)
        if PAGES[name].head.get("measures") or name == DOCSTRINGS:
            expected = [text for text in expected if text.startswith("error: ")]
            actual = errors and actual[-1:]
        assert actual == expected, cell.source


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
