"""The built site in a real browser, at phone and desktop width, light and dark."""

import re

import axe
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from served import ROOT

# Width in CSS pixels, scheme, and the least height of a drawing's type.
VIEWS = [(320, "light", 8.8), (390, "dark", 10.5), (1300, "light", 10.5), (1300, "dark", 10.5)]
SOURCES = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [path.relative_to(ROOT / "docs").with_suffix("").as_posix() for path in SOURCES]
PAGES += ["genindex", "search"]  # what Sphinx adds
# Formulas that the browser does not set as such: MathML gets a kind of box of its own.
UNSET_FORMULAS = """
return [...document.querySelectorAll('.math')].filter(formula => {
  const math = formula.querySelector('math');
  return !math || !getComputedStyle(math).display.includes('math') || math.querySelector('merror');
}).map(formula => formula.textContent);
"""
# Contrast of each text of a drawing against the page, by the formula of WCAG 2.2, and its size.
INSPECT_DRAWINGS = """
const rgb = css => css.match(/[\\d.]+/g).map(Number);
const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const luminance = colour => { const [r, g, b] = colour.map(channel); return 0.2126*r + 0.7152*g + 0.0722*b; };
const page = rgb(getComputedStyle(document.body).backgroundColor);
const paint = (ground, path) => {
  const style = getComputedStyle(path), alpha = style.opacity * style.fillOpacity;
  return rgb(style.fill).slice(0, 3).map((value, i) => alpha * value + (1 - alpha) * ground[i]);
};
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
return [...document.querySelectorAll('svg.drawing text')].map(text => {
  const style = getComputedStyle(text), ink = luminance(rgb(style.fill)), box = text.getBoundingClientRect();
  const x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
  const under = [...text.ownerSVGElement.querySelectorAll('path, rect')].filter(path => {
    const area = path.getBoundingClientRect(), fill = getComputedStyle(path).fill;
    return fill !== 'none' && path.compareDocumentPosition(text) & 4 && area.left < x && x < area.right && area.top < y && y < area.bottom;
  });
  const ground = luminance(under.reduce(paint, page));
  const scale = text.ownerSVGElement.getBoundingClientRect().width / text.ownerSVGElement.viewBox.baseVal.width;
  return {text: text.textContent, size: parseFloat(style.fontSize) * scale, contrast: contrast(ink, ground)};
});
"""


# Where the tab key stops and should not, does not and should, or meets something without a name.
INSPECT_STOPS = """
const frames = 'pre, div.math, .cell_output > .output, .pst-scrollable-table-container';
const faults = [];
for (const frame of document.querySelectorAll(frames)) {
  if (!frame.checkVisibility()) continue;
  const scrolls = frame.scrollWidth - frame.clientWidth > 1 && getComputedStyle(frame).overflowX !== 'visible';
  const told = frame.outerHTML.slice(0, 120);
  if (scrolls !== frame.tabIndex >= 0) faults.push(`${scrolls ? 'no stop' : 'a stop'}: ${told}`);
  if (scrolls && !(frame.role && frame.ariaLabel)) faults.push(`no name: ${told}`);
}
const stops = 'a[href], button, input, select, textarea, summary, [tabindex]';
const reached = [...document.querySelectorAll(stops)].filter(stop =>
  stop.tabIndex >= 0 && !stop.disabled && stop.checkVisibility({visibilityProperty: true}));
for (const stop of reached.filter(stop => stop.matches('.headerlink'))) faults.push(stop.outerHTML);
return {faults, outside: reached.filter(stop => !stop.closest('article')).length};
"""
# What an article may add to them: its links and controls, a button for each piece of code.
MOST_STOPS = 150  # outside of the article, for the longest sidebar and table of contents


def look(browser, address, name, width, theme):
    """Open a page as a reader with this window and this scheme does."""
    size = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 700}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    choice = f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
    script = {"source": choice}
    chosen = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", script)
    browser.get_log("browser")
    browser.get(f"{address}/{name}.html")
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", chosen)


@pytest.mark.parametrize(("width", "theme", "least"), VIEWS)
@pytest.mark.parametrize("name", PAGES)
def test_page_fits_and_can_be_read(browser, address, name, width, theme, least):
    """No sideways scrolling, no error, no foreign request; formulas set, drawings clear enough."""
    look(browser, address, name, width, theme)
    assert browser.execute_script("return document.documentElement.dataset.theme") == theme
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert not [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    loaded = browser.execute_script(
        "return performance.getEntriesByType('resource').map(e => e.name)"
    )
    assert loaded
    assert all(url.startswith((address, "data:")) for url in loaded)
    assert browser.execute_script(UNSET_FORMULAS) == []
    browser.execute_async_script(axe.DRAWN)
    stops = browser.execute_script(INSPECT_STOPS)
    assert not stops["faults"]
    assert stops["outside"] <= MOST_STOPS
    for text in browser.execute_script(INSPECT_DRAWINGS):
        assert text["size"] >= least, text
        assert text["contrast"] >= 4.5, text
    if (width, theme) == (1300, "dark"):  # the last look, since axe changes the page
        assert axe.findings(browser) == []


def test_a_check_opens_by_keyboard(browser, address):
    """A native element: the tab key reaches its line, and the return key opens it."""
    look(browser, address, "tutorials/lookup-is-matmul", 1300, "light")
    line = browser.find_element("css selector", "details.check > summary")
    browser.execute_script("arguments[0].focus()", line)
    assert browser.switch_to.active_element == line
    code = browser.find_element("css selector", "details.check .cell_input")
    assert not code.is_displayed()
    line.send_keys(Keys.RETURN)
    assert code.is_displayed()
    assert line.aria_role
    assert re.match("✓? ?(equal|holds|raises)", line.accessible_name), line.accessible_name


def test_the_first_stop_leads_past_the_sidebar(browser, address):
    """The tab key meets the skip link first; after the return key, the next stop is in the page."""
    look(browser, address, "tutorials/lookup-is-matmul", 1300, "light")
    ActionChains(browser).send_keys(Keys.TAB).perform()
    first = browser.switch_to.active_element
    WebDriverWait(browser, 2).until(lambda _: first.rect["y"] >= 0)  # it slides into view
    assert first.text == "Skip to main content"
    ActionChains(browser).send_keys(Keys.RETURN, Keys.TAB).perform()
    inside = "return document.querySelector('main').contains(document.activeElement)"
    assert browser.execute_script(inside)


def test_the_type_of_the_site_has_its_signs(browser, address):
    """Two typefaces set behind it make no difference to the width of a sign that it has."""
    look(browser, address, "index", 1300, "light")
    measure = """
      const [family, signs, done] = arguments;
      const pen = document.createElement('canvas').getContext('2d');
      const width = (sign, behind) => {
        pen.font = `100px '${family}', ${behind}`;
        return pen.measureText(sign).width;
      };
      document.fonts.load(`100px '${family}'`).then(() =>
        done([...signs].filter(sign => width(sign, 'monospace') !== width(sign, 'serif'))));
    """
    signs = "abcXYZ0129 ≡⋮×−–…→✓±²µ√∞“”’"
    assert browser.execute_async_script(measure, "Lookup Sans", signs) == []
    assert browser.execute_async_script(measure, "No such type", "abc") == ["a", "b", "c"]


@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_while_a_page_loads(browser, address, name):
    """The layout shift that Chromium counts is 0, when all comes from the network."""
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    look(browser, address, name, 390, "light")
    count = """
      const done = arguments[0];
      new PerformanceObserver(list => done(list.getEntries().map(shift =>
        [shift.value, ...shift.sources.map(source => source.node?.textContent.slice(0, 80))])))
        .observe({type: 'layout-shift', buffered: true});
      document.fonts.ready.then(() => setTimeout(() => done([]), 200));
    """
    try:
        assert browser.execute_async_script(count) == []
    finally:
        browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": False})
