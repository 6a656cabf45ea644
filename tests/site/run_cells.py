"""Type cells of pages into the plain prompt of Python, and print the fault of each page.

There a blank line ends an indented block, and only a blank line does. The argument is a file of
JSON: for each page the optional modules that it needs, and its parts, each of which is typed into a
new prompt: for each cell its line, its code and whether it must raise. Each page runs in a process
that is forked from one that has imported the packages. Times are taken of few calls.
"""

import code
import json
import os
import sys
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from functools import partial, partialmethod
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import cloudpickle  # noqa: F401
import matplotlib.pyplot  # noqa: F401
import sklearn.linear_model  # noqa: F401
import torch
import torch._dynamo  # imported by the first optimizer
from torch.utils.benchmark import Timer

import lookup_matmul.figures
import lookup_matmul.sharded  # noqa: F401
from lookup_matmul import costs

OPTIONAL = {"cloudpickle", "matplotlib", "sklearn"}  # those that some readers lack


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
    """Type cells line by line into a new prompt, and return the first fault."""
    prompt = Prompt({"__name__": "__main__"})
    for line, source, raises in cells:
        prompt.error = None
        for number, text in enumerate([*source.splitlines(), ""], start=line):  # noqa: B007
            prompt.push(text)
            if prompt.error:
                break
        if prompt.error and not raises:
            return f"{number}: {type(prompt.error).__name__}: {prompt.error}"
        prompt.resetbuffer()
    return ""


def take_few_calls():
    """Shorten all measurements, whose results nobody sees."""
    costs.time_side_by_side = partial(short_times, costs.time_side_by_side)
    Timer.blocked_autorange = partialmethod(Timer.blocked_autorange, min_run_time=1e-6)


def short_times(time_side_by_side, calls, **_options):
    """Time two short rounds of calls."""
    return time_side_by_side(calls, rounds=2, block_s=1e-6)


def run_page(needed, parts):
    """Run cells in an empty folder, as if the optional modules that they do not need were missing."""
    initial_settings = settings()
    for name in [*sys.modules, *OPTIONAL]:
        if name.partition(".")[0] in OPTIONAL - set(needed):
            sys.modules[name] = None
    with TemporaryDirectory() as folder, Path(os.devnull).open("w") as devnull:
        os.chdir(folder)
        os.dup2(devnull.fileno(), sys.stdout.fileno())
        fault = next(filter(None, map(paste, parts)), "")
        os.chdir("/")
        files = ", ".join(path.name for path in Path(folder).iterdir())
    if settings() != initial_settings:
        fault = fault or "1: the cells left a default of torch changed"
    return fault or (f"1: the cells left files behind: {files}" if files else "")


def main():
    """Run one page after the other."""
    take_few_calls()
    results = {}
    for page, arguments in json.loads(Path(sys.argv[1]).read_text("utf-8")).items():
        with ProcessPoolExecutor(1, get_context("fork")) as pool:
            try:
                results[page] = pool.submit(run_page, *arguments).result()
            except BrokenProcessPool:
                results[page] = "1: a cell ended Python"
    print(json.dumps(results))


if __name__ == "__main__":
    main()
