"""The tasks of the project: ``nox -l`` lists them, and ``nox`` alone runs those of CI."""

import os
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"  # nox.project.dependency_groups, Session.install of several
nox.options.sessions = ["lint", "docs", "tests"]
nox.options.reuse_venv = "yes"  # torch is large, so environments are updated

PYPROJECT = nox.project.load_toml("pyproject.toml")
NEWEST = PYPROJECT["project"]["dependencies"]
LOWEST = [requirement.replace(">=", "==") for requirement in NEWEST]
PARALLEL = ["-n", "logical", "--maxprocesses=4", "--dist=worksteal"]  # each imports torch
PASSIVE = {"OMP_WAIT_POLICY": "PASSIVE"}  # a worker's waiting threads leave the cores to others
PINNED = ["-c", "constraints.txt"]
SPHINX = ["sphinx-build", "--quiet", "-n", "-W", "--keep-going", "-d", "build/doctrees", "-b"]
SITE = [*SPHINX, "html", "docs", "build/html"]


def install(session: nox.Session, *groups: str) -> None:
    """Install the package in editable mode, and the groups with pinned versions."""
    requirements = nox.project.dependency_groups(PYPROJECT, *groups)
    session.install("-e", ".[figures,sharded]", *requirements, *PINNED)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site in all languages; ``-- tutorials/NAME`` builds a page into build/one/html."""
    install(session, "docs")
    session.run("python", "docs/_tools/build_site.py", *session.posargs)


@nox.session(name="new-page", venv_backend="none")
def new_page(session: nox.Session) -> None:
    """Write the draft of a tutorial page: ``-- "Title of the page"``."""
    session.run("python", "docs/_tools/new_page.py", *session.posargs)


@nox.session
def live(session: nox.Session) -> None:
    """Serve the site, rebuild it after every save, and reload the browser."""
    install(session, "docs", "live")
    session.run("sphinx-autobuild", "--open-browser", "--watch", "src", *SITE[1:], *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Build the site and run all tests; ``-- tests/package`` builds nothing and runs these."""
    install(session, "docs", "test")
    session.install("--no-deps", *nox.project.dependency_groups(PYPROJECT, "axe"), *PINNED)
    if not any(argument.startswith("tests/package") for argument in session.posargs):
        session.run("python", "docs/_tools/build_site.py")
    before = os.times()
    try:
        session.run("pytest", *PARALLEL, *session.posargs, env=PASSIVE)
    finally:
        cpu_seconds = sum(os.times()[2:4]) - sum(before[2:4])  # of child processes
        session.log(f"The tests took {cpu_seconds:.0f} s of CPU.")


@nox.session
def neighbours(session: nox.Session) -> None:
    """Try the package on models of transformers, adapters of peft, and exports in onnxruntime."""
    install(session, "neighbours", "test")
    # These libraries warn of themselves, and every model is made here, with random numbers.
    options = ["-W", "default", "tests/neighbours", *session.posargs]
    session.run("pytest", *PARALLEL, *options, env=PASSIVE | {"HF_HUB_OFFLINE": "1"})


@nox.session
def wheel(session: nox.Session) -> None:
    """Test the built wheel as users install it, and report which of its lines the tests run."""
    requirements = nox.project.dependency_groups(PYPROJECT, "docs", "test", "coverage")
    session.install(*requirements, *PINNED)
    folder = Path(session.create_tmp())
    for outdated in folder.glob("*.whl"):
        outdated.unlink()
    session.run("hatchling", "build", "-t", "wheel", "-d", str(folder))
    (path,) = folder.glob("*.whl")
    session.install(f"{path}[figures,sharded]", *PINNED)
    session.install("--force-reinstall", "--no-deps", str(path))  # where only its content is new
    coverage = ["--cov=lookup_matmul", "--cov-report=term-missing:skip-covered"]
    session.run("pytest", *PARALLEL, "tests/package", *coverage, *session.posargs, env=PASSIVE)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, types, spelling, imports, translations, workflows; ``-- --fix`` fixes some."""
    install(session, "docs", "test", "lint")
    session.run("ruff", "format", *([] if "--fix" in session.posargs else ["--diff"]))
    session.run("ruff", "check", *session.posargs)
    session.run("mypy")
    session.run("codespell")
    session.run("lint-imports", "--no-cache", "--no-logo", env={"PYTHONPATH": "docs"})
    session.run("python", "docs/_tools/lint_translations.py")
    session.run("zizmor", "--offline", "--no-progress", "--quiet", ".github")


@nox.session(python=["3.11", "3.12", "3.13"])
def versions(session: nox.Session) -> None:
    """Test the package with the lowest supported torch and SciPy, then with the newest."""
    requirements = nox.project.dependency_groups(PYPROJECT, "docs", "test")
    for versions in (LOWEST, NEWEST):
        session.install("--upgrade", "-e", ".[figures]", *requirements, *versions)
        session.run("pytest", *PARALLEL, "tests/package", *session.posargs, env=PASSIVE)


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def pythons(session: nox.Session) -> None:
    """Build the site, and so check every claim, with each Python that this machine has."""
    docs(session)


@nox.session
def newest(session: nox.Session) -> None:
    """Build the site, and so check every claim, with the newest torch or ``-- torch==2.14.1``."""
    install(session, "docs")
    session.install(*(session.posargs or ["--upgrade", "torch"]))
    session.run("python", "docs/_tools/build_site.py")


@nox.session
def wordings(session: nox.Session) -> None:
    """Record the error messages of the lowest and the pinned torch, or of ``-- 2.15.0``."""
    requirements = nox.project.dependency_groups(PYPROJECT, "docs")
    for versions in [[f"torch=={version}"] for version in session.posargs] or [LOWEST, PINNED]:
        session.install("-e", ".", *requirements, *versions)
        session.run("python", "docs/_tools/wordings.py")


@nox.session(venv_backend="none")
def crossings(session: nox.Session) -> None:
    """Record what other libraries do with a table: all, or ``-- NAME`` of docs/_tools/crossings."""
    session.run("python", "docs/_tools/record_crossing.py", *session.posargs)


@nox.session
def translate(session: nox.Session) -> None:
    """Update the catalogs in docs/locale; ``-- zh_CN tutorials/NAME`` starts that of a page."""
    install(session, "docs", "translate")
    session.run("python", "docs/_tools/translate.py", *session.posargs)


@nox.session
def linkcheck(session: nox.Session) -> None:
    """Follow every external link of the site; this needs a network, so CI leaves it out."""
    install(session, "docs")
    session.run(*SPHINX, "linkcheck", "docs", "build/linkcheck", *session.posargs)


@nox.session(venv_backend="none")
def sources(session: nox.Session) -> None:
    """List cited issues that were closed since they were read; ``-- --update`` keeps the states."""
    session.run("python", "docs/_tools/sources.py", *session.posargs)


@nox.session
def pins(session: nox.Session) -> None:
    """Complete constraints.txt from pyproject.toml; ``-- --upgrade`` refreshes every version."""
    session.install(*nox.project.dependency_groups(PYPROJECT, "pins"), *PINNED)
    files = ["pyproject.toml", "-o", "constraints.txt"]
    groups = [f"--group={name}" for name in PYPROJECT["dependency-groups"]]
    session.run("uv", "pip", "compile", *files, *groups, *session.posargs, silent=True)
