"""In a real browser: the policy holds, and what works without scripts, from a file, and on paper."""

import shutil

import pytest
from selenium.webdriver.common.keys import Keys
from served import errors, open_page, serve, wait

PAGE = "tutorials/backward-is-scatter-add"  # with formulas, drawings, folds and code
# What a planted text may try; each would leave its name in ``window.ran``, or leave the site.
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
PLACE = '<div class="cell_output docutils container">'  # which shows what others wrote


@pytest.fixture
def media(browser):
    """Give a function that sets the medium and the preferred scheme until the test ends."""

    def set_media(scheme="light", medium="screen"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        wanted = {"media": medium, "features": features}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)

    yield set_media
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_planted_markup_does_nothing(browser, site, tmp_path):
    """Neither scripts nor handlers run, nothing is asked of another host, nothing is sent away."""
    shutil.copytree(site / "_static", tmp_path / "_static")
    page = (site / "tutorials" / "what-it-costs.html").read_text("utf-8")
    assert PLACE in page
    (tmp_path / "tutorials").mkdir()
    planted = page.replace(PLACE, PLACE + PLANTED, 1)
    (tmp_path / "tutorials" / "planted.html").write_text(planted, "utf-8")
    with serve(tmp_path) as home:
        open_page(browser, home, "tutorials/planted", 1300, "light")
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
        said = errors(browser)
        assert len([text for text in said if "Content Security Policy" in text]) >= 8, said


def test_the_page_works_under_its_policy(browser, address):
    """The choice of the scheme, and the copy button; menus and search have tests of their own."""
    open_page(browser, address, PAGE, 1300, "light")
    browser.find_element("css selector", ".theme-switch-button").click()
    browser.find_element("css selector", ".theme-change-button[data-mode=dark]").click()
    assert wait(browser, "document.documentElement.dataset.theme === 'dark'")
    assert not browser.find_element("id", "scheme-menu").is_displayed()
    copy = browser.find_element("css selector", ".cell_input button.copybtn")
    browser.execute_script("arguments[0].click()", copy)
    assert wait(browser, "document.querySelector('button.copybtn.success') !== null")
    assert not errors(browser)


def test_the_scheme_is_known_before_other_scripts(browser, address, media):
    """A first visit by night is dark at once: the page's own line needs no file."""
    media("dark")
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*.js*"]})
    try:
        browser.get(f"{address}/{PAGE}.html")
        browser.execute_script("localStorage.clear()")
        browser.get(f"{address}/{PAGE}.html")
        assert browser.execute_script("return document.documentElement.dataset.theme") == "dark"
        assert _ground(browser) < 60
    finally:
        browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})


def _ground(browser):
    """Give the lightness of the page, 0 to 255."""
    color = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    return max(browser.execute_script(f"return {color}")[:3])


def _ink(browser):
    """Give the color of the words in drawings."""
    ink = "getComputedStyle(document.documentElement).getPropertyValue('--figure-ink').trim()"
    return browser.execute_script(f"return {ink}")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_without_scripts(without_scripts, address, media, scheme):
    """Colors as the system wants them, in drawings too, formulas set, the menus and the folds open and close."""
    browser = without_scripts
    media(scheme)
    open_page(browser, address, PAGE, 390, scheme)
    assert (_ground(browser) < 60) == (scheme == "dark")
    assert (_ink(browser) == "#1f2328") == (scheme == "light")
    formula = browser.find_element("css selector", "p math")
    assert formula.size["height"] > 8
    assert not browser.find_element("css selector", ".theme-switch-button").is_displayed()
    for menu in ("#pst-primary-sidebar", "#pst-secondary-sidebar"):
        link = browser.find_element("css selector", f"{menu} a[href]:not([href='#'])")
        assert not link.is_displayed()
        browser.find_element("css selector", f".without-script[href='{menu}']").click()
        wait(browser, "arguments[0].checkVisibility({visibilityProperty: true})", link)
        browser.find_element("css selector", ".hide-menu").click()
        wait(browser, "!arguments[0].checkVisibility({visibilityProperty: true})", link)
    fold = browser.find_element("css selector", "details.fold")
    code = fold.find_element("css selector", "pre")
    assert not code.is_displayed()
    fold.find_element("css selector", "summary").send_keys(Keys.RETURN)
    assert code.is_displayed()


def test_paper_is_light(browser, address, media):
    """In the dark scheme too: the ground, the text, the drawings; solutions open, checks are a line, no buttons."""
    media(medium="print")
    open_page(browser, address, PAGE, 1300, "dark")
    assert _ground(browser) == 255
    assert _ink(browser) == "#1f2328"
    code = "getComputedStyle(document.querySelector('.cell_input')).backgroundColor"
    shade = browser.execute_script(f"return {code}.match(/\\d+/g).map(Number)")
    assert min(shade[:3]) > 200 or shade[3:] == [0]
    for fold, shown in (("sd-dropdown", True), ("fold", False)):
        seen = f"document.querySelector('details.{fold}:not([open]) :is(p, pre)').checkVisibility()"
        assert browser.execute_script(f"return {seen}") == shown
    assert not browser.find_element("css selector", ".theme-switch-button").is_displayed()


def test_the_site_works_from_files_and_below_any_path(browser, site, tmp_path):
    """Colors, formulas, menus and drawings need no host, and no place at its root."""
    (tmp_path / "any").mkdir()
    (tmp_path / "any" / "path").symlink_to(site)
    with serve(tmp_path) as root:
        for home in (site.as_uri(), f"{root}/any/path"):
            open_page(browser, home, PAGE, 1300, "dark")
            assert wait(browser, "document.readyState === 'complete'")
            assert _ground(browser) < 60
            assert browser.execute_script("return document.fonts.check('16px \"STIX Two Math\"')")
            link = browser.find_element("css selector", "#pst-primary-sidebar nav a")
            assert link.get_attribute("href").startswith(home)
            assert not errors(browser), home
