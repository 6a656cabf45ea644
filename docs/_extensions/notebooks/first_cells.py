"""The first cells of every notebook: install its requirements, apply the site's settings."""

import ast
import re
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from _extensions.claims.cells import parse_cell
from _extensions.notebooks.cells import code_cell
from _extensions.run.settings import PRINTING, QUIET, XMODE

PACKAGE = "lookup_matmul"
# Subpackages that need more than torch and SciPy: a module, which the extra of that name installs.
EXTRAS = {"figures": "matplotlib", "sharded": "cloudpickle"}
DISTRIBUTIONS = {"sklearn": "scikit-learn"}  # of modules with a name of their own
REQUIREMENTS = """\
# Requirements of this notebook{source}; what is installed already is kept.
from importlib.util import find_spec

needed = {needed}
missing = [name for name in needed if find_spec(name) is None]
if missing:
{command}"""
INSTALL = """\
    %pip install --quiet "lookup-matmul{extras} @ {wheel}"{distributions}"""
EXPLAIN = """\
    raise ModuleNotFoundError(
        f"This notebook needs {{', '.join(missing)}}. The site's page Getting started offers "
        "{wheel}; in its folder, with the Python of this kernel, run: "
        "python -m pip install '{wheel}{extras}'{distributions}"
    )"""
SETTINGS = '''\
# Settings of the page: tensors fit a phone, and errors show no paths of a machine.
import os

os.environ.update({quiet})  # torch would complain of a missing GPU
get_ipython().InteractiveTB.set_mode(mode="{xmode}")
{lines}

def glue(name, value, display=True):
    """Do nothing: the text of this notebook has the values already."""'''


def make_first_cells(sources: Iterable[str], wheel: str) -> list[Any]:
    """Return both cells for a page with these sources; ``wheel`` is a URL or a file name."""
    quiet = repr(QUIET).replace("'", '"')
    settings = SETTINGS.format(quiet=quiet, xmode=XMODE, lines=PRINTING)
    return [
        code_cell(write_requirements(list(sources), wheel), {}),
        code_cell(settings, {"jupyter": {"source_hidden": True}}),
    ]


def write_requirements(sources: list[str], wheel: str) -> str:
    """Return the code that installs the modules that a page imports, or says how to."""
    modules = {name for source in sources for name in find_imports(source)}
    modules -= {*sys.stdlib_module_names, PACKAGE, "IPython", "myst_nb"}
    # A page that was built without a module only defines functions that import it.
    modules = {name for name in modules if find_spec(name)}
    code = "\n".join(sources)
    extras = [extra for extra in EXTRAS if re.search(rf"\b{extra}\b", code)]
    bundled = ["torch", *(EXTRAS[extra] for extra in extras)]
    needed = [PACKAGE, *bundled, *sorted(modules)]
    distributions = {DISTRIBUTIONS.get(name, name) for name in modules - {*bundled, "scipy"}}
    is_url = "://" in wheel
    command = (INSTALL if is_url else EXPLAIN).format(
        extras=f"[{','.join(extras)}]" if extras else "",
        wheel=wheel,
        distributions="".join(f" {name}" for name in sorted(distributions)),
    )
    return REQUIREMENTS.format(
        source=", from the site and the usual index" if is_url else "",
        needed=repr(list(dict.fromkeys(needed))).replace("'", '"'),
        command=command,
    )


def find_imports(source: str) -> set[str]:
    """Return the top-level name of each module that a cell imports."""
    modules = set()
    for node in ast.walk(parse_cell(source)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.partition(".")[0])
    return modules
