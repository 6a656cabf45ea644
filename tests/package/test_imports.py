"""Importing the package, or one name of it, loads only the modules that are needed."""

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import lookup_matmul

SOURCE = Path(lookup_matmul.__file__).parents[1]

NEEDLESS = {"cloudpickle", "fastjsonschema", "matplotlib", "nox", "scipy", "sklearn", "sphinx"}
NEEDLESS |= {"cpuinfo", "filelock", "jsonschema", "psutil", "setuptools", "tqdm", "triton"}
BLOCKED = f"""
import sys
sys.modules.update(dict.fromkeys({NEEDLESS!r}))  # so that their import is an error
import lookup_matmul.costs, lookup_matmul.figures
"""
# Prints the modules that are loaded after each statement, executed in a process of its own, first of
# some statements and then of those before which torch may be loaded.
LOAD = """
import json, sys
from multiprocessing import get_context

def load(statement):
    exec(statement)
    return statement, [*sys.modules]

def load_each(statements):
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        return pool.map(load, statements, chunksize=1)

without_torch, others = json.loads(sys.argv[1])
modules = load_each(without_torch)
import torch
print(json.dumps(dict(modules + load_each(others))))
"""
# Statement: modules, or packages with all of their modules, that it must not load.
UNLOADED = {
    "import lookup_matmul": {"torch", "numpy", "scipy", "lookup_matmul.*"},
    "from lookup_matmul import lookup": {
        "scipy", "matplotlib", "lookup_matmul.costs", "lookup_matmul.diagnosis",
        "lookup_matmul.equality", "lookup_matmul.figures", "lookup_matmul.memory",
        "lookup_matmul.onehot.swap", "lookup_matmul.sharded", "lookup_matmul.sparse",
    },
    "from lookup_matmul import compare": {"lookup_matmul.costs", "lookup_matmul.figures"},
    "import lookup_matmul.costs": {
        "scipy", "matplotlib", "lookup_matmul.diagnosis", "lookup_matmul.figures",
        "lookup_matmul.memory", "lookup_matmul.sharded", "lookup_matmul.sparse",
    },
    "from lookup_matmul.figures import draw_lookup": {  # pages run again if a loaded module changes
        "scipy", "matplotlib", "lookup_matmul.figures.axes", "lookup_matmul.figures.equality",
        "lookup_matmul.figures.plots",
    },
}  # fmt: skip
# They are empty, or import a module when one of its names is first used.
SUBPACKAGES = ["diagnosis", "equality", "figures", "onehot", "sparse"]
UNLOADED |= {f"import lookup_matmul.{name}": {"lookup_matmul.*"} for name in SUBPACKAGES}
TYPE_ALIASES = {"Layer", "Rows"}  # which do not know their module


def test_an_import_loads_no_other_module():
    """A name of the package is imported with its own module and that module's imports.

    ``costs`` and ``figures`` can be imported with torch and what torch installs.
    """
    without_torch = [statement for statement, names in UNLOADED.items() if "torch" in names]
    others = [BLOCKED, *(UNLOADED.keys() - without_torch)]
    command = [sys.executable, "-c", LOAD, json.dumps([without_torch, others])]
    completed = subprocess.run(command, cwd=SOURCE, capture_output=True, text=True, check=False)
    assert (completed.returncode, completed.stderr) == (0, "")
    modules = json.loads(completed.stdout)
    for statement, names in UNLOADED.items():
        loaded, module = {*modules[statement]}, statement.split()[1]
        assert {"lookup_matmul", module} <= loaded, statement
        prefixes = tuple(name.removesuffix("*").rstrip(".") + "." for name in names)
        loaded -= {"lookup_matmul", module}
        assert not [name for name in loaded if f"{name}.".startswith(prefixes)], statement


def test_every_public_name_is_in_the_table_of_modules():
    """A name that only ``__all__`` or only the imports for type checkers had would not load."""
    assert sorted(lookup_matmul.MODULES) == lookup_matmul.__all__ == sorted(lookup_matmul.__all__)
    for name in {*lookup_matmul.__all__} - TYPE_ALIASES:
        expected_module = f"lookup_matmul.{lookup_matmul.MODULES[name]}"
        assert getattr(lookup_matmul, name).__module__ == expected_module


def test_the_version_is_that_of_the_installed_package():
    """Read from its metadata; a name that does not exist is an AttributeError."""
    assert lookup_matmul.__version__ == metadata.version("lookup-matmul")
    with pytest.raises(AttributeError, match="module 'lookup_matmul' has no attribute 'lokup'"):
        lookup_matmul.lokup  # noqa: B018
