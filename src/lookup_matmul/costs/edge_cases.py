"""What each form does with input on which the forms disagree, be it the end of the process."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import torch

from lookup_matmul.costs.cases import Case, Inputs
from lookup_matmul.costs.contenders import BUILT, COMPILED, by_comparison, contender

CHILD_S = 120.0  # how long a form may take before its process is ended
FORMS = ("lookup", BUILT, COMPILED, "sparse product")
ROWS, DIM = 4, 5
IDS = {"nan_in_another_row": [2, 3, 1], "id_out_of_range": [2, 9, 1]}


def edge_cases(device: str) -> dict[str, dict[str, str]]:
    """Try edge cases on each form, in processes of their own since a GPU's assertion ends one.

    Returns for a NaN in a row that is not asked for, and for an id too large, what each form did on
    the device, ``"cpu"`` or ``"cuda"``: its error, or what is in the rows that it gave.
    """
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda form: _said(form, device), FORMS))
    return {
        test: {form: said[k] for form, said in zip(FORMS, found, strict=True)}
        for k, test in enumerate(IDS)
    }


def in_a_line(error: BaseException) -> str:
    """Return the type of an error and the first line of its message, cut to 200 characters."""
    return f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), '')[:200]}"


def _said(form: str, device: str) -> list[str]:
    command = [sys.executable, "-c", f"from {__name__} import say; say({form!r}, {device!r})"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=CHILD_S, check=False)
        said, end = done.stdout, f"the process ended with code {done.returncode}"
    except subprocess.TimeoutExpired as late:
        said, end = late.stdout or b"", f"no answer within {CHILD_S:.0f} s"
    return [*said.decode(errors="replace").splitlines(), end, end][: len(IDS)]


def say(form: str, device: str) -> None:
    """Print what a form does with each edge case, a line each: an end keeps those before it."""
    for test, ids in IDS.items():
        weight = torch.ones(ROWS, DIM)
        weight[0] = torch.nan if test == "nan_in_another_row" else 1.0
        try:
            rows = _rows(form, torch.tensor(ids, device=device), weight.to(device)).cpu()
            said = "a row of zeros" if not rows[1].any() else "a row of other numbers"
            if test == "nan_in_another_row":
                said = f"{int(rows.isnan().any(1).sum())} of {len(ids)} rows are NaN"
        except Exception as error:  # whatever it is, it is what happened
            said = in_a_line(error)
        print(said, flush=True)


def _rows(form: str, ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    if form == COMPILED:  # without the search for the fastest kernel
        return torch.compile(by_comparison)(ids, weight)
    case = Case(form, "forward", ROWS, DIM, len(ids), "uniform", "float32", "hot")
    none = weight.new_empty(0)
    return contender(case, Inputs(ids, weight, none, none))()
