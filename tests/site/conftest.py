"""Fixtures of the built site: its folder, its pages, its address, and a browser.

Without Chromium and its driver on the path, tests in the browser are skipped, but fail under CI.
"""

import os
import shutil

import pytest
from filelock import FileLock
from scratch import SPHINX, Copy
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from served import LANGUAGES, LONG, ROOT, SOURCES, serve, soup
from two_sites import BASE, PAGES

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
    "--force-prefers-reduced-motion",  # transitions end at once
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
    """Return every page in English, parsed, by its path."""
    translated = {site / folder for folder in LANGUAGES.values()}
    paths = sorted(p for p in site.rglob("*.html") if translated.isdisjoint(p.parents))
    return {path: soup(path) for path in paths}


@pytest.fixture(scope="session")
def pages(site, built):
    """Return every page with a source, parsed, by its name."""
    return {name: built[site / f"{name}.html"] for name in SOURCES}


@pytest.fixture(scope="session")
def address(site):
    """Serve the site and return its address."""
    with serve(site) as url:
        yield url


@pytest.fixture(scope="session")
def both_sites(tmp_path_factory):
    """Return the folders of a site with an address and of one without, by their addresses."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # the first worker builds for all
    root = folder / "both"
    published, plain = root / "build" / "html", root / "build" / "plain"
    with FileLock(folder / "both.lock"):
        if not root.exists():
            copy = Copy(root)
            for page, text in PAGES.items():
                copy.write(page, text, head="")
            copy.build("-D", f"html_baseurl={BASE}", "-A", "repository=owner/name")
            shutil.copytree(published, plain)
            build = copy.run(*SPHINX[:-1], str(plain))
            assert build.returncode == 0, build.stderr
    return {BASE: published, "": plain}


@pytest.fixture(scope="session")
def browser():
    """Start one Chromium for all tests and return its driver."""
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
    driver.command_executor.client_config.timeout = 2 * LONG  # of requests to the driver
    yield driver
    driver.quit()


@pytest.fixture
def emulate(browser):
    """Return a function that emulates a medium and a reader's preferences during a test."""

    def set_media(media="", **preferences):
        features = [
            {"name": name.replace("_", "-"), "value": value} for name, value in preferences.items()
        ]
        emulated = {"media": media, "features": features}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", emulated)

    yield set_media
    set_media()


@pytest.fixture
def without_scripts(browser):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    yield browser
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
