"""The site that was built, as its tests meet it: its folder, its address, a browser.

Tests in the browser are skipped where no Chromium with its driver is on the path, except under CI.
"""

import os
import shutil

import pytest
from _extensions.paths import SECOND_LANGUAGE
from filelock import FileLock
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from served import LONG, ROOT, SOURCES, served, soup
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
def site():
    """Return the folder of the built site."""
    html = ROOT / "build" / "html"
    if not (html / "index.html").exists():
        pytest.fail("build/html/index.html is missing: run `nox -s docs` first, or `nox -s tests`.")
    return html


@pytest.fixture(scope="session")
def built(site):
    """Return every page of the site, with a source or without, parsed, by its path."""
    paths = {*site.rglob("*.html")}
    paths -= {*(site / SECOND_LANGUAGE).rglob("*.html")}  # the second language has tests of its own
    return {path: soup(path) for path in sorted(paths)}


@pytest.fixture(scope="session")
def pages(site, built):
    """Return every built page that has a source, parsed, by its name."""
    return {name: built[site / f"{name}.html"] for name in SOURCES}


@pytest.fixture(scope="session")
def address(site):
    """Serve the site as a reader's browser would meet it."""
    with served(site) as home:
        yield home


@pytest.fixture(scope="session")
def both_sites(tmp_path_factory):
    """Return the folders of two built sites, one with an address and one without, by that."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which workers share: the first one builds
    with FileLock(folder / "both.lock"):
        return build_both(folder / "both")


@pytest.fixture(scope="session")
def browser():
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


@pytest.fixture
def without_scripts(browser):
    """Let no script run."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    yield browser
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
