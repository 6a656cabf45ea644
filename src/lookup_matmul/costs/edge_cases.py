"""What each form does with input on which the forms disagree, be it the end of the process."""

import subprocess
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch

from lookup_matmul.costs.markdown import plain
from lookup_matmul.onehot.forms import lookup, one_hot_matmul

CHILD_S = 120.0  # how long a form may take before its process is ended
ODD = {"nan_in_another_row": [2, 3, 1], "id_out_of_range": [2, 9, 1]}  # of a table of four rows


def by_comparison(ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Multiply one-hot rows that a compiler need not write."""
    columns = torch.arange(len(weight), device=ids.device)
    return (ids.unsqueeze(1) == columns).to(weight.dtype) @ weight


def _sparse(ids: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    starts, ones = torch.arange(len(ids) + 1, device=ids.device), weight.new_ones(len(ids))
    shape = (len(ids), len(weight))
    with warnings.catch_warnings(action="ignore"):  # torch calls the layout a beta version
        return torch.sparse_csr_tensor(starts, ids, ones, shape, check_invariants=True) @ weight


FORMS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "lookup": lambda ids, weight: lookup(ids, weight, check=False),
    "one-hot built and multiplied": lambda ids, weight: one_hot_matmul(ids, weight, check=False),
    "compiled one-hot": lambda ids, weight: torch.compile(by_comparison)(ids, weight),
    "sparse product": _sparse,
}


def odd_input(device: str) -> dict[str, dict[str, str]]:
    """Try odd input on each form, in processes of their own since a GPU's assertion ends one.

    Gives for a NaN in a row that is not asked for, and for an id too large, what each form did on
    the device, ``"cpu"`` or ``"cuda"``: its error, or what is in the rows that it gave.
    """
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda form: _said(form, device), FORMS))
    return {
        test: {form: said[k] for form, said in zip(FORMS, found, strict=True)}
        for k, test in enumerate(ODD)
    }


def _said(form: str, device: str) -> list[str]:
    command = [sys.executable, "-c", f"from {__name__} import say; say({form!r}, {device!r})"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=CHILD_S, check=False)
        said, end = done.stdout, f"the process ended with code {done.returncode}"
    except subprocess.TimeoutExpired as late:
        said, end = late.stdout or b"", f"no answer within {CHILD_S:.0f} s"
    lines = [plain(line) for line in said.decode(errors="replace").splitlines()]
    return [*lines, end, end][: len(ODD)]


def say(form: str, device: str) -> None:
    """Print what a form does with each odd input, a line each: an end keeps those before it."""
    for test, ids in ODD.items():
        weight = torch.ones(4, 5)
        weight[0] = torch.nan if test == "nan_in_another_row" else 1.0
        try:
            rows = FORMS[form](torch.tensor(ids, device=device), weight.to(device)).cpu()
            said = "a row of zeros" if not rows[1].any() else "a row of other numbers"
            if test == "nan_in_another_row":
                said = f"{int(rows.isnan().any(1).sum())} of 3 rows are NaN"
        except Exception as error:  # whatever it is, it is what happened
            said = f"{type(error).__name__}: {plain(str(error))}"
        print(said, flush=True)
