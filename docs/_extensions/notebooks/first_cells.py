"""The cells with which every notebook begins: what it needs, and the settings of the page."""

import ast
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata, packages_distributions, requires
from typing import Any

from nbformat import v4 as nbformat_v4
from packaging.requirements import Requirement

from _extensions.claims.cells import parsed
from _extensions.run.kernel import PRINTING, QUIET, XMODE

v4: Any = nbformat_v4  # its functions have no types
PACKAGE = "lookup_matmul"
# The parts of the package that need more than torch and SciPy: what, and the extra that has it.
PARTS = {
    "figures": ("matplotlib", "figures"),
    "sharded": ("cloudpickle", "sharded"),
}
NEEDS = """\
# What this notebook needs{where}; nothing is installed that is there already.
from importlib.util import find_spec

needed = {needed}
missing = [name for name in needed if find_spec(name) is None]
if missing:
{command}"""
FROM_THE_SITE = """\
    %pip install --quiet "lookup-matmul{wanted} @ {wheel}"{besides}"""
FROM_A_FILE = """\
    raise ModuleNotFoundError(
        f"This notebook needs {{', '.join(missing)}}. The site's page Getting started offers "
        "{wheel}; in its folder, with the Python of this kernel, run: "
        "python -m pip install '{wheel}{wanted}'{besides}"
    )"""
SETTINGS = """\
# The settings of the page: tensors that fit a phone, and errors without a machine's paths.
import os

os.environ.update({quiet})  # torch would complain of a missing GPU
get_ipython().InteractiveTB.set_mode(mode="{xmode}")
{lines}"""


def first_cells(sources: Iterable[str], wheel: str) -> list[Any]:
    """Return both cells for what a notebook imports; of the wheel there may be the name alone."""
    return [
        v4.new_code_cell(needs(list(sources), wheel)),
        v4.new_code_cell(settings(), metadata={"jupyter": {"source_hidden": True}}),
    ]


def needs(sources: list[str], wheel: str) -> str:
    """Write the cell that installs what is missing of what a page imports, torch too."""
    modules = {name for source in sources for name in imported(source)}
    modules -= {*sys.stdlib_module_names, PACKAGE, "IPython", "myst_nb"}
    used = [more for part, more in PARTS.items() if re.search(rf"\b{part}\b", "\n".join(sources))]
    brought = installed(["", *(extra for _, extra in used)])
    names = sorted(set(map(distribution, modules)) - brought)
    besides = "".join(f" {name}" for name in names)
    needed = list(dict.fromkeys([PACKAGE, "torch", *(name for name, _ in used), *sorted(modules)]))
    wanted = f"[{','.join(extra for _, extra in used)}]" if used else ""
    published = "://" in wheel
    command = FROM_THE_SITE if published else FROM_A_FILE
    return NEEDS.format(
        where=", from the site and the usual index" if published else "",
        needed=repr(needed).replace("'", '"'),
        command=command.format(wanted=wanted, wheel=wheel, besides=besides),
    )


@cache
def distribution(module: str) -> str:
    """Return the name under which a module is installed."""
    try:
        return metadata(module)["Name"]
    except PackageNotFoundError:
        return packages_distributions()[module][0]  # it reads every installed file's name


def installed(extras: list[str]) -> set[str]:
    """Return what comes with the package and these of its extras; "" is the package alone."""
    needed = map(Requirement, requires("lookup-matmul") or [])
    return {
        need.name
        for need in needed
        if not need.marker or any(need.marker.evaluate({"extra": extra}) for extra in extras)
    }


def settings() -> str:
    """Write the cell that sets what the pages' kernels are started with."""
    quiet = repr(QUIET).replace("'", '"')
    return SETTINGS.format(quiet=quiet, xmode=XMODE, lines=PRINTING)


def imported(source: str) -> set[str]:
    """Return the first part of the name of each module that a cell imports."""
    found = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
