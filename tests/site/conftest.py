"""The site that was built, as its tests meet it: its folder, its address, a browser.

Tests in the browser are skipped where no Chromium with its driver is on the path, except under CI.
"""

import os
import runpy
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from filelock import FileLock
from language.frame import FOLDER
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from served import LONG, ROOT, served
from two_sites import build_both

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--force-prefers-reduced-motion",  # what changes has changed at once
]


@pytest.fixture(scope="session")
def site() -> Path:
    """Return the folder of the built site."""
    html = ROOT / "build" / "html"
    if not (html / "index.html").exists():
        pytest.fail("build/html/index.html is missing: run `nox -s docs` first, or `nox -s tests`.")
    return html


@pytest.fixture(scope="session")
def built(site: Path) -> dict[Path, BeautifulSoup]:
    """Return every page of the site, with a source or without, parsed, by its path."""
    moved = runpy.run_path(str(ROOT / "docs" / "conf.py"))["redirects"]
    paths = {*site.rglob("*.html")} - {site / f"{old}.html" for old in moved}
    paths -= {*(site / FOLDER).rglob("*.html")}  # the second language has tests of its own
    texts = {path: path.read_text("utf-8") for path in sorted(paths)}
    return {path: BeautifulSoup(text, "html.parser") for path, text in texts.items()}


@pytest.fixture(scope="session")
def pages(site: Path, built: dict[Path, BeautifulSoup]) -> dict[str, BeautifulSoup]:
    """Return every built page that has a source, parsed, by its name."""
    sources = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    names = [path.with_suffix("").as_posix() for path in sources]
    return {name: built[site / f"{name}.html"] for name in names}


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the site as a reader's browser would meet it."""
    with served(site) as home:
        yield home


@pytest.fixture(scope="session")
def both_sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of two built sites, one with an address and one without, by that."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which workers share: the first one builds
    with FileLock(folder / "both.lock"):
        return build_both(folder / "both")


@pytest.fixture(scope="session")
def browser() -> Iterator[webdriver.Chrome]:
    """Start one Chromium for all tests."""
    if not (CHROMIUM and DRIVER):
        reason = "no chromium and chromedriver on the path"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_script_timeout(LONG)
    driver.set_page_load_timeout(LONG)
    driver.command_executor.client_config.timeout = 2 * LONG  # for the driver's own answers
    yield driver
    driver.quit()
