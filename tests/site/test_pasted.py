"""The open cells of a page run when a reader pastes them, in their order, into the plain prompt."""

import json
import re

import pytest
from _extensions.page_record import read_page
from _extensions.rules.code import read_cells
from scratch import run_forked
from served import DOCS, ROOT, SOURCES

# The modules of packages that a page may need in addition to the wheel's dependencies.
MODULES = {"scikit-learn": "sklearn", "cloudpickle": "cloudpickle"}
FAULTY = {  # cells and the failure of each page; the first page is sound
    "sound": ([("import torch", False), ("torch.zeros(1)[1]", True), ("torch.ones(1)", False)], ""),
    "folded import": ([("1\ntorch.ones(1)", False)], "2: NameError: name 'torch' is not defined"),
    "missing package": ([("import cloudpickle", False)], "1: ModuleNotFoundError: "),
    "file": ([("open('data', 'w').close()", False)], "1: the cells left files behind: data"),
    "exit": ([("import os; os._exit(0)", False)], "1: a cell ended Python"),
    "syntax": ([("if", False)], "1: SyntaxError: invalid syntax"),
    "no blank line": ([("for k in [1]:\n    k\nk", False)], "3: SyntaxError: invalid syntax"),
    "blank line": (
        [("for k in [1]:\n    k\n\n    k", False)],
        "4: IndentationError: unexpected indent",
    ),
    "setting": ([("import torch; torch.set_default_dtype(torch.float64)", False)], "1: "),
}


def documented_needs():
    """Return for each package the pages that need it, as Getting started names them."""
    text = (DOCS / "getting-started.md").read_text("utf-8")
    (sentence,) = re.findall("^The page on .*", text, re.MULTILINE)
    needs = re.findall("([^`]*)`([^`]*)`", sentence)
    return {what.split()[-1]: re.findall(r"\((.*?)\.md\)", pages) for pages, what in needs}


def open_cells(name, path):
    """Return line, code and whether it must raise for the open cells of each part of a page.

    A part is the whole page, or an entry of a page of symptoms with the cells above the first entry.
    """
    parts, lines = {"": []}, path.read_text("utf-8").splitlines()
    for cell in read_cells(read_page(path, name)):
        if cell.is_open and "skip-execution" not in cell.tags:
            above = lines[cell.line :: -1] if name.startswith("symptoms/") else []
            title = next((line for line in above if line.startswith("## ")), "")
            record = (cell.line, cell.code, "raises-exception" in cell.tags)
            parts.setdefault(title, []).append(record)
    first = parts.pop("")
    return [first + cells for cells in parts.values()] or [first]


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    """Return the failure of each page, or an empty text, for the faulty ones, too."""
    needs = documented_needs()
    assert needs.keys() == MODULES.keys()
    pages = {name: [[(1, *cell) for cell in cells]] for name, (cells, _) in FAULTY.items()}
    pages |= {name: open_cells(name, path) for name, path in SOURCES.items()}
    assert len([parts for parts in pages.values() if any(parts)]) > 20
    runs = {}
    for name, parts in pages.items():
        modules = [MODULES[what] for what, users in needs.items() if name in users]
        runs[name] = ["matplotlib", *modules], parts
    path = tmp_path_factory.mktemp("pasted") / "runs.json"
    path.write_text(json.dumps(runs), "utf-8")
    paths = [str(ROOT / folder) for folder in ("src", "tests/site")]
    result = run_forked(ROOT, paths, "run_cells", str(path))
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_open_cells_can_be_pasted(failures):
    """They need no folded cell, no file, and no package that Getting started does not name."""
    messages = [
        f"docs/{page}.md:{failures[page]}"
        for page in sorted(failures.keys() - FAULTY.keys())
        if failures[page]
    ]
    assert not messages, "\n".join(messages)


@pytest.mark.parametrize("page", FAULTY)
def test_a_failure_names_line_and_error(page, failures):
    """An expected error is no failure."""
    assert failures[page].startswith(FAULTY[page][1])
    assert bool(failures[page]) is bool(FAULTY[page][1])
