"""The site that was built, as its tests meet it: its folder, its address, a browser.

Tests in the browser are skipped where no Chromium with its driver is on the path, except under CI.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from served import ROOT, served

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
]


@pytest.fixture(scope="session")
def site() -> Path:
    """Give the folder of the built site."""
    html = ROOT / "build" / "html"
    if not (html / "index.html").exists():
        pytest.fail("build/html/index.html is missing: run `nox -s docs` first, or `nox -s tests`.")
    return html


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[str, BeautifulSoup]:
    """Give every built page that has a source, parsed, by its name."""
    sources = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    names = [path.with_suffix("").as_posix() for path in sources]
    return {n: BeautifulSoup((site / f"{n}.html").read_text("utf-8"), "html.parser") for n in names}


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Serve the site as a reader's browser would meet it."""
    with served(site) as home:
        yield home


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
    yield driver
    driver.quit()
