"""Every example in a docstring runs, and every public function has one."""

import doctest
import importlib
import pkgutil

import pytest
import torch

import lookup_matmul
from lookup_matmul import costs, figures, sharded

EXAMPLES = {
    test.name: test
    for module in pkgutil.walk_packages(lookup_matmul.__path__, "lookup_matmul.")
    for test in doctest.DocTestFinder().find(importlib.import_module(module.name))
    if test.examples
}
PUBLIC = {
    name: getattr(module, name)
    for module in (lookup_matmul, figures, sharded, costs)
    for name in module.__all__
}
WITHOUT_EXAMPLE = {"Agreement", "Case", "Cause", "Comparison", "Drawing", "Kernel", "Layer"}
WITHOUT_EXAMPLE |= {"ModuleDifference", "Rows", "Spread", "processor"}
PUBLIC_WITH_EXAMPLE = {
    f"{function.__module__}.{function.__name__}"
    for name, function in PUBLIC.items()
    if not name.isupper() and name not in WITHOUT_EXAMPLE
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run(name):
    """Those of public functions need ``torch`` and public names only."""
    example = EXAMPLES[name]
    if name in PUBLIC_WITH_EXAMPLE:
        example.globs = {"torch": torch, "__name__": "example"} | PUBLIC
    results = doctest.DocTestRunner().run(example)
    assert (results.failed, results.attempted) == (0, len(example.examples))


def test_every_public_function_has_an_example():
    """Types for annotations and results need none."""
    assert set(EXAMPLES) >= PUBLIC_WITH_EXAMPLE
