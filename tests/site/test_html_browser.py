"""In a browser: the security policy, color schemes, pages without scripts, print, and files."""

import re
import shutil

import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from served import errors, find, open_page, serve, wait

PAGE = "tutorials/backward-is-scatter-add"  # with formulas, figures, folds and code
# Markup that would set ``window.ran``, or send a request to another host.
PLANTED = """
<script>window.ran = 'script'</script>
<script src="data:text/javascript,window.ran='data'"></script>
<script src="https://example.org/planted.js"></script>
<img src="nothing.png" onerror="window.ran = 'handler'">
<svg onload="window.ran = 'svg'"><script>window.ran = 'svg script'</script></svg>
<img src="https://example.org/planted.png">
<iframe srcdoc="<script>parent.ran = 'frame'</script>"></iframe>
<style>body { background: url(https://example.org/planted.css) }</style>
<link rel="stylesheet" href="https://example.org/planted.css">
<object data="data:text/html,<script>parent.ran='object'</script>"></object>
<a id="planted" href="javascript:window.ran = 'link'">link</a>
<form id="away" action="https://example.org/"></form>
"""
OUTPUT = '<div class="cell_output docutils container">'  # may contain text of any origin


def test_planted_markup_does_nothing(browser, site, tmp_path):
    """No script or handler runs, and no request or form reaches another host."""
    shutil.copytree(site / "_static", tmp_path / "_static")
    page = (site / "tutorials" / "what-it-costs.html").read_text("utf-8")
    assert OUTPUT in page
    (tmp_path / "tutorials").mkdir()
    planted = page.replace(OUTPUT, OUTPUT + PLANTED, 1)
    (tmp_path / "tutorials" / "planted.html").write_text(planted, "utf-8")
    with serve(tmp_path) as home:
        open_page(browser, home, "tutorials/planted")
        browser.execute_script("document.getElementById('planted').click()")
        browser.execute_script("document.getElementById('away').submit()")
        wait(browser, "document.readyState === 'complete'")
        assert browser.execute_script("return window.ran") is None
        assert browser.current_url.startswith(home)
        loaded = "return performance.getEntriesByType('resource').filter(e => e.responseStatus)"
        names = browser.execute_script(f"{loaded}.map(e => e.name)")
        assert all(name.startswith((home, "data:")) for name in names)
        ground = "getComputedStyle(document.body).backgroundImage"
        assert browser.execute_script(f"return {ground}") == "none"
        messages = errors(browser)
        blocked = [text for text in messages if "Content Security Policy" in text]
        assert len(blocked) >= 8, messages


def test_the_color_scheme_can_be_chosen(browser, address):
    """The menu of color schemes changes the scheme."""
    open_page(browser, address, PAGE)
    find(browser, ".theme-switch-button").click()
    find(browser, ".theme-change-button[data-mode=dark]").click()
    assert wait(browser, "document.documentElement.dataset.theme === 'dark'")
    assert not find(browser, "#scheme-menu").is_displayed()
    assert not errors(browser)


def test_copying_keeps_the_focus_and_is_announced(browser, address):
    """The next stop of the tab key follows the button, and a screen reader hears the result."""
    open_page(browser, address, PAGE)
    button = find(browser, ".cell:not(details *) > .cell_input button.copybtn")
    browser.execute_script("arguments[0].focus()", button)
    ActionChains(browser).send_keys(Keys.RETURN).perform()
    assert wait(browser, "arguments[0].matches('.success')", button)
    assert browser.switch_to.active_element == button
    wait(browser, "document.querySelector('body > [role=status]').textContent === 'Copied!'")
    assert not errors(browser)


def test_the_scheme_is_known_before_other_scripts(browser, address, emulate):
    """A first visit in a dark system is dark at once, since an inline script sets the scheme."""
    emulate(prefers_color_scheme="dark")
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*.js*"]})
    try:
        browser.get(f"{address}/{PAGE}.html")
        browser.execute_script("localStorage.clear()")
        browser.get(f"{address}/{PAGE}.html")
        assert browser.execute_script("return document.documentElement.dataset.theme") == "dark"
        assert lightness(browser) < 60
    finally:
        browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})


def lightness(browser):
    """Return the lightness of the page, 0 to 255."""
    color = find(browser, "body").value_of_css_property("background-color")
    return max(map(int, re.findall(r"\d+", color)[:3]))


def text_color(browser):
    """Return the color of text in figures."""
    ink = "getComputedStyle(document.documentElement).getPropertyValue('--figure-ink').trim()"
    return browser.execute_script(f"return {ink}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_without_scripts(without_scripts, address, emulate, scheme):
    """The system's scheme applies, formulas are rendered, and menus and folds open and close."""
    browser = without_scripts
    emulate(prefers_color_scheme=scheme)
    open_page(browser, address, PAGE, 390, scheme)
    assert (lightness(browser) < 60) == (scheme == "dark")
    assert (text_color(browser) == "#1f2328") == (scheme == "light")
    assert find(browser, "p math").size["height"] > 8
    assert not find(browser, ".theme-switch-button").is_displayed()
    for menu in ("#pst-primary-sidebar", "#pst-secondary-sidebar"):
        link = find(browser, f"{menu} a[href]:not([href='#'])")
        assert not link.is_displayed()
        find(browser, f".without-script[href='{menu}']").click()
        wait(browser, "arguments[0].checkVisibility({visibilityProperty: true})", link)
        find(browser, ".hide-menu").click()
        wait(browser, "!arguments[0].checkVisibility({visibilityProperty: true})", link)
    code = find(browser, "details.fold pre")
    assert not code.is_displayed()
    find(browser, "details.fold summary").send_keys(Keys.RETURN)
    assert code.is_displayed()


def test_print_is_light(browser, address, emulate):
    """Colors are light in the dark scheme too; solutions are open, checks closed, buttons hidden."""
    emulate("print")
    open_page(browser, address, PAGE, scheme="dark")
    assert lightness(browser) == 255
    assert text_color(browser) == "#1f2328"
    code = find(browser, ".cell_input").value_of_css_property("background-color")
    *shade, alpha = map(int, re.findall(r"\d+", code)[:4])
    assert min(shade) > 200 or alpha == 0
    for fold, is_open in (("sd-dropdown", True), ("fold", False)):
        part = find(browser, f"details.{fold}:not([open]) :is(p, pre)")
        assert browser.execute_script("return arguments[0].checkVisibility()", part) == is_open
    assert not find(browser, ".theme-switch-button").is_displayed()


def test_the_site_works_from_files_and_below_any_path(browser, site, tmp_path):
    """Colors, formulas and menus need no host, and no address at its root."""
    (tmp_path / "any").mkdir()
    (tmp_path / "any" / "path").symlink_to(site)
    with serve(tmp_path) as root:
        for home in (site.as_uri(), f"{root}/any/path"):
            open_page(browser, home, PAGE, scheme="dark")
            assert wait(browser, "document.readyState === 'complete'")
            assert lightness(browser) < 60
            assert browser.execute_script("return document.fonts.check('16px \"STIX Two Math\"')")
            link = find(browser, "#pst-primary-sidebar nav a")
            assert link.get_attribute("href").startswith(home)
            assert not errors(browser), home
