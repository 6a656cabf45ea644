"""Every task of the project: ``nox -l`` lists them, a plain ``nox`` runs what CI runs."""

import sys
from pathlib import Path

import nox
from filelock import FileLock, Timeout  # comes with nox

nox.needs_version = ">=2025.2.9"  # nox.project.dependency_groups, Session.install of several
nox.options.sessions = ["lint", "docs", "tests"]
nox.options.reuse_venv = "yes"  # torch is large: an environment is updated, not made anew

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
AT_ONCE = ["-n", "logical", "--maxprocesses=4", "--dist=worksteal"]  # each holds torch
WAITING = {"OMP_WAIT_POLICY": "PASSIVE"}  # else threads of one worker keep others from the cores
CONSTRAINTS = ROOT / "constraints.txt"
SPHINX = ["sphinx-build", "--quiet", "-n", "-W", "--keep-going", "-d", "build/doctrees"]
HTML = ["-b", "html", "docs", "build/html"]

# Held to the end, since two at once would spoil each other's environments; a list needs none.
LOCK = FileLock(ROOT / ".nox" / "lock")
if not {"-l", "--list"} & set(sys.argv):
    Path(LOCK.lock_file).parent.mkdir(exist_ok=True)
    try:
        LOCK.acquire(timeout=0)
    except Timeout:
        print("Another nox is at work in this clone; waiting for it to end.", flush=True)
        LOCK.acquire()


def install(session: nox.Session, *groups: str) -> None:
    """Install the package for editing, with the pinned versions of the groups."""
    needs = nox.project.dependency_groups(PYPROJECT, *groups)
    session.install("-e", ".[figures,sharded,timings]", *needs, "-c", str(CONSTRAINTS))


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site into build/html; ``-- tutorials/NAME`` builds one page into build/one/html."""
    install(session, "docs")
    if session.posargs and not session.posargs[0].startswith("-"):
        page, *options = session.posargs
        if not Path("docs", f"{page}.md").exists():
            session.error(
                f"docs/{page}.md is not there; name a page as in `tutorials/what-it-costs`"
            )
        alone = [f"-Droot_doc={page}", f"-Dinclude_patterns={page}.md"]
        # Links to the other pages lead nowhere here.
        quiet = "-Dsuppress_warnings=ref,toc,myst.xref_missing,bibtex"
        tree, html = "build/one/doctrees", ["-b", "html", "docs", "build/one/html"]
        session.run(*SPHINX[:-1], tree, *alone, quiet, *options, *html)
        session.log("Links, terms and citations lead away from this page; they were not checked.")
    else:
        session.run(*SPHINX, *HTML, *session.posargs)


@nox.session(name="new-page", venv_backend="none")
def new_page(session: nox.Session) -> None:
    """Write a tutorial page that builds at once: ``-- "Title of the page"``."""
    session.run("python", "docs/_tools/new_page.py", *session.posargs)


@nox.session
def live(session: nox.Session) -> None:
    """Serve the site, rebuild it on every save and reload the browser."""
    install(session, "docs", "live")
    LOCK.release()  # it runs until it is stopped; its builds wait for others by themselves
    options = ["--watch", "src", "--open-browser", *session.posargs]
    session.run("sphinx-autobuild", *SPHINX[1:], *options, *HTML)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the unit tests, the doctests and the checks on the built site."""
    install(session, "docs", "test")
    axe = nox.project.dependency_groups(PYPROJECT, "axe")
    session.install("--no-deps", *axe, "-c", str(CONSTRAINTS))
    session.run(*SPHINX, *HTML)
    session.run("pytest", *AT_ONCE, *session.posargs, env=WAITING)


@nox.session
def doctest(session: nox.Session) -> None:
    """Run the examples in the docstrings only, and count them."""
    install(session, "test")
    session.run("pytest", "tests/package/test_doctests.py", *session.posargs)


@nox.session(venv_backend="none")
def anywhere(session: nox.Session) -> None:
    """Type README's commands in a fresh copy elsewhere; ``-- python3.13`` names other Pythons."""
    session.run("python", "tests/site/anywhere.py", *session.posargs)


@nox.session(python=["3.11", "3.12", "3.13"])
def versions(session: nox.Session) -> None:
    """Run the package's own tests with the lowest torch and SciPy it allows, then the newest."""
    newest = PYPROJECT["project"]["dependencies"]
    needs = nox.project.dependency_groups(PYPROJECT, "docs", "test")
    for bounds in ([bound.replace(">=", "==") for bound in newest], newest):
        session.install("--upgrade", "-e", ".[figures,timings]", *needs, *bounds)
        session.run("pytest", *AT_ONCE, "tests/package", *session.posargs, env=WAITING)


@nox.session
def drift(session: nox.Session) -> None:
    """Compare every page's outputs with those under ``-- torch==2.6.0``, or with a second run."""
    install(session, "docs")
    session.run("python", "docs/_tools/drift.py", "record", "build/drift/pinned.json")
    if session.posargs:
        session.install(*session.posargs)
    session.run("python", "docs/_tools/drift.py", "record", "build/drift/other.json")
    files = ["build/drift/pinned.json", "build/drift/other.json"]
    session.run("python", "docs/_tools/drift.py", "compare", *files)


@nox.session
def timings(session: nox.Session) -> None:
    """Record what each form costs on this machine; ``-- --quick`` tries it in under a minute."""
    install(session)
    session.run("python", "-m", "lookup_matmul.costs", *session.posargs)


@nox.session
def wordings(session: nox.Session) -> None:
    """Record how versions of torch word the errors of the symptom pages; ``-- 2.15.0`` names some.

    Without a name the lowest supported and the pinned one, one after the other in one environment.
    Most are builds for CUDA of several GB.
    """
    needs = PYPROJECT["project"]["dependencies"]
    lowest = next(need.partition(">=")[2] for need in needs if need.startswith("torch"))
    pins = CONSTRAINTS.read_text("utf-8").splitlines()
    pinned = next(pin.partition("==")[2] for pin in pins if pin.startswith("torch=="))
    for version in session.posargs or [f"{lowest}.0", pinned]:
        session.install("-e", ".", f"torch=={version}")
        session.run("python", "tests/site/wordings.py")


@nox.session
def torchrec(session: nox.Session) -> None:
    """Record what TorchRec gives for divided tables; a page shows and checks the file."""
    session.install("-e", ".[sharded]", "-c", str(CONSTRAINTS))
    needs = nox.project.dependency_groups(PYPROJECT, "torchrec")
    session.install("--no-deps", *needs, "-c", str(CONSTRAINTS))
    session.run("python", "-m", "lookup_matmul.sharded.torchrec_bags", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check formatting, mistakes, types, spelling, imports, workflows; ``-- --fix`` mends some."""
    install(session, "docs", "test", "lint")
    fix = "--fix" in session.posargs
    session.run("ruff", "format", *([] if fix else ["--diff"]))
    session.run("ruff", "check", *session.posargs)
    session.run("mypy")
    session.run("codespell")
    session.run("python", "docs/_tools/lint_pages.py")
    session.run("lint-imports", "--no-cache", "--no-logo")
    session.run("zizmor", "--offline", "--no-progress", "--quiet", ".github")


@nox.session
def linkcheck(session: nox.Session) -> None:
    """Follow every external link of the site; needs a network, so CI leaves it out."""
    install(session, "docs")
    session.run(*SPHINX, "-b", "linkcheck", "docs", "build/linkcheck", *session.posargs)


@nox.session(venv_backend="none")
def lighthouse(session: nox.Session) -> None:
    """Grade every page of the built site with Lighthouse; needs Node; ``-- index`` names one."""
    session.run("python", "docs/_tools/lighthouse.py", *session.posargs)


@nox.session
def pins(session: nox.Session) -> None:
    """Complete constraints.txt from pyproject.toml; ``-- --upgrade`` refreshes every version."""
    session.install(*nox.project.dependency_groups(PYPROJECT, "pins"), "-c", str(CONSTRAINTS))
    groups = [f"--group={name}" for name in PYPROJECT["dependency-groups"]]
    resolve = ["uv", "pip", "compile", "pyproject.toml", "--universal", "--all-extras", *groups]
    plain = ["--no-header", "--no-annotate", "--python-version=3.11"]
    session.run(*resolve, *plain, "-o", "constraints.txt", *session.posargs, silent=True)
