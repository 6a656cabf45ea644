"""What a reader needs to run the cells of a page, and which modules this environment adds."""

import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import distribution, packages_distributions
from importlib.util import find_spec
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from _extensions.page_record import find_imports

PACKAGE = "lookup_matmul"
DRAWINGS = "_figures"  # of single pages, which a reader lacks
HIDDEN = ["_extensions", "_tools", "conf"]  # that are beside the drawings
# Subpackages that need more than torch and SciPy: a module, which the extra of that name installs.
EXTRAS = {"figures": "matplotlib", "sharded": "cloudpickle"}


class Requirements(NamedTuple):
    """Modules that must be found, and the extras and distributions that install them."""

    modules: list[str]
    extras: list[str]
    distributions: list[str]


def find_requirements(sources: Iterable[str]) -> Requirements:
    """Return what cells with these sources require beside the standard library and Jupyter."""
    code = list(sources)
    imported = set().union(*map(find_imports, code))
    imported -= {*sys.stdlib_module_names, PACKAGE, DRAWINGS, *HIDDEN, "IPython", "myst_nb"}
    # A page that was built without a module only defines functions that import it.
    modules = {name for name in imported if find_spec(name)}
    extras = [extra for extra in EXTRAS if re.search(rf"\b_?{extra}\b", "\n".join(code))]
    bundled = ["torch", *(EXTRAS[extra] for extra in extras)]
    owners = (_distributions_by_module().get(name, [name])[0] for name in modules)
    return Requirements(
        modules=list(dict.fromkeys([PACKAGE, *bundled, *sorted(modules)])),
        extras=extras,
        distributions=sorted({*owners} - {*bundled, "scipy"}),
    )


@cache
def is_drawing(source: str) -> bool:
    """Return whether a cell draws with a module of the site, so that its notebook has a picture."""
    return DRAWINGS in find_imports(source)


def find_hidden_modules(sources: Iterable[str]) -> list[str]:
    """Return the installed modules that a reader lacks who has these requirements and Jupyter."""
    requirements = find_requirements(sources)
    package = f"lookup-matmul[{','.join(requirements.extras)}]"
    available = find_closure((package, "ipykernel", *requirements.distributions))
    return HIDDEN + sorted(
        name
        for name, owners in _distributions_by_module().items()
        # The kernel has a stand-in for MyST-NB.
        if name != "myst_nb" and available.isdisjoint(map(canonicalize_name, owners))
    )


@cache
def find_closure(requirements: tuple[str, ...]) -> set[str]:
    """Return the canonical names of distributions and of all that they require here."""
    pending = [*requirements]
    visited = set[str]()
    while pending:
        requirement = Requirement(pending.pop())
        if str(requirement) in visited:
            continue
        visited.add(str(requirement))
        for line in distribution(requirement.name).requires or []:
            marker = Requirement(line).marker
            if not marker or any(marker.evaluate({"extra": e}) for e in ("", *requirement.extras)):
                pending.append(line)
    return {canonicalize_name(Requirement(text).name) for text in visited}


@cache
def _distributions_by_module() -> dict[str, list[str]]:
    return dict(packages_distributions())
