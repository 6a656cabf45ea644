"""Where the project and its pages lie, a server for built ones, and a reader's look at one."""

import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bs4 import BeautifulSoup
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCES = {p.relative_to(DOCS).with_suffix("").as_posix(): p for p in sorted(DOCS.rglob("*.md"))}
LONG = 600  # seconds: no test waits so long, unless what it waits for never comes
DRAWN = "requestAnimationFrame(() => requestAnimationFrame(arguments[arguments.length - 1]))"


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line for each request."""

    def log_message(self, *_arguments):
        """Say nothing."""


class Late(Quiet):
    """Sends pages and style sheets, and all else once ``/all-else`` has been asked for."""

    gate = threading.Event()

    def do_GET(self):
        """Send a file."""
        if self.path == "/all-else":
            self.gate.set()
        elif not self.path.partition("?")[0].endswith((".html", ".css")):
            self.gate.wait(LONG)
        super().do_GET()


@contextmanager
def served(folder, handler=Quiet):
    """Serve a folder on the loopback device meanwhile, and yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def soup(path):
    """Return a built page, parsed."""
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def look(browser, address, name, width, scheme):
    """Open a page as a reader with this window and this scheme does."""
    resize(browser, width)
    source = f"localStorage.setItem('mode', '{scheme}'); localStorage.setItem('theme', '{scheme}')"
    add = "Page.addScriptToEvaluateOnNewDocument"
    chosen = browser.execute_cdp_cmd(add, {"source": source})
    browser.get_log("browser")
    browser.get(f"{address}/{name}.html")
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", chosen)


def resize(browser, width):
    """Give the window a width in CSS pixels; up to 700 it is a phone's."""
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 700}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def redrawn(browser):
    """Wait for two frames, after which what watches sizes has seen the new ones."""
    browser.execute_async_script(DRAWN)


def wait(browser, what, *arguments):
    """Wait until a script's value is true, and return it."""
    return WebDriverWait(browser, LONG).until(
        lambda driver: driver.execute_script(f"return {what}", *arguments)
    )


def errors(browser):
    """Return what the console says of errors and of the policy.

    A page with an address asks for its type ahead, which a browser refuses to one opened as a file.
    """
    severe = [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]
    return [text for text in severe if not (text.startswith("file:") and "/face/" in text)]
