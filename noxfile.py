"""Every task of the project: ``nox -l`` lists them, a plain ``nox`` runs what CI runs."""

import os

import nox

nox.needs_version = ">=2025.2.9"  # nox.project.dependency_groups, Session.install of several
nox.options.sessions = ["lint", "docs", "tests"]
nox.options.reuse_venv = "yes"  # torch is large: an environment is updated, not made anew

PYPROJECT = nox.project.load_toml("pyproject.toml")
NEWEST = PYPROJECT["project"]["dependencies"]
AT_ONCE = ["-n", "logical", "--maxprocesses=4", "--dist=worksteal"]  # each holds torch
WAITING = {"OMP_WAIT_POLICY": "PASSIVE"}  # else threads of one worker keep others from the cores
PINNED = ["-c", "constraints.txt"]
SPHINX = ["sphinx-build", "--quiet", "-n", "-W", "--keep-going", "-d", "build/doctrees", "-b"]
SITE = [*SPHINX, "html", "docs", "build/html"]
CHINESE = ["-d", "build/doctrees-zh", "-D", "language=zh_CN"]


def install(session: nox.Session, *groups: str) -> None:
    """Install the package for editing, with the pinned versions of the groups."""
    needs = nox.project.dependency_groups(PYPROJECT, *groups)
    session.install("-e", ".[figures,sharded]", *needs, *PINNED)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into build/html; ``-- tutorials/NAME`` builds one page into build/one/html."""
    install(session, "docs")
    if session.posargs and not session.posargs[0].startswith("-"):
        session.run("python", "docs/_tools/one_page.py", *session.posargs)
    else:
        both(session, *session.posargs)


def both(session: nox.Session, *options: str) -> None:
    """Build the site in English, then in Chinese, which executes nothing again."""
    session.run(*SITE, "-t", "bilingual", *options)
    session.run(*SITE[:-1], "build/html/zh", "-t", "bilingual", *CHINESE, *options)


@nox.session(name="new-page", venv_backend="none")
def new_page(session: nox.Session) -> None:
    """Write a tutorial page that builds at once: ``-- "Title of the page"``."""
    session.run("python", "docs/_tools/new_page.py", *session.posargs)


@nox.session
def live(session: nox.Session) -> None:
    """Serve the site, rebuild it on every save and reload the browser."""
    install(session, "docs", "live")
    autobuild = ["sphinx-autobuild", "--watch", "src", "--open-browser"]
    session.run(*autobuild, *SITE[1:], *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Build the site, then run all tests; ``-- tests/package`` runs the package's alone."""
    install(session, "docs", "test")
    axe = nox.project.dependency_groups(PYPROJECT, "axe")
    session.install("--no-deps", *axe, *PINNED)
    both(session)
    before = os.times()
    session.run("pytest", *AT_ONCE, *session.posargs, env=WAITING)
    spent = [now - then for now, then in zip(os.times(), before, strict=True)]
    session.log(f"The tests took {sum(spent[2:4]):.0f} s of CPU in {spent[4]:.0f} s.")


@nox.session
def doctest(session: nox.Session) -> None:
    """Run the examples in the docstrings only, and count them."""
    install(session, "test")
    session.run("pytest", "tests/package/test_doctests.py", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, types, spelling, imports, pages, workflows; ``-- --fix`` mends some."""
    install(session, "docs", "test", "lint")
    session.run("ruff", "format", *([] if "--fix" in session.posargs else ["--diff"]))
    session.run("ruff", "check", *session.posargs)
    session.run("mypy")
    session.run("codespell")
    session.run("lint-imports", "--no-cache", "--no-logo", env={"PYTHONPATH": "docs"})
    session.run("python", "docs/_tools/lint_pages.py")
    session.run("python", "docs/_tools/lint_translations.py")
    session.run("zizmor", "--offline", "--no-progress", "--quiet", ".github")


@nox.session(python=["3.11", "3.12", "3.13"])
def versions(session: nox.Session) -> None:
    """Test the package with the lowest torch and SciPy it allows, then with the newest."""
    needs = nox.project.dependency_groups(PYPROJECT, "docs", "test")
    for bounds in ([bound.replace(">=", "==") for bound in NEWEST], NEWEST):
        session.install("--upgrade", "-e", ".[figures]", *needs, *bounds)
        session.run("pytest", *AT_ONCE, "tests/package", *session.posargs, env=WAITING)


@nox.session
def drift(session: nox.Session) -> None:
    """Compare every page's outputs with those under ``-- torch==2.6.0``, or with a second run."""
    install(session, "docs")
    pinned, other = "build/drift/pinned.json", "build/drift/other.json"
    session.run("python", "docs/_tools/drift.py", "record", pinned)
    if session.posargs:
        session.install(*session.posargs)
    session.run("python", "docs/_tools/drift.py", "record", other)
    session.run("python", "docs/_tools/drift.py", "compare", pinned, other)


@nox.session
def timings(session: nox.Session) -> None:
    """Record what each form costs on this machine; ``-- --quick`` tries it in under a minute."""
    session.install("-e", ".", *PINNED)
    folder = ["--out", "build/recordings"]
    session.run("python", "-m", "lookup_matmul.costs", *folder, *session.posargs)


@nox.session
def wordings(session: nox.Session) -> None:
    """Record how the lowest and the pinned torch, or ``-- 2.15.0``, word the symptoms' errors."""
    lowest = [need.replace(">=", "==") for need in NEWEST if need.startswith("torch")]
    asked = [[f"torch=={version}"] for version in session.posargs]
    for versions in asked or [lowest, PINNED]:
        session.install("-e", ".", *versions)
        session.run("python", "docs/_tools/wordings.py")


@nox.session
def translate(session: nox.Session) -> None:
    """Update the catalogs in docs/locale; ``-- tutorials/NAME`` begins a page's translation."""
    install(session, "docs", "translate")
    session.run("python", "docs/_tools/translate.py", *session.posargs)


@nox.session
def linkcheck(session: nox.Session) -> None:
    """Follow every external link of the site; needs a network, so CI leaves it out."""
    install(session, "docs")
    session.run(*SPHINX, "linkcheck", "docs", "build/linkcheck", *session.posargs)


@nox.session
def pins(session: nox.Session) -> None:
    """Complete constraints.txt from pyproject.toml; ``-- --upgrade`` refreshes every version."""
    session.install(*nox.project.dependency_groups(PYPROJECT, "pins"), *PINNED)
    groups = [f"--group={name}" for name in PYPROJECT["dependency-groups"]]
    plain = ["--no-header", "--no-annotate", "--python-version=3.11", "-o", "constraints.txt"]
    resolve = ["uv", "pip", "compile", "pyproject.toml", "--universal", "--all-extras"]
    session.run(*resolve, *groups, *plain, *session.posargs, silent=True)
