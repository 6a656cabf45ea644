"""The built site in a browser: widths, color schemes, accessibility, keyboard, layout shifts."""

import re

import axe
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from served import SOURCES, Handler, errors, find, open_page, resize, wait, wait_for_frames

# For each width in CSS pixels a scheme and the smallest font size in figures.
VIEWS = {1300: ("light", 10.5), 390: ("dark", 10.5), 320: ("light", 8.8)}
PAGES = [*SOURCES, "search"]
# One page of each kind, for tests that take seconds per page.
KINDS = ["index", "explorer", "search", "symptoms", "reference/figures"]
KINDS += ["tutorials/lookup-is-matmul", "tutorials/is-the-product-ever-faster"]
EXPLORERS = ["explorer", "tutorials/lookup-is-matmul", "tutorials/sparse-row-is-a-sum"]
SCRIPTED = ["text-both-ways", "where-does-the-memory-go", "where-equality-stops"]
SCRIPTED += ["backward-is-scatter-add", "sparse-row-is-a-sum", "inside-a-language-model"]
PLACES = [(name, 390) for name in (*KINDS, *(f"tutorials/{name}" for name in SCRIPTED))]
PLACES += [(name, width) for name in EXPLORERS for width in (320, 768, 1440)]
# Formulas without the layout of MathML.
UNRENDERED_FORMULAS = """
return [...document.querySelectorAll('.math')].filter(formula => {
  const math = formula.querySelector('math');
  return !math || !getComputedStyle(math).display.includes('math') || math.querySelector('merror');
}).map(formula => formula.textContent);
"""
# Size of each text of a figure, and its contrast by the formula of WCAG 2.2.
FIGURE_TEXTS = """
const rgb = css => css.match(/[\\d.]+/g).map(Number);
const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const luminance = color => { const [r, g, b] = color.map(channel); return 0.2126*r + 0.7152*g + 0.0722*b; };
const page = rgb(getComputedStyle(document.body).backgroundColor);
const paint = (ground, path) => {
  const style = getComputedStyle(path), alpha = style.opacity * style.fillOpacity;
  return rgb(style.fill).slice(0, 3).map((value, i) => alpha * value + (1 - alpha) * ground[i]);
};
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
const shown = [...document.querySelectorAll('svg.drawing text')].filter(text => text.checkVisibility());
return shown.map(text => {
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


# Superfluous and missing stops of the tab key, stops without a name, and stops that look the same
# with the focus and without.
TAB_STOPS = """
const frames = 'pre, div.math, .cell_output > .output, .pst-scrollable-table-container';
const faults = [];
for (const frame of document.querySelectorAll(frames)) {
  if (!frame.checkVisibility()) continue;
  const scrolls = frame.scrollWidth - frame.clientWidth > 1 && getComputedStyle(frame).overflowX !== 'visible';
  const html = frame.outerHTML.slice(0, 120);
  if (scrolls !== frame.tabIndex >= 0) faults.push(`${scrolls ? 'no stop' : 'a stop'}: ${html}`);
  if (scrolls && !(frame.role && frame.ariaLabel)) faults.push(`no name: ${html}`);
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
MAX_STOPS = 150  # outside of the article: the sidebar and the list of contents


# Stores the position of each element once the page is parsed and painted, except in the sidebar, which
# is scrolled to the page; only then asks the server for ALL-ELSE, which releases scripts, fonts and
# images.
STORE_POSITIONS = """
window.first = new Map();
const begin = () => {
  if (document.readyState === 'loading' || !performance.getEntriesByType('paint').length) return;
  if (first.size) return;
  for (const element of document.querySelectorAll('body :not(.bd-sidebar-primary *)')) {
    if (element.checkVisibility({visibilityProperty: true})) first.set(element, element.getBoundingClientRect());
  }
  fetch('ALL-ELSE', {mode: 'no-cors'});
};
document.addEventListener('readystatechange', begin);
new PerformanceObserver(begin).observe({type: 'paint', buffered: true});
"""
MOVED_ELEMENTS = """
return [...first].filter(([element, was]) => {
  const is = element.getBoundingClientRect();
  return element.checkVisibility({visibilityProperty: true}) && Math.max(Math.abs(is.x - was.x), Math.abs(is.y - was.y)) > 1;
}).map(([element]) => element.outerHTML.slice(0, 80));
"""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_and_is_accessible(browser, address, name):
    """It never scrolls sideways, logs errors or loads from other hosts; figures are legible.

    Widths between those of a phone and of a desktop are tested on one page of each kind.
    """
    open_page(browser, address, name, 320)
    for width, (scheme, min_size) in VIEWS.items():
        resize(browser, width)
        browser.execute_script(axe.SET_SCHEME, scheme)
        wait_for_frames(browser)
        content = browser.execute_script("return document.documentElement.scrollWidth")
        assert content <= width
        for text in browser.execute_script(FIGURE_TEXTS):
            assert text["size"] >= min_size, (width, text)
            assert text["contrast"] >= 4.5, (scheme, text)
        if scheme == "light":
            stops = browser.execute_script(TAB_STOPS)
            assert not stops["faults"], width
            assert stops["outside"] <= MAX_STOPS
    assert browser.execute_script(UNRENDERED_FORMULAS) == []
    assert not errors(browser)
    names = "return performance.getEntriesByType('resource').map(e => e.name)"
    loaded = browser.execute_script(names)
    assert loaded
    assert all(url.startswith((address, "data:")) for url in loaded)
    axe.load(browser)
    findings = [*axe.contrast(browser), *axe.structure(browser)]
    findings += axe.structure(browser, is_open=False, only_size=True)  # they are closest then
    for width in (320, 768, 1440) if name in KINDS else ():
        resize(browser, width)
        findings += axe.structure(browser, checks_size=width != 768)
        findings += axe.structure(browser, is_open=False)
    assert findings == []


@pytest.mark.parametrize(
    ("width", "menu"), [(390, "primary"), (390, "secondary"), (768, "primary")]
)
def test_a_menu_gives_the_focus_back(browser, address, width, menu):
    """Opened by keyboard and closed by Escape or its button, it returns the focus."""
    open_page(browser, address, "tutorials/lookup-is-matmul", width)
    button, dialog = find(browser, f".{menu}-toggle"), find(browser, f"#pst-{menu}-sidebar-modal")
    for selector in [None, ".close-menu button"][: 1 + (menu == "primary")]:
        browser.execute_script("arguments[0].focus()", button)
        button.send_keys(Keys.RETURN)
        wait(browser, "arguments[0].open && arguments[0].contains(document.activeElement)", dialog)
        if selector:
            find(dialog, selector).click()
        else:
            ActionChains(browser).send_keys(Keys.ESCAPE).perform()
        wait(browser, "!arguments[0].open", dialog)
        assert browser.switch_to.active_element == button
    assert not errors(browser)


def test_a_table_scrolls_on_a_phone_and_the_search_fills_a_window(browser, address):
    """A cell is not broken into lines of one word; results do not move the footer into view."""
    open_page(browser, address, "tutorials/on-many-machines", 390)
    assert find(browser, "table td").size["width"] > 130
    open_page(browser, address, "search")
    footer = find(browser, "footer.bd-footer-content")
    assert footer.location["y"] >= browser.execute_script("return innerHeight")


def test_a_page_is_used_by_keyboard(browser, address):
    """The first stop skips the sidebar, and the return key opens a check."""
    open_page(browser, address, "tutorials/lookup-is-matmul")
    ActionChains(browser).send_keys(Keys.TAB).perform()
    first = browser.switch_to.active_element
    wait(browser, "arguments[0].getBoundingClientRect().y >= 0", first)  # it comes into view
    assert first.text == "Skip to main content"
    ActionChains(browser).send_keys(Keys.RETURN, Keys.TAB).perform()
    inside = "return document.querySelector('main').contains(document.activeElement)"
    assert browser.execute_script(inside)
    line = find(browser, "details.check > summary")
    code = find(browser, "details.check .cell_input")
    assert not code.is_displayed()
    line.send_keys(Keys.RETURN)
    assert code.is_displayed()
    assert line.aria_role
    assert re.match(
        "✓? ?checked by code: (equal|the text above holds|raises)", line.accessible_name
    )


def test_the_font_of_the_site_has_its_characters(browser, address):
    """The fallback font makes no difference to the width of a character that it has."""
    open_page(browser, address, "index")
    # With `optional`, the page may do without a late font; with `block`, it waits.
    block = """
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
    browser.execute_script(block)
    assert browser.execute_async_script(measure, "Lookup Sans", signs) == []
    assert browser.execute_async_script(measure, "No such type", "abc") == ["a", "b", "c"]


@pytest.mark.parametrize(("name", "width"), PLACES)
def test_nothing_moves_while_a_page_loads(browser, address, name, width):
    """Elements stay where they are painted first when scripts, fonts and images come."""
    Handler.gate.clear()
    # Under another host name, since all connections to the first one may be waiting.
    release = f"{address.replace('127.0.0.1', 'localhost')}/all-else"
    # Under a new name for each page, since the browser remembers the files of a host.
    host = f"{width}-{name.replace('/', '-')}.localhost"
    browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    try:
        script = STORE_POSITIONS.replace("ALL-ELSE", release)
        open_page(browser, address.replace("127.0.0.1", host), name, width, script=script)
        # On a busy machine, the paint may come last.
        wait(browser, "first.size > 30 && document.readyState === 'complete'")
        browser.execute_async_script("document.fonts.ready.then(arguments[0])")
        wait_for_frames(browser)
        assert browser.execute_script(MOVED_ELEMENTS) == []
    finally:
        Handler.gate.set()
        browser.execute_cdp_cmd("Page.setBypassCSP", {"enabled": False})
