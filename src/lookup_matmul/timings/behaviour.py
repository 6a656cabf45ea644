"""What the forms do with input that they disagree on: a NaN they need not read, an id too large."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

from lookup_matmul.timings.cases import FORWARD, Case, Inputs
from lookup_matmul.timings.contenders import contender
from lookup_matmul.timings.schema import plain

CHILD_S = 120.0  # how long a form may take before its process is ended
ODD = {"nan_in_another_row": [2, 3, 1], "id_out_of_range": [2, 9, 1]}  # of a table of four rows


def behaviour(device: str) -> dict[str, dict[str, str]]:
    """Try odd input on each form in a process of its own, since a GPU's assertion ends it."""
    forms = [form for form in FORWARD if form != "one-hot built"]  # which reads no table
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda form: _tried(form, device), forms))
    return {
        test: {form: said[k] for form, said in zip(forms, found, strict=True)}
        for k, test in enumerate(ODD)
    }


def _tried(form: str, device: str) -> list[str]:
    code = f"from {__name__} import say; say({form!r}, {device!r})"
    command = [sys.executable, "-c", code]
    try:
        done = subprocess.run(command, capture_output=True, timeout=CHILD_S, check=False)
        said, end = done.stdout, f"the process ended with code {done.returncode}"
    except subprocess.TimeoutExpired as late:
        said, end = late.stdout or b"", f"no answer within {CHILD_S:.0f} s"
    lines = [plain(line) for line in said.decode(errors="replace").splitlines()]
    return [*lines, end, end][: len(ODD)]


def say(form: str, device: str) -> None:
    """Print what a form does with each odd input: its error, or what is in the rows it gives."""
    case = Case(form, "forward", 4, 5, 3, "uniform", "float32", "hot")
    for test, ids in ODD.items():  # a line each, so that an end in the second keeps the first
        weight, none = torch.ones(4, 5), torch.empty(0, device=device)
        weight[0] = torch.nan if test == "nan_in_another_row" else 1.0
        inputs = Inputs(torch.tensor(ids, device=device), weight.to(device), none, none)
        try:
            rows = contender(case, inputs)().cpu()
            said = "a row of zeros" if not rows[1].any() else "a row of other numbers"
            if test == "nan_in_another_row":
                said = f"{int(rows.isnan().any(1).sum())} of 3 rows are NaN"
        except Exception as error:  # whatever it is, it is what happened
            said = f"{type(error).__name__}: {plain(str(error))}"
        print(said, flush=True)
