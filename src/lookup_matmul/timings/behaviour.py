"""What the forms do with input that they disagree on: a NaN they need not read, an id too large."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

from lookup_matmul.timings.cases import FORWARD, Case
from lookup_matmul.timings.contenders import contender
from lookup_matmul.timings.inputs import Inputs
from lookup_matmul.timings.text import plain

VOCAB_SIZE, DIM = 4, 5
TESTS = {
    "nan_in_another_row": [2, 3, 1],  # of a table whose row 0 is NaN
    "id_out_of_range": [2, VOCAB_SIZE + 5, 1],
}


def behaviour(device: str, *, quick: bool = False) -> dict[str, dict[str, str]]:
    """Try each form on odd input, in a process of its own, since a GPU's assertion ends it.

    Parameters
    ----------
    device : str
        ``"cpu"`` or ``"cuda"``.
    quick : bool
        Try nothing, and say so.

    Returns
    -------
    dict
        For each test, what each form in ``FORWARD`` did.

    Examples
    --------
    >>> behaviour("cpu", quick=True)["id_out_of_range"]["lookup"]
    'not tried'
    """
    if quick:
        return {test: dict.fromkeys(FORWARD, "not tried") for test in TESTS}
    with ThreadPoolExecutor(3) as pool:
        said = pool.map(lambda form: _tried(form, device), FORWARD)
        done = dict(zip(FORWARD, said, strict=True))
    return {test: {form: done[form][test] for form in FORWARD} for test in TESTS}


def outcome(test: str, form: str, device: str) -> str:
    """Say what a form does in one test.

    Parameters
    ----------
    test : str
        ``"nan_in_another_row"`` or ``"id_out_of_range"``.
    form : str
        One of ``FORWARD``.
    device : str
        ``"cpu"`` or ``"cuda"``.

    Returns
    -------
    str
        The error, its first line with other marks for what could be markup,
        or what is in the rows that came back.

    Examples
    --------
    >>> outcome("nan_in_another_row", "one-hot built and multiplied", "cpu")
    '3 of 3 rows are NaN'
    >>> outcome("id_out_of_range", "lookup", "cpu")
    'IndexError: index out of range in self'
    """
    case = Case(form, "forward", VOCAB_SIZE, DIM, 3, "uniform", "float32", "hot")
    weight = torch.ones(VOCAB_SIZE, DIM)
    weight[0] = torch.nan if test == "nan_in_another_row" else 1.0
    none = torch.empty(0, device=device)
    ids = torch.tensor(TESTS[test], device=device)
    try:
        result = contender(case, Inputs(ids, weight.to(device), none, none))().cpu()
    except Exception as error:  # whatever it is, it is what happened
        return f"{type(error).__name__}: {plain(str(error))}"
    if test == "nan_in_another_row":
        return f"{int(result.isnan().any(1).sum())} of 3 rows are NaN"
    return "a row of zeros" if not result[1].any() else "a row of other numbers"


def _tried(form: str, device: str) -> dict[str, str]:
    command = [sys.executable, "-m", __name__, form, device]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return dict.fromkeys(TESTS, f"the process ended with code {done.returncode}") | dict(said)


if __name__ == "__main__":
    for name in TESTS:  # one line each, so that an end in the second keeps the first
        print(json.dumps([name, outcome(name, *sys.argv[1:])]), flush=True)
