"""Run the cells of each page in a fresh Python, and print the failure of each page as JSON.

Standard input is JSON: for each page its cells, each with its line, its code and whether it must
raise. The pages are forked from one Python that has imported the slowest modules already.
"""

import json
import multiprocessing
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import sklearn.linear_model  # noqa: F401
import torch._dynamo  # noqa: F401  # which the first optimizer imports

import lookup_matmul.figures  # noqa: F401

FORK = multiprocessing.get_context("fork")


def run_cells(cells, connection):
    """Run cells in an empty folder and send the first failure, or an empty text."""
    namespace = {"__name__": "__main__"}
    sys.modules["myst_nb"] = None  # readers need not have it
    with TemporaryDirectory() as folder, Path(os.devnull).open("w") as devnull:
        os.chdir(folder)
        os.dup2(devnull.fileno(), sys.stdout.fileno())
        for line, code, raises in cells:
            try:
                # Blank lines give the code its line numbers on the page.
                exec(compile("\n" * (line - 1) + code, "<pasted>", "exec"), namespace)
            except Exception as error:
                if not raises:
                    frame = error.__traceback__.tb_next
                    number = frame.tb_lineno if frame else line
                    connection.send(f"{number}: {type(error).__name__}: {error}")
                    return
        os.chdir("/")
        files = ", ".join(path.name for path in Path(folder).iterdir())
        connection.send(f"1: the cells left files behind: {files}" if files else "")


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
