"""The open cells of a page run when a reader pastes them, in their order, into a fresh Python."""

import json
import re
import subprocess
import sys
from pathlib import Path

from _extensions.run.pages import read
from length_rules import open_cells
from served import DOCS, SOURCES

# What the package's wheel does not bring and pages need.
MODULES = {"scikit-learn": "sklearn", "cloudpickle": "cloudpickle"}


def told():
    """Return the pages that need more than the wheel brings, as Getting started names them."""
    (said,) = re.findall("^The page on .*", (DOCS / "getting-started.md").read_text("utf-8"), re.M)
    needs = re.findall("([^`]*)`([^`]*)`", said)
    return {what.split()[-1]: re.findall(r"\((.*?)\.md\)", pages) for pages, what in needs}


def refuse(modules):
    """Write the lines that make some modules look as if they were not installed."""
    loaded = f"(m for m in modules if m.partition('.')[0] in {modules})"
    refused = f"lambda modules: modules.update(dict.fromkeys([*{modules}, *{loaded}]))"
    return f"({refused})(__import__('sys').modules)"


def pasted(pages):
    """Run the cells of each page, and return what failed."""
    command = [sys.executable, str(Path(__file__).with_name("paste.py"))]
    done = subprocess.run(command, input=json.dumps(pages), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_open_cells_can_be_pasted():
    """Of every page: nothing in them needs a fold, a file, or what only a notebook defines.

    Nor do they need a package that Getting started does not name for their page.
    Beside them a name from a fold, a missing package, a file left behind and an end of Python are
    named; an expected error is none. An entry of the symptoms needs only the lines at the top of
    its page.
    """
    pages = {
        "sound": [("import torch", False), ("torch.zeros(1)[1]", True), ("torch.ones(1)", False)],
        "hidden": [("torch.ones(1)", False)],
        "lacks": [("import cloudpickle", False)],
        "writes": [("open('left', 'w').close()", False)],
        "ends": [("import os; os._exit(0)", False)],
    }
    for name, path in SOURCES.items():
        found, lines = open_cells(read(path, name)), path.read_text("utf-8").splitlines()
        pages[name], entries = [], {}
        for cell, line in found:
            pages[name].append((cell.source, "raises-exception" in cell.metadata.get("tags", [])))
            if name.startswith("symptoms/"):
                title = next((each for each in lines[line::-1] if each.startswith("## ")), "")
                entries.setdefault(f"{name} {title}", []).append(pages[name][-1])
        first = entries.pop(f"{name} ", [])
        pages |= {entry: first + own for entry, own in entries.items()}
    assert len([cells for cells in pages.values() if cells]) > 20
    needs = told()
    assert needs.keys() == MODULES.keys()
    for name, cells in pages.items():
        lacking = [MODULES[what] for what, users in needs.items() if name not in users]
        cells.insert(0, (refuse(lacking), False))
    failed = pasted(pages)
    assert list(failed) == ["hidden", "lacks", "writes", "ends"], failed
    assert "name 'torch' is not defined" in failed["hidden"]
