"""The examples in the docstrings run, and none can get lost."""

import doctest
import importlib
import pkgutil

import pytest
import torch

import lookup_matmul
from lookup_matmul import costs, figures, sharded

MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(lookup_matmul.__path__, "lookup_matmul.")
]
FOUND = {
    test.name: test
    for module in MODULES
    for test in doctest.DocTestFinder(exclude_empty=True).find(module)
    if test.examples
}
SHOWN = {
    name: getattr(module, name)
    for module in (lookup_matmul, figures, sharded, costs)
    for name in module.__all__
}
BY_OTHERS = {
    "Case",
    "Drawing",
    "Kernel",
    "Layer",
    "ModuleDifference",
    "Rows",
    "Spread",
}  # are shown
NAMES = {
    f"{function.__module__}.{function.__name__}"
    for name, function in SHOWN.items()
    if not name.isupper() and name not in BY_OTHERS
}


@pytest.mark.parametrize("name", FOUND)
def test_examples_run(name):
    """Every example prints what its docstring shows, the public ones without their module's names."""
    if name in NAMES:  # so nobody who copies it lacks an import
        FOUND[name].globs = {"torch": torch, "__name__": "example"} | SHOWN
    results = doctest.DocTestRunner().run(FOUND[name])
    assert results.attempted == len(FOUND[name].examples) > 0
    assert results.failed == 0


def test_every_public_function_has_an_example():
    """Those of what modules share among themselves are found besides."""
    assert set(FOUND) >= NAMES
