"""What is typed into a field reaches no server: neither a request nor its headers have it."""

from urllib.parse import quote

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import Handler, find, serve, wait

SECRET = "zebraquark"
TEXT = f"padding row {SECRET}"
TRACEBACK = f"""Traceback (most recent call last):
  File "/home/{SECRET}/train.py", line 7, in step
IndexError: index out of range in self"""
LINK = (By.CSS_SELECTOR, ".search-found a")


class Logger(Handler):
    """Serves files, and keeps all that a browser sends."""

    log: list[str] = []  # noqa: RUF012  # of all instances, one for each request

    def log_request(self, *_arguments):
        """Record a request with its headers."""
        self.log.append(f"{self.requestline}\n{self.headers}")


@pytest.fixture
def logged(site):
    """Serve the site, and return its address and the list of requests."""
    Logger.log = []
    with serve(site, Logger) as address:
        yield address, Logger.log


def type_text(browser, text):
    """Insert a text into the focused field, and wait for its last results.

    Results of the whole index replace the first ones, and a click between the two is lost.
    """
    browser.execute_cdp_cmd("Input.insertText", {"text": text})
    wait(browser, "document.querySelector('.search-found')?.dataset.query === arguments[0]", text)
    assert browser.find_elements(*LINK)


def follow(browser):
    """Open the first result."""
    link = browser.find_element(*LINK)
    target = link.get_attribute("href")
    link.click()
    wait(browser, "location.href === arguments[0]", target)


def check(browser, log):
    """Assert that no request and no title has the text."""
    assert log
    assert not [request for request in log if SECRET in request]
    assert SECRET not in browser.title


@pytest.mark.parametrize("folder", ["", "/zh"])
@pytest.mark.parametrize("text", [TEXT, TRACEBACK])
def test_search_page_sends_nothing(browser, logged, folder, text):
    """Typing, pasting, a reload, a result, and the way back keep the text in the browser."""
    address, log = logged
    browser.get(f"{address}{folder}/search.html")
    type_text(browser, text)
    wait(browser, "location.hash.startsWith('#q=')")
    browser.refresh()
    wait(browser, "document.querySelector('.search-found')?.dataset.query")
    assert SECRET in find(browser, ".finder textarea").get_attribute("value")
    follow(browser)
    browser.back()
    wait(browser, "document.querySelector('.search-found')?.dataset.query")
    assert SECRET in find(browser, ".finder textarea").get_attribute("value")
    check(browser, log)


def test_page_of_symptoms_sends_nothing(browser, logged):
    """Its field keeps the text, and so does the search of another page."""
    address, log = logged
    browser.get(f"{address}/symptoms.html")
    find(browser, ".finder textarea").click()
    type_text(browser, TRACEBACK)
    follow(browser)
    check(browser, log)


def test_search_dialog_sends_nothing(browser, logged):
    """Ctrl+K shows results while one types; a result and Return keep the text in the browser."""
    address, log = logged
    for keys in ("", Keys.RETURN):
        browser.get(f"{address}/tutorials/tied-weights.html")
        find(browser, "body").send_keys(Keys.CONTROL, "k")
        type_text(browser, TEXT)
        if keys:
            browser.switch_to.active_element.send_keys(keys)
            wait(browser, "location.pathname === '/search.html' && location.hash.length > 3")
            wait(browser, "document.querySelector('.search-found')?.dataset.query")
        follow(browser)
    check(browser, log)


def test_query_of_an_old_link_is_moved_to_the_fragment(browser, logged):
    """The link itself sends its text; nothing after it does."""
    address, log = logged
    browser.get(f"{address}/search.html?q={quote(TEXT)}")
    wait(browser, "document.querySelector('.search-found')?.dataset.query")
    assert browser.current_url == f"{address}/search.html#q={quote(TEXT)}"
    assert SECRET in log.pop(0)
    browser.refresh()
    wait(browser, "document.querySelector('.search-found')?.dataset.query")
    follow(browser)
    check(browser, log)


def test_no_form_has_an_address(built):
    """A browser without scripts has nothing to send, and no page lets a form send anything."""
    for path, page in built.items():
        assert not page.select("form[action], form [name]"), path
        assert page.select_one("meta[name=referrer]")["content"] == "no-referrer", path
        policy = page.select_one("meta[http-equiv=Content-Security-Policy]")["content"]
        assert "form-action 'none'" in policy
