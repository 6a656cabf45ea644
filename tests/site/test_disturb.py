"""Each assertion of a page is repeated with changed operands until it fails."""

import json

import pytest
from _extensions.run.observer import disturb
from IPython.core.interactiveshell import InteractiveShell

SETUP = """
import math
import numpy as np
import torch
from torch import nn
from unittest.mock import Mock
from lookup_matmul import assert_bitwise_equal, assert_within

x, y, n = torch.arange(6.0).reshape(3, 2), torch.arange(6.0).reshape(3, 2), 3
ids, names, layer = torch.tensor([2, 0, 2]), ["a", "b"], nn.Linear(2, 3)
array = np.arange(4.0)
"""

POWERLESS = [
    "assert x.equal",
    "assert names",
    "assert (x.equal(y), 'message')",
    "assert len(names)",
    "assert nn.Linear(2, 3) is not None",
    "assert x is x",
    "assert torch.equal(x, x)",
    "assert x.equal(x)",
    "assert x.sum() == x.sum()",
    "assert torch.equal(x, x.clone())",
    "assert torch.equal(x[:], x)",
    "assert (x == x.detach().clone()).all()",
    "assert_bitwise_equal(x, x.clone())",
    "same = x\nassert_bitwise_equal(x, same)",
    "view = x.view(3, 2)\nassert torch.equal(x, view)",
    "same = names\nassert names == same",
    "assert_within(x, y, math.inf)",
    "assert torch.allclose(x, y, atol=math.inf)",
    "assert len(names) >= 0",
    "assert x.abs().sum() >= 0",
    "assert n < math.inf",
    "assert isinstance(x, object)",
    "for row in x[:0]:\n    assert_bitwise_equal(row, row + 1)",
    "assert all(row.sum() == 100 for row in x[:0])",
    "def check():\n    assert n == 4",
    "assert n == 3 and names",
    "assert not layer(x) is None",
]
# What few pages of the site have; their build finds other assertions that are reported falsely.
POWERFUL = [
    "assert x.contiguous() is x",
    "assert 'a' in names and 'c' not in names",
    "assert {**{'a': 1}} == {'a': 1}",
    "try:\n    assert_bitwise_equal(x, y + 1)\nexcept AssertionError:\n    pass",
    "assert n < math.inf  # cannot fail: a number of rows is finite",
]


def run_cells(*cells: str) -> InteractiveShell:
    """Run cells with repeated assertions, and return their shell."""
    shell = InteractiveShell()
    disturb.install(shell)
    for cell in cells:
        shell.run_cell(cell, store_history=False).raise_error()
    return shell


def powerless(code: str) -> list[tuple[str, int, str]]:
    """Run a cell and return those of its assertions that cannot fail."""
    shell = run_cells(SETUP, code)
    report = json.loads(disturb.report(shell))
    assert report["assertions"] >= 1
    return [tuple(fault) for fault in report["powerless"]]


@pytest.mark.parametrize("code", POWERLESS)
def test_assertion_that_cannot_fail_is_reported(code):
    """An assertion that holds for every change of its operands is reported with its line."""
    lines = [line for _, line, _ in powerless(code)]
    assert lines == [code[: code.index("assert")].count("\n") + 1]


@pytest.mark.parametrize("code", POWERFUL)
def test_assertion_that_can_fail_is_accepted(code):
    """An assertion that fails for a changed operand, or that is excused, is not reported."""
    assert powerless(code) == []


def test_operands_are_evaluated_once():
    """A cell has the same effects and the same errors as without the repetitions."""
    shell = run_cells("calls = []\nassert (calls.append(1) or 3) == 3")
    assert shell.user_ns["calls"] == [1]
    result = shell.run_cell("assert 3 == len(calls), 'three calls'", store_history=False)
    assert isinstance(result.error_in_exec, AssertionError)
    assert str(result.error_in_exec) == "three calls"


def test_operands_are_not_changed():
    """A repetition changes a copy of a tensor, list or dict, not the page's own."""
    shell = run_cells(
        "import torch\nx, names, sizes = torch.zeros(2), ['a'], {'a': 1}",
        "assert torch.equal(x, torch.zeros(2)) and names == ['a'] and sizes == {'a': 1}",
    )
    assert shell.user_ns["x"].tolist() == [0, 0]
    assert (shell.user_ns["names"], shell.user_ns["sizes"]) == (["a"], {"a": 1})
