"""What Getting started promises: its commands exist, and each page can be read as a notebook."""

import re
from importlib.metadata import entry_points
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "getting-started.md").read_text("utf-8")
NOTEBOOKS = [
    path
    for path in (ROOT / "docs").rglob("*.md")
    if "file_format: mystnb" in path.read_text("utf-8")
]
(COMMAND,) = entry_points(group="console_scripts", name="mystnb-to-jupyter")
IDS = [path.relative_to(ROOT / "docs").as_posix() for path in NOTEBOOKS]


@pytest.mark.parametrize("source", NOTEBOOKS, ids=IDS)
def test_each_page_with_code_becomes_a_notebook(source: Path, tmp_path: Path):
    """The command of the page writes a valid notebook that holds the page's cells."""
    written = tmp_path / "page.ipynb"
    COMMAND.load()([str(source), str(written)])
    notebook = nbformat.read(written, as_version=4)
    nbformat.validate(notebook)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) == source.read_text("utf-8").count("\n```{code-cell}")


def test_the_page_that_is_converted_exists_and_the_extras_too():
    """A command with a wrong name would be the first thing that fails for a newcomer."""
    (example,) = re.findall(rf"^{COMMAND.name} (\S+)", PAGE, re.MULTILINE)
    assert (ROOT / example).exists()
    (extras,) = re.findall(r'"\.\[(.*?)\]"', PAGE)
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert all(re.search(rf"^{extra} = \[", project, re.MULTILINE) for extra in extras.split(","))
