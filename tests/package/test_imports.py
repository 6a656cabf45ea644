"""Importing the package, or one name of it, loads only the modules that are needed."""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import lookup_matmul

SOURCE = Path(lookup_matmul.__file__).parents[1]

BLOCKED = """
import sys
sys.modules.update(dict.fromkeys({names!r}))  # so that their import is an error
import lookup_matmul.costs, lookup_matmul.figures
"""
NEEDLESS = {"cloudpickle", "fastjsonschema", "matplotlib", "nox", "scipy", "sklearn", "sphinx"}
NEEDLESS |= {"cpuinfo", "filelock", "jsonschema", "psutil", "setuptools", "tqdm", "triton"}


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
        "scipy", "matplotlib", "lookup_matmul.figures.axes", "lookup_matmul.figures.bits",
        "lookup_matmul.figures.pages", "lookup_matmul.figures.plots", "lookup_matmul.figures.points",
    },
}  # fmt: skip
# They are empty, or import a module when one of its names is first used.
SUBPACKAGES = ["diagnosis", "equality", "figures", "onehot", "sparse"]
UNLOADED |= {f"import lookup_matmul.{name}": {"lookup_matmul.*"} for name in SUBPACKAGES}
TYPE_ALIASES = {"Layer", "Rows"}  # which do not know their module


def run_python(code):
    """Run code in a new process next to the source of the package."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=SOURCE, capture_output=True, text=True, check=False
    )


def test_the_benchmark_and_figures_need_no_optional_package():
    """``costs`` and ``figures`` can be imported with torch and what torch installs."""
    completed = run_python(BLOCKED.format(names=NEEDLESS))
    assert (completed.returncode, completed.stderr) == (0, "")


@pytest.mark.parametrize("statement", UNLOADED)
def test_an_import_loads_no_other_module(statement):
    """A name of the package is imported with its own module and that module's imports."""
    completed = run_python(f"{statement}\nimport sys\nprint(*sys.modules)")
    loaded = completed.stdout.split()
    assert "lookup_matmul" in loaded, completed.stderr
    prefixes = tuple(name.removesuffix("*").rstrip(".") + "." for name in UNLOADED[statement])
    imported = {"lookup_matmul", statement.split()[1]}
    assert not [name for name in {*loaded} - imported if f"{name}.".startswith(prefixes)]


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
