"""Type the cells of each page into a fresh Python, and print the failure of each page as JSON.

Standard input is JSON: for each page its cells, each with its line, its code and whether it must
raise. A cell is typed line by line, as into the plain prompt of Python: there a blank line ends an
indented block, and only a blank line does. The pages are forked from one Python that has imported
the slowest modules already.
"""

import code
import json
import multiprocessing
import os
import sys
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import sklearn.linear_model  # noqa: F401
import torch
import torch._dynamo  # which the first optimizer imports

import lookup_matmul.figures  # noqa: F401

FORK = multiprocessing.get_context("fork")


class Prompt(code.InteractiveConsole):
    """The plain prompt, which keeps the first error of a cell instead of printing it."""

    error = None

    def showtraceback(self):
        """Keep an error of running code."""
        self.error = self.error or sys.exc_info()[1]

    def showsyntaxerror(self, *_arguments, **_options):
        """Keep an error of parsing."""
        self.error = self.error or sys.exc_info()[1]


def settings():
    """Return the settings of torch that would change the outputs of another page."""
    return (
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_grad_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.get_float32_matmul_precision(),
    )


def run_cells(cells):
    """Type cells in an empty folder and return the first failure, or an empty text."""
    prompt, initial_settings = Prompt({"__name__": "__main__"}), settings()
    sys.modules["myst_nb"] = None  # readers need not have it
    with TemporaryDirectory() as folder, Path(os.devnull).open("w") as devnull:
        os.chdir(folder)
        os.dup2(devnull.fileno(), sys.stdout.fileno())
        for line, source, raises in cells:
            prompt.error = None
            for number, text in enumerate([*source.splitlines(), ""], start=line):  # noqa: B007
                prompt.push(text)
                if prompt.error:
                    break
            if prompt.error and not raises:
                return f"{number}: {type(prompt.error).__name__}: {prompt.error}"
            prompt.resetbuffer()
        os.chdir("/")
        files = ", ".join(path.name for path in Path(folder).iterdir())
        if settings() != initial_settings:
            return "1: the cells left a default of torch changed"
        return f"1: the cells left files behind: {files}" if files else ""


def main():
    """Run one page after the other."""
    failures = {}
    for page, cells in json.load(sys.stdin).items():
        with ProcessPoolExecutor(1, FORK) as pool:
            try:
                failure = pool.submit(run_cells, cells).result()
            except BrokenProcessPool:
                failure = "1: a cell ended Python"
        if failure:
            failures[page] = failure
    print(json.dumps(failures))


if __name__ == "__main__":
    main()
