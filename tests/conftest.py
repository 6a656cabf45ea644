"""What several test files share: the devices at hand, one thread, the built site and a browser.

Tests in the browser are skipped where no Chromium with its driver is on the path, except under CI.
"""

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch
from bs4 import BeautifulSoup
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ROOT = Path(__file__).parent.parent
BUILDING = {"browser", "copy", "pages", "scratch", "site"}  # fixtures that build a site or need one
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
LOWEST = torch.__version__.startswith("2.6.")  # supported; what it cannot do its tests say
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the tools of the site, so that ``-m "not site"`` leaves the package's tests."""
    for item in items:
        if BUILDING & set(getattr(item, "fixturenames", ())):
            item.add_marker("site")


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Run the test on every device of this machine."""
    return str(request.param)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Compute with one thread: on tables of a few rows, several mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


class Quiet(SimpleHTTPRequestHandler):
    """Serve files without a line for each request."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


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


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback device meanwhile, and give the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


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
