"""The built site in a real browser, at phone and desktop width, light and dark.

Skipped where no Chromium with its driver is on the path, except under CI.
"""

import os
import shutil
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
WIDTHS = {"phone": 390, "desktop": 1300}
PAGES = [
    "index",
    "tutorials/lookup-is-matmul",
    "tutorials/where-equality-stops",
    "tutorials/two-layers-one-table",
    "tutorials/backward-is-scatter-add",
    "tutorials/gradient-of-the-choice",
    "tutorials/sparse-row-is-a-sum",
    "tutorials/csr-is-an-embedding-bag",
    "tutorials/text-both-ways",
    "tutorials/categories-in-tables",
    "tutorials/what-it-costs",
    "tutorials/on-a-gpu",
    "tutorials/who-uses-one-hot",
    "tutorials/how-we-measure",
    "corrections",
    "symptoms",
    "reference",
    "bibliography",
    "build",
]
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
# Contrast of each text of a drawing against the page, by the formula of WCAG 2.2, and its size.
INSPECT_DRAWINGS = """
const rgb = css => css.match(/[\\d.]+/g).map(Number);
const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const luminance = css => { const [r, g, b] = rgb(css).map(channel); return 0.2126*r + 0.7152*g + 0.0722*b; };
const page = luminance(getComputedStyle(document.body).backgroundColor);
const probe = document.createElement('i'); document.body.append(probe);
probe.style.color = getComputedStyle(document.documentElement).getPropertyValue('--figure-pick');
const pick = luminance(getComputedStyle(probe).color);
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
return [...document.querySelectorAll('svg.drawing text')].map(text => {
  const style = getComputedStyle(text), ink = luminance(style.fill);
  const inside = style.fontWeight >= 600 && text.textContent.match(/^-?\\d/);
  const scale = text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width;
  return {text: text.textContent, size: parseFloat(style.fontSize) * scale, contrast: contrast(ink, inside ? pick : page)};
});
"""


@pytest.fixture(scope="module")
def browser():
    """Start one Chromium for all pages."""
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


class Quiet(SimpleHTTPRequestHandler):
    """Serve files without a line for each request."""

    def log_message(self, *_arguments):
        """Say nothing."""


@pytest.fixture(scope="module")
def address(site):
    """Serve the site on the loopback device, as a reader's browser would meet it."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(params=WIDTHS)
def width(request, browser):
    """Set the width of the window in CSS pixels."""
    size = {"width": WIDTHS[request.param], "height": 844, "deviceScaleFactor": 1}
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", size | {"mobile": request.param == "phone"}
    )
    return WIDTHS[request.param]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_page_fits_and_can_be_read(browser, address, width, name, theme):
    """No sideways scrolling, no error, no foreign request, and drawings large and clear enough."""
    browser.get(f"{address}/{name}.html")
    browser.execute_script(
        f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
    )
    browser.get_log("browser")
    browser.get(f"{address}/{name}.html")
    assert browser.execute_script("return document.documentElement.dataset.theme") == theme
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert loaded
    assert all(url.startswith((address, "data:")) for url in loaded)
    for text in browser.execute_script(INSPECT_DRAWINGS):
        assert text["size"] >= 10.5, text
        assert text["contrast"] >= 4.5, text


@pytest.mark.usefixtures("width")
def test_math_is_set(browser, address):
    """MathJax, which comes with the site, has turned every formula into type."""
    browser.get(f"{address}/tutorials/lookup-is-matmul.html")
    formulas = len(browser.find_elements("css selector", ".math"))
    ready = "MathJax.startup.promise.then(() => arguments[0](document.querySelectorAll('mjx-container').length))"
    assert browser.execute_async_script(ready) == formulas > 10
