"""The built site in a real browser: on a phone, light and dark, and on a desk."""

import re

import axe
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from served import (
    SOURCES,
    DeferringHandler,
    errors,
    open_page,
    resize,
    serve,
    wait,
    wait_for_frames,
)

# For each scheme, widths in CSS pixels, each with the least height of a drawing's type.
VIEWS = {"light": {320: 8.8, 1300: 10.5}, "dark": {390: 10.5}}
PAGES = [*SOURCES, "genindex", "search"]  # the last two Sphinx adds
# What takes seconds a page is looked at on a page of each kind, all else on every page.
KINDS = [
    "index",
    "explorer",
    "search",
    "symptoms",
    "reference/figures",
    "tutorials/lookup-is-matmul",
    "tutorials/is-the-product-ever-faster",
]
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
const luminance = color => { const [r, g, b] = color.map(channel); return 0.2126*r + 0.7152*g + 0.0722*b; };
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


# Where the tab key stops and should not, does not and should, meets something without a name, or
# where a stop looks the same with the focus and without.
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
const line = (element, part) => {
  const style = getComputedStyle(element, part);
  return (style.outlineStyle === 'none' ? '' : style.outline) + style.boxShadow;
};
const lines = stop => [stop, stop.firstElementChild, stop.nextElementSibling].map(element =>
  element ? line(element) + line(element, '::after') : '').join();
for (const stop of reached) {
  const before = lines(stop);
  stop.focus({preventScroll: true});
  if (stop === document.activeElement && lines(stop) === before) faults.push(`no line: ${stop.outerHTML.slice(0, 120)}`);
}
return {faults, outside: reached.filter(stop => !stop.closest('article')).length};
"""
# What an article may add to them: its links and controls, a button for each piece of code.
MOST_STOPS = 150  # outside of the article, for the longest sidebar and table of contents


# What moves although nobody does anything: where each thing is once the page is painted and read to
# its end, and where it is when scripts, type and pictures have come too, which wait for the former.
NOTE_PLACES = """
window.first = new Map();
const begin = () => {
  if (document.readyState === 'loading' || !performance.getEntriesByType('paint').length) return;
  if (first.size) return;
  for (const element of document.body.querySelectorAll('*')) {
    if (element.checkVisibility({visibilityProperty: true})) first.set(element, element.getBoundingClientRect());
  }
  fetch('ALL-ELSE', {mode: 'no-cors'});
};
document.addEventListener('readystatechange', begin);
new PerformanceObserver(begin).observe({type: 'paint', buffered: true});
"""
MOVED = """
return [...first].filter(([element, was]) => {
  const is = element.getBoundingClientRect();
  return element.checkVisibility({visibilityProperty: true}) && Math.max(Math.abs(is.x - was.x), Math.abs(is.y - was.y)) > 1;
}).map(([element]) => element.outerHTML.slice(0, 80));
"""


@pytest.mark.parametrize("name", PAGES)
def test_page_fits_and_can_be_read(browser, address, name):
    """No sideways scrolling, no error, no foreign request; formulas set, drawings clear enough.

    Assistive technology can read it on a phone, and a page of each kind on a tablet and on a desk
    too, in both schemes.
    """
    for scheme, widths in VIEWS.items():
        open_page(browser, address, name, min(widths), scheme)
        assert browser.execute_script("return document.documentElement.dataset.theme") == scheme
        for width, least in widths.items():
            resize(browser, width)
            wait_for_frames(browser)
            view = f"{width} px, {scheme}"
            needed = browser.execute_script("return document.documentElement.scrollWidth")
            assert needed <= width, view
            assert browser.execute_script(UNSET_FORMULAS) == [], view
            stops = browser.execute_script(INSPECT_STOPS)
            assert not stops["faults"], view
            assert stops["outside"] <= MOST_STOPS
            for text in browser.execute_script(INSPECT_DRAWINGS):
                assert text["size"] >= least, (view, text)
                assert text["contrast"] >= 4.5, (view, text)
        assert not errors(browser), scheme
        loaded = browser.execute_script(
            "return performance.getEntriesByType('resource').map(e => e.name)"
        )
        assert loaded
        assert all(url.startswith((address, "data:")) for url in loaded)
    assert axe.findings(browser, [320, 768, 1440] if name in KINDS else [320]) == []


@pytest.mark.parametrize(
    ("width", "menu"), [(390, "primary"), (390, "secondary"), (768, "primary")]
)
def test_a_menu_gives_the_focus_back(browser, address, width, menu):
    """Opened by keyboard and closed by Escape, and then the tab key goes on from its button."""
    open_page(browser, address, "tutorials/lookup-is-matmul", width, "light")
    button = browser.find_element("css selector", f".{menu}-toggle")
    browser.execute_script("arguments[0].focus()", button)
    button.send_keys(Keys.RETURN)
    dialog = browser.find_element("id", f"pst-{menu}-sidebar-modal")
    wait(browser, "arguments[0].open && arguments[0].contains(document.activeElement)", dialog)
    ActionChains(browser).send_keys(Keys.ESCAPE).perform()
    wait(browser, "!arguments[0].open", dialog)
    assert browser.switch_to.active_element == button
    assert not errors(browser)


def test_a_page_is_used_by_keyboard(browser, address):
    """The first stop leads past the sidebar, and the return key opens a check, a native element."""
    open_page(browser, address, "tutorials/lookup-is-matmul", 1300, "light")
    ActionChains(browser).send_keys(Keys.TAB).perform()
    first = browser.switch_to.active_element
    wait(browser, "arguments[0].getBoundingClientRect().y >= 0", first)  # it comes into view
    assert first.text == "Skip to main content"
    ActionChains(browser).send_keys(Keys.RETURN, Keys.TAB).perform()
    inside = "return document.querySelector('main').contains(document.activeElement)"
    assert browser.execute_script(inside)
    line = browser.find_element("css selector", "details.check > summary")
    browser.execute_script("arguments[0].focus()", line)
    code = browser.find_element("css selector", "details.check .cell_input")
    assert not code.is_displayed()
    line.send_keys(Keys.RETURN)
    assert code.is_displayed()
    assert line.aria_role
    assert re.match("✓? ?(equal|holds|raises)", line.accessible_name), line.accessible_name


def test_the_type_of_the_site_has_its_signs(browser, address):
    """Two typefaces set behind it make no difference to the width of a sign that it has."""
    open_page(browser, address, "index", 1300, "light")
    # The page leaves out its type where that comes late; the same rules with another word wait.
    wait_for_it = """
      for (const sheet of document.styleSheets) for (const rule of [...sheet.cssRules])
        if (rule instanceof CSSFontFaceRule)
          sheet.insertRule(rule.cssText.replace('optional', 'block'), sheet.cssRules.length);
    """
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
    browser.execute_script(wait_for_it)
    assert browser.execute_async_script(measure, "Lookup Sans", signs) == []
    assert browser.execute_async_script(measure, "No such type", "abc") == ["a", "b", "c"]


@pytest.fixture(scope="module")
def late(site):
    """Give the address of a host that sends what is not needed for painting only afterwards."""
    with serve(site, DeferringHandler) as home:
        yield home


@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_while_a_page_loads(browser, late, name):
    """What is painted first stays where it is when scripts, type and pictures come."""
    DeferringHandler.gate.clear()
    # By another name of the host, for which the browser has connections that none of those holds.
    word = f"{late.replace('127.0.0.1', 'localhost')}/all-else"
    noted = {"source": NOTE_PLACES.replace("ALL-ELSE", word)}
    noting = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", noted)
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
    try:
        open_page(browser, late, name, 390, "light")
        browser.execute_async_script("document.fonts.ready.then(arguments[0])")
        wait(browser, "first.size > 30")  # a busy machine may paint after all has come
        wait_for_frames(browser)
        assert browser.execute_script(MOVED) == []
    finally:
        DeferringHandler.gate.set()
        browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": False})
        browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", noting)
