"""The examples in the docstrings run, and none can get lost."""

import doctest
import importlib
import pkgutil

import pytest

import lookup_matmul
from lookup_matmul import figures

MODULES = [
    importlib.import_module(f"lookup_matmul.{module.name}")
    for module in pkgutil.iter_modules(lookup_matmul.__path__)
]
FOUND = {
    test.name: test
    for module in MODULES
    for test in doctest.DocTestFinder(exclude_empty=True).find(module)
    if test.examples
}
PUBLIC = {getattr(lookup_matmul, name) for name in lookup_matmul.__all__}
DRAWN = {figures.draw_lookup, figures.draw_one_hot_product}


@pytest.mark.parametrize("name", FOUND)
def test_examples_run(name):
    """Every example prints what its docstring shows."""
    results = doctest.DocTestRunner().run(FOUND[name])
    assert results.attempted == len(FOUND[name].examples) > 0
    assert results.failed == 0


def test_every_public_function_has_an_example():
    """The examples found are those of the public functions, one docstring for each."""
    expected = {f"{function.__module__}.{function.__name__}" for function in PUBLIC | DRAWN}
    assert set(FOUND) == expected
    assert len(FOUND) == len(lookup_matmul.__all__) + len(DRAWN)


def test_every_example_is_counted():
    """The number of examples is known, so that a lost one is noticed; raise it when adding some."""
    assert sum(len(test.examples) for test in FOUND.values()) == 29
