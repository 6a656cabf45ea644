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


def run_cells(cells, connection):
    """Type cells in an empty folder and send the first failure, or an empty text."""
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
                error = prompt.error
                connection.send(f"{number}: {type(error).__name__}: {error}")
                return
            prompt.resetbuffer()
        os.chdir("/")
        files = ", ".join(path.name for path in Path(folder).iterdir())
        failure = f"the cells left files behind: {files}" if files else ""
        if settings() != initial_settings:
            failure = "the cells left a default of torch changed"
        connection.send(failure and f"1: {failure}")


def main():
    """Run one page after the other."""
    failures = {}
    for page, cells in json.load(sys.stdin).items():
        receiver, sender = FORK.Pipe(duplex=False)
        process = FORK.Process(target=run_cells, args=(cells, sender))
        process.start()
        sender.close()
        try:
            failure = receiver.recv()
        except EOFError:
            failure = "1: a cell ended Python"
        process.join()
        if failure:
            failures[page] = failure
    print(json.dumps(failures))


if __name__ == "__main__":
    main()
