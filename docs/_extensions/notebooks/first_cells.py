"""The first cells of every notebook: its requirements, and the site's settings."""

from collections.abc import Iterable
from typing import Any

from _extensions.notebooks.cells import code_cell
from _extensions.run.requirements import find_requirements
from _extensions.run.settings import PRINTING, QUIET, XMODE

REQUIREMENTS = """\
# Requirements of this notebook{source}; what is installed already is kept.
from importlib.metadata import version
from importlib.util import find_spec

needed = {needed}
missing = [name for name in needed if find_spec(name) is None]
if missing:
{command}
elif (installed := version("lookup-matmul")) != "{release}":
    print(f"lookup-matmul {{installed}} is installed, and this notebook was made with {release}.")
    print("If a cell fails or its result differs, {remedy}")"""
INSTALL = """\
    # If the wheel is not found, download this notebook again: the site has a newer one.
    %pip install --quiet "lookup-matmul{extras} @ {wheel}"{distributions}"""
UPDATE = "run this and restart the kernel: %pip install --no-deps '{wheel}'"
REPLACE = """\
download {wheel} from the site's page Getting started;")
    print("in its folder, with the Python of this kernel, run this and restart the kernel:")
    print("python -m pip install --no-deps '{wheel}'"""
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


def make_first_cells(sources: Iterable[str], wheel: str, release: str) -> list[Any]:
    """Return both cells for a page with these sources.

    ``wheel`` is a URL or a file name, and ``release`` its version.
    """
    quiet = repr(QUIET).replace("'", '"')
    settings = SETTINGS.format(quiet=quiet, xmode=XMODE, lines=PRINTING)
    return [
        code_cell(write_requirements(list(sources), wheel, release), {}),
        code_cell(settings, {"jupyter": {"source_hidden": True}}),
    ]


def write_requirements(sources: list[str], wheel: str, release: str) -> str:
    """Return the code that installs the modules that a page imports, or says how to.

    Where the package is installed in another version, the code says so.
    """
    requirements = find_requirements(sources)
    is_url = "://" in wheel
    command = (INSTALL if is_url else EXPLAIN).format(
        extras=f"[{','.join(requirements.extras)}]" if requirements.extras else "",
        wheel=wheel,
        distributions="".join(f" {name}" for name in requirements.distributions),
    )
    return REQUIREMENTS.format(
        source=", from the site and the usual index" if is_url else "",
        needed=repr(requirements.modules).replace("'", '"'),
        command=command,
        release=release,
        remedy=(UPDATE if is_url else REPLACE).format(wheel=wheel),
    )
