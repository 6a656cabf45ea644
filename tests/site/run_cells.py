"""Run cells of pages as readers do, each page in a process of its own, and print what came out.

``python run_cells.py paste`` types them into the plain prompt of Python, where a blank line ends an
indented block, and only a blank line does. ``python -I -S run_cells.py execute PACKAGES`` executes
them as Jupyter does, with PACKAGES as the only folder of packages. Standard input is JSON: for each
page the optional modules that it needs, and for each cell its line, its code and whether it must
raise. The output has the outputs of each page and its fault, or an empty text. The processes are
forked from one that has imported the packages, which takes longer than most pages.
"""

import code
import json
import os
import sys
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path += sys.argv[2:]

import cloudpickle  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import sklearn.linear_model  # noqa: F401
import torch
import torch._dynamo  # imported by the first optimizer
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import display
from IPython.utils.capture import capture_output

import lookup_matmul.figures
import lookup_matmul.sharded  # noqa: F401

OPTIONAL = {"cloudpickle", "matplotlib", "sklearn", "myst_nb"}  # those that some readers lack


class Prompt(code.InteractiveConsole):
    """The plain prompt, which keeps the first error of a cell instead of printing it."""

    error = None

    def showtraceback(self, **_options):
        """Keep an error of running or parsing code."""
        self.error = self.error or sys.exc_info()[1]

    def showsyntaxerror(self, *_arguments, **_options):
        """Keep an error of parsing."""
        self.showtraceback()


def settings():
    """Return the settings of torch that would change the outputs of another page."""
    return (
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
    )


def paste(cells):
    """Type cells line by line, and return no outputs and the first fault."""
    prompt, initial_settings = Prompt({"__name__": "__main__"}), settings()
    for line, source, raises in cells:
        prompt.error = None
        for number, text in enumerate([*source.splitlines(), ""], start=line):  # noqa: B007
            prompt.push(text)
            if prompt.error:
                break
        if prompt.error and not raises:
            return [], f"{number}: {type(prompt.error).__name__}: {prompt.error}"
        prompt.resetbuffer()
    changed = settings() != initial_settings
    return [], "1: the cells left a default of torch changed" if changed else ""


def execute(cells):
    """Execute cells, and return their outputs and the first fault."""
    shell, outputs = InteractiveShell.instance(), []
    shell.showtraceback = lambda *_arguments, **_options: None
    for line, source, raises in cells:
        is_quiet = source.endswith(";")
        shell.display_trap.hook = lambda value, quiet=is_quiet: (
            None if quiet or value is None else display(value)
        )
        with capture_output() as captured:
            error = shell.run_cell(source).error_in_exec
        displayed = [output.data for output in captured.outputs]
        message = f"{type(error).__name__}: {error}" if error else ""
        outputs.append([captured.stdout, captured.stderr, displayed, message])
        if bool(error) != raises:
            return outputs, f"{line}: {message or 'no error'}\n{source}"
    return outputs, ""


def run_page(run, needed, cells):
    """Run cells in an empty folder, as if the optional modules that they do not need were missing."""
    for name in [*sys.modules, *OPTIONAL]:
        if name.partition(".")[0] in OPTIONAL - set(needed):
            sys.modules[name] = None
    with TemporaryDirectory() as folder, Path(os.devnull).open("w") as devnull:
        os.chdir(folder)
        os.dup2(devnull.fileno(), sys.stdout.fileno())
        outputs, fault = run(cells)
        os.chdir("/")
        files = ", ".join(path.name for path in Path(folder).iterdir())
    return outputs, fault or (f"1: the cells left files behind: {files}" if files else "")


def main():
    """Run one page after the other."""
    run, results = {"paste": paste, "execute": execute}[sys.argv[1]], {}
    for page, arguments in json.load(sys.stdin).items():
        with ProcessPoolExecutor(1, get_context("fork")) as pool:
            try:
                results[page] = pool.submit(run_page, run, *arguments).result()
            except BrokenProcessPool:
                results[page] = [], "1: a cell ended Python"
    print(json.dumps(results))


if __name__ == "__main__":
    main()
