"""Paste the cells of each page into a Python of its own, and print what failed as JSON.

Standard input names pages, each with its cells and whether one has to raise. The pages are forked
from one Python that has imported what takes longer than most of them.
"""

import json
import multiprocessing
import os
import sys
import traceback
from pathlib import Path
from tempfile import TemporaryDirectory

import sklearn.linear_model  # noqa: F401
import torch._dynamo  # noqa: F401  # which the first optimizer imports

import lookup_matmul.figures  # noqa: F401

FORK = multiprocessing.get_context("fork")


def paste(cells, answer):
    """Run the cells in an empty folder, and say which did not do what the page shows."""
    names = {"__name__": "__main__"}
    sys.modules["myst_nb"] = None  # readers need not have it
    with TemporaryDirectory() as folder, Path(os.devnull).open("w") as nothing:
        os.chdir(folder)
        os.dup2(nothing.fileno(), sys.stdout.fileno())
        for source, raises in cells:
            try:
                exec(compile(source, "<pasted>", "exec"), names)
            except Exception:
                if not raises:
                    answer.send(f"{source}\n{traceback.format_exc(-1)}")
                    return
        os.chdir("/")
        answer.send("left files behind" if any(Path(folder).iterdir()) else "")


def main():
    """Take one page after the other."""
    failed = {}
    for name, cells in json.load(sys.stdin).items():
        answer, told = FORK.Pipe(duplex=False)
        process = FORK.Process(target=paste, args=(cells, told))
        process.start()
        told.close()
        try:
            said = answer.recv()
        except EOFError:
            said = "it ended Python"
        process.join()
        if said:
            failed[name] = said
    print(json.dumps(failed))


if __name__ == "__main__":
    main()
