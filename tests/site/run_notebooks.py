"""Run notebooks in an environment of their requirements alone, and print the results as JSON.

``python -I -S run_notebooks.py PACKAGES`` reads the paths of notebooks from standard input, one per
line; PACKAGES is the only folder of packages. Each notebook runs in a process that is forked from
one with the packages imported, which takes longer than most notebooks.
"""

import ast
import json
import os
import re
import sys
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.append(sys.argv[1])

import cloudpickle  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import sklearn.linear_model  # noqa: F401
import torch._dynamo  # noqa: F401  # imported by the first optimizer
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from IPython.utils.capture import capture_output

import lookup_matmul.figures
import lookup_matmul.sharded  # noqa: F401

FORK = get_context("fork")
OPTIONAL = {"cloudpickle", "matplotlib", "sklearn"}  # required by some notebooks only


def display_value(value):
    """Display the value of a cell as Jupyter does."""
    if value is not None:
        display(value)


def run_notebook(path):
    """Run the cells of a notebook in an empty folder, and return their outputs and what is wrong."""
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if "outputs" in cell]
    needed = ast.literal_eval(re.search(r"^needed = (.*)$", cells[0]["source"], re.MULTILINE)[1])
    for name in [*sys.modules, *OPTIONAL]:
        if name.partition(".")[0] in OPTIONAL - set(needed):
            sys.modules[name] = None  # an import fails as if it were not installed
    shell = InteractiveShell.instance()
    shell.showtraceback = lambda *_arguments, **_options: None
    outputs, fault = [], ""
    with TemporaryDirectory() as folder, Path(os.devnull).open("w") as devnull:
        os.chdir(folder)
        os.dup2(devnull.fileno(), sys.stdout.fileno())
        for index, cell in enumerate(cells):
            is_quiet = cell["source"].endswith(";")
            shell.display_trap.hook = (lambda _value: None) if is_quiet else display_value
            with capture_output() as captured:
                error = shell.run_cell(cell["source"]).error_in_exec
            displayed = [output.data for output in captured.outputs]
            message = f"{type(error).__name__}: {error}" if error else ""
            outputs.append([captured.stdout, captured.stderr, displayed, message])
            if bool(error) != ("raises-exception" in cell["metadata"].get("tags", [])):
                fault = f"cell {index} of {len(cells)}: {message or 'no error'}\n{cell['source']}"
                break
        os.chdir("/")
        return outputs, fault or ("left files" if any(Path(folder).iterdir()) else "")


def main():
    """Run one notebook after the other."""
    results = {}
    for path in sys.stdin.read().splitlines():
        with ProcessPoolExecutor(1, FORK) as pool:
            try:
                results[path] = pool.submit(run_notebook, Path(path)).result()
            except BrokenProcessPool:
                results[path] = ([], "the process ended")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
