"""The paths of the project, a server for built pages, and what readers do in a browser."""

import runpy
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bs4 import BeautifulSoup
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LANGUAGES = runpy.run_path(str(DOCS / "conf.py"))["languages"]
SOURCES = {p.relative_to(DOCS).with_suffix("").as_posix(): p for p in sorted(DOCS.rglob("*.md"))}
LONG = 600  # seconds, a timeout that only a failure reaches
TWO_FRAMES = "requestAnimationFrame(() => requestAnimationFrame(arguments[arguments.length - 1]))"
ADD_SCRIPT = "Page.addScriptToEvaluateOnNewDocument"


class Handler(SimpleHTTPRequestHandler):
    """Serves pages and style sheets at once, and other files while the gate is open."""

    gate = threading.Event()
    gate.set()

    def do_GET(self):
        """Send a file; a request for ``/all-else`` opens the gate."""
        if self.path == "/all-else":
            self.gate.set()
        elif not self.path.partition("?")[0].endswith((".html", ".css")):
            self.gate.wait(LONG)
        super().do_GET()

    def log_message(self, *_arguments):
        """Log nothing."""


@contextmanager
def serve(folder, handler=Handler):
    """Serve a folder on the loopback device, and yield the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


ASK = """
const [texts, done] = arguments, form = document.querySelector('.search-form');
const list = document.querySelector('.search-found'), answers = {};
const ask = async () => {
  for (const text of texts) {
    form[0].value = text;
    form.requestSubmit();
    while (list.dataset.query !== form[0].value.trim()) await new Promise(next => setTimeout(next, 5));
    answers[text] = [...list.children].map(item => {
      const link = item.querySelector('a');
      return {link: link.getAttribute('href'), title: link.textContent, error: item.className === 'search-error'};
    });
  }
  done(answers);
};
ask();
"""


def soup(path):
    """Return a built page, parsed."""
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def find(parent, selector):
    """Return the first element within a page or an element that matches a selector."""
    return parent.find_element("css selector", selector)


def open_page(browser, address, name, width=1300, scheme="light", script=""):
    """Open a page in a window of this width, with the light or dark scheme, and run a script first."""
    resize(browser, width)
    source = f"{script}; localStorage.mode = localStorage.theme = '{scheme}'"
    added = browser.execute_cdp_cmd(ADD_SCRIPT, {"source": source})
    browser.get_log("browser")
    browser.get(f"{address}/{name}.html")
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def resize(browser, width):
    """Set the width of the window in CSS pixels; below 700 it is a phone's."""
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 700}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def wait_for_frames(browser):
    """Wait for two frames, after which observers of sizes have run."""
    browser.execute_async_script(TWO_FRAMES)


def wait(browser, expression, *arguments):
    """Wait until the value of a script's expression is true, and return it."""
    return WebDriverWait(browser, LONG).until(
        lambda driver: driver.execute_script(f"return {expression}", *arguments)
    )


def errors(browser):
    """Return the errors in the console, those of the content security policy included.

    A page opened as a file cannot preload its fonts, which is no error.
    """
    severe = [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]
    return [text for text in severe if not (text.startswith("file:") and "/face/" in text)]


def ask(browser, texts):
    """Ask each text, and return its results, the best first."""
    return browser.execute_async_script(ASK, list(texts))
