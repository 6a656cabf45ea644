"""The field of the search page and of the page of symptoms in a browser, on pages opened as files.

``questions.toml`` has questions, threads and tracebacks with what answers them, and words and errors
that are not here. To add one, write it there; if another section comes first, add the reader's words to the section with ``{index}``.
The tracebacks in ``tracebacks/`` were printed by torch 2.6, 2.13 and 2.15, with folders renamed. Those
named cuda- were written after public reports, because they need a GPU.
"""

import gzip
import re
import tomllib
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import ask, errors
from served import wait as wait_for

DATA = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))
FIRST, THREADS, UNRELATED = DATA["first"], DATA["thread"], DATA["unrelated"]["texts"]
ASIDE = tomllib.loads(Path(__file__).with_name("questions-aside.toml").read_text("utf-8"))
LISTS = {name: DATA[name] for name in ("tuned", "aside", "recent")}
LISTS |= {"later-aside": ASIDE.pop("later"), "recent-aside": ASIDE}
QUESTIONS = {text: sections for texts in LISTS.values() for text, sections in texts.items()}
ERRORS, LACKING, FOREIGN = DATA["traceback"], DATA["lacking"], DATA["foreign"]
# At least so many of 100 have the right section first, and within the first three.
FLOORS = {
    "tuned": (94, 98),
    "aside": (83, 95),
    "recent": (94, 98),
    "recent-aside": (85, 93),
    "later-aside": (56, 86),
}
TRACEBACKS = {
    path.stem: path.read_text("utf-8") for path in Path(__file__).parent.glob("tracebacks/*.txt")
}
# How often the search looks up an entry of a Map for each text.
COUNT_LOOKUPS = """
const { get } = Map.prototype;
let count = 0;
Map.prototype.get = function(key) { count++; return get.call(this, key); };
const counts = arguments[0].map(text => { count = 0; siteSearch.find(text); return count; });
Map.prototype.get = get;
return counts;
"""
FIND = """
return arguments[0].map(text => {
  const { missing, corrected, isForeign, words, errors } = siteSearch.find(text);
  return { missing, corrected, isForeign, count: words.length + errors.length };
});
"""
STATUS = "document.querySelector('.search-status').textContent"
RESOURCES = "return performance.getEntriesByType('resource').map(entry => entry.name)"
PLANT_IN_TEXTS = """
for (const texts of Object.values(siteTexts)) texts.fill(`a roofline ${arguments[0]}`);
"""
MARKUP = "<img src=x onerror=\"document.title='planted'\"> <b>tied</b>"
LAST = "IndexError: index out of range in self"
LOG = '  File "/x/train.py", line 7, in step\n    return self.forward(batch)\n' * 14_000  # 1 MB
LINKS = (By.CSS_SELECTOR, ".search-found a")


def wait(browser, text):
    """Wait until the results for a text are shown."""
    query = "document.querySelector('.search-found')?.dataset.query"
    wait_for(browser, f"{query} === arguments[0]", text)


def read_answers(browser, texts):
    """Return what the search says about each text, with the number of its results."""
    ask(browser, ["embedding"])  # after which the whole index is there
    return browser.execute_script(FIND, texts)


@pytest.fixture
def search(browser, site):
    """Open the empty search page as a file, without a server."""
    browser.get((site / "search.html").as_uri())
    return browser


@pytest.fixture(scope="module")
def answers(browser, site):
    """Return the results of all texts, asked on one page."""
    browser.get((site / "search.html").as_uri())
    threads = [thread["text"] for thread in THREADS]
    return ask(browser, [*QUESTIONS, *FIRST, *UNRELATED, *threads, *TRACEBACKS.values()])


@pytest.fixture(scope="module")
def section_of(pages):
    """Return a function from an address to its page and its section, glossary term or function."""
    targets = {}

    def find(address):
        name, _, anchor = address.partition("#")
        name = name.removesuffix(".html")
        if name not in targets:
            targets[name] = {"": None} | {tag["id"]: tag for tag in pages[name].find_all(id=True)}
            targets[name][""] = pages[name].select_one("article section")
        assert anchor in targets[name], f"{name} has no id {anchor!r}"
        target = targets[name][anchor]
        if target.name == "span":
            target = target.find_parent("section")
        return name, target["id"]

    return find


def place(results, expected, section_of):
    """Return the number of the first result that is one of the expected sections, from 0."""
    sections = {section_of(address) for address in expected}
    places = [i for i, result in enumerate(results) if section_of(result["link"]) in sections]
    return min(places, default=1000)


@pytest.mark.parametrize("half", FLOORS)
def test_questions_lead_to_their_sections(answers, section_of, half):
    """In each list of questions the right section is first, or within three, often enough."""
    texts = LISTS[half]
    assert len(texts) > 20
    places = {text: place(answers[text], QUESTIONS[text], section_of) for text in texts}
    first, third = (100 * sum(p < limit for p in places.values()) / len(texts) for limit in (1, 3))
    print(f"{half}: {len(texts)} questions, right first {first:.1f}%, within three {third:.1f}%")
    misses = {text: p for text, p in places.items() if p > 2}
    assert first >= FLOORS[half][0], misses
    assert third >= FLOORS[half][1], misses


@pytest.mark.parametrize("text", FIRST)
def test_section_is_first(answers, section_of, text):
    """The name of a function, or a question about a fact with one place, leads to it."""
    if FIRST[text].startswith("#"):  # a function, on any page of the reference
        assert answers[text][0]["link"].endswith(FIRST[text])
    else:
        assert place(answers[text], [FIRST[text]], section_of) == 0, answers[text][:3]


@pytest.mark.parametrize("name", sorted({*TRACEBACKS, *ERRORS}))
def test_traceback_leads_to_its_error(answers, name):
    """Frames, chained exceptions, kernel lines and notebook output do not change the first entry."""
    first = answers[TRACEBACKS[name]][0]
    assert first["error"]
    assert ERRORS[name] in first["title"]


def test_threads_lead_to_their_entries(answers, section_of):
    """At least 28 of 30 threads lead to their entry first, and none to another entry's error."""
    places = {}
    for thread in THREADS:
        results, entry = answers[thread["text"]], thread["entry"]
        matches = {section_of(result["link"]) for result in results if result["error"]}
        assert not matches or section_of(entry) in matches, thread["address"]
        if entry:
            places[thread["address"]] = place(results, [entry], section_of)
    assert sum(p == 0 for p in places.values()) >= 0.93 * len(places), places


@pytest.mark.parametrize("text", UNRELATED)
def test_unrelated_error_is_not_explained(answers, text):
    """Words in common with an entry's message do not suffice; sections are listed all the same."""
    assert not any(result["error"] for result in answers[text])


@pytest.mark.parametrize(("folder", "key"), [("", "words"), ("zh", "chinese")])
def test_words_on_no_page_are_named(browser, site, folder, key):
    """Alone or in a question, and also if a word that is like it is shown instead."""
    browser.get((site / folder / "search.html").as_uri())
    texts = LACKING[key]
    if not folder:
        texts = [*texts, *(f"how do I use {word} with an embedding layer" for word in texts)]
    for text, answer in zip(texts, read_answers(browser, texts), strict=True):
        named = [*answer["missing"], *(typed for typed, _ in answer["corrected"])]
        assert named, text
        assert all(word in text for word in named)
        assert folder or answer["corrected"] or answer["count"] <= 3, text


@pytest.mark.parametrize(("folder", "key"), [("", "errors"), ("zh", "chinese")])
def test_errors_of_other_libraries_are_not_explained(browser, site, folder, key):
    """Their shape tells that they are errors, also that of a line of a log without its error."""
    browser.get((site / folder / "search.html").as_uri())
    answers = read_answers(browser, FOREIGN[key])
    misses = zip(FOREIGN[key], answers, strict=True)
    assert [text for text, answer in misses if not answer["isForeign"]] == []


def test_questions_are_no_errors(search):
    """A question that has the name of an error is not taken for a message, with few exceptions."""
    texts = [text for text in QUESTIONS if not re.search("[Ee]rror|Warning", text)]
    answers = read_answers(search, texts)
    flagged = [t for t, answer in zip(texts, answers, strict=True) if answer["isForeign"]]
    assert len(flagged) <= 0.01 * len(texts), flagged


def test_error_lists_its_causes_and_the_fix(search):
    """The likeliest cause is first, and the fix is below; a symptom has its fix, too."""
    ask(search, [LAST])
    item = search.find_element(By.CLASS_NAME, "search-error")
    wait_for(search, "document.querySelector('.search-causes')")
    causes = [cause.text for cause in item.find_elements(By.CSS_SELECTOR, ".search-causes li")]
    assert len(causes) == 3
    assert causes[0].startswith("The table is one row short")
    assert item.find_element(By.CLASS_NAME, "search-fix").text.startswith("Fix: one row for each")
    ask(search, ["a frozen row moves"])
    assert search.find_element(By.CLASS_NAME, "search-fix").text.startswith("Fix")


def test_status_names_an_error_that_is_not_explained(search):
    """The status line tells an unknown error from a known one."""
    (text,) = (text for text in UNRELATED if "pickle" in text)
    ask(search, [text])
    unknown = "This error is not explained here; these sections are related."
    wait_for(search, f"{STATUS} === arguments[0]", unknown)
    ask(search, [LAST])
    above = search.find_element(By.CSS_SELECTOR, ".search-error .search-above")
    assert above.text.startswith("The error in your text › ")


def test_every_text_has_at_least_three_results(answers, section_of):
    """There are at least three results for each text, and the target of each link exists."""
    assert min(map(len, answers.values())) >= 3
    links = {result["link"] for results in answers.values() for result in results}
    assert len(links) > 100
    assert all(section_of(link) for link in links)


def test_symptom_page_gives_the_same_answers(browser, site, answers):
    """The field of the page of symptoms has the results of the search page."""
    browser.get((site / "symptoms.html").as_uri())
    texts = [*list(QUESTIONS)[::20], TRACEBACKS["clipping"], TRACEBACKS["plain-lookup"]]
    assert ask(browser, texts) == {text: answers[text] for text in texts}
    assert not browser.find_element(By.CSS_SELECTOR, "ul.symptoms").is_displayed()
    ask(browser, [""])
    assert browser.find_element(By.CSS_SELECTOR, "ul.symptoms").is_displayed()


def test_search_is_fast(search):
    """Ten thousands of look-ups take a few milliseconds; a reader notices 100."""
    ask(search, ["roofline"])
    counts = search.execute_script(COUNT_LOOKUPS, [*QUESTIONS, *TRACEBACKS.values()])
    assert 0 < min(counts) <= max(counts) < 50_000


def test_results_show_their_page_and_the_sentence_that_answers(search, section_of):
    """A result has a link, its page and a sentence, in which the words of the query are marked."""
    results = ask(search, ["padding_idx gradient"])["padding_idx gradient"]
    item = search.find_element(By.CSS_SELECTOR, ".search-found li")
    assert section_of(results[0]["link"])[0] in ("appendix/embedding-options", "symptoms/silent")
    assert item.find_element(By.CLASS_NAME, "search-above").text
    sentence = item.find_element(By.CLASS_NAME, "search-sentence")
    marks = {mark.text for mark in sentence.find_elements(By.TAG_NAME, "mark")}
    assert marks & {"padding_idx", "gradient"}
    assert sentence.text.endswith(".")


def test_formulas_are_text(search):
    """A formula is found by its name, and is not dropped from its sentence."""
    for text in ("V*", "V star"):
        first = ask(search, [text])[text][0]
        assert first["link"].endswith("#predict-it-from-a-data-sheet")
        sentence = search.find_element(By.CLASS_NAME, "search-sentence").text
        assert "V*" in sentence


def test_cells_of_a_table_are_apart(search):
    """A result in a table shows its row, whose cells would run together."""
    ask(search, ["row-wise Adagrad, four lines"])
    sentences = search.find_elements(By.CLASS_NAME, "search-sentence")
    assert any("four lines · works · one" in sentence.text for sentence in sentences)


def test_search_works_with_the_keyboard(search):
    """Typing searches and updates the address, Tab focuses the first result, and Return opens it."""
    field = search.switch_to.active_element
    field.send_keys("weight ty")
    wait(search, "weight ty")
    field.send_keys("ing", Keys.RETURN)
    wait(search, "weight tying")
    assert field.get_attribute("value") == "weight tying"
    assert search.current_url.endswith("search.html#q=weight%20tying")
    field.send_keys(Keys.TAB)
    link = search.switch_to.active_element
    assert link.get_attribute("href").endswith("glossary.html#term-weight-tying")
    link.send_keys(Keys.RETURN)
    wait_for(search, "location.href.endsWith('#term-weight-tying')")


def test_button_shows_more_results(search):
    """The button below four results shows four more, and focuses the first of them."""
    ask(search, ["embedding"])
    assert len(search.find_elements(*LINKS)) == 4
    search.find_element(By.CLASS_NAME, "search-more").send_keys(Keys.RETURN)
    wait_for(search, "document.querySelectorAll('.search-found a').length === 8")
    assert search.switch_to.active_element == search.find_elements(*LINKS)[4]


def test_empty_result_suggests_other_pages(search):
    """Without results, links to the symptoms, the glossary and the index are shown."""
    hint = search.find_element(By.CLASS_NAME, "search-nothing")
    assert not hint.is_displayed()
    field = search.switch_to.active_element
    field.send_keys("xqzzyvw", Keys.RETURN)
    wait(search, "xqzzyvw")
    wait_for(search, f"{STATUS} === 'No page mentions “xqzzyvw”.'")
    assert hint.is_displayed()
    links = [a.get_attribute("href") for a in hint.find_elements(By.TAG_NAME, "a")]
    names = {link.rpartition("/")[2] for link in links}
    assert names == {"symptoms.html", "glossary.html"}
    field.send_keys(Keys.CONTROL, "a", Keys.DELETE)
    wait(search, "")
    assert not hint.is_displayed()


def test_only_the_end_of_a_long_text_is_read(search):
    """In a log of 1 MB the last error is found, and an error at its beginning is not."""
    results = ask(search, [LOG + LAST, f"{LAST}\n{LOG[:60_000]}"])
    last, first = results.values()
    assert last[0]["error"]
    assert last[0]["title"] == "index out of range in self"
    assert not any(result["error"] for result in first)


def test_query_is_never_interpreted_as_markup(browser, site):
    """Markup in the address or in a page's text is shown as text, and no query raises an error."""
    address = (site / "search.html").as_uri()
    text = browser.execute_script("return encodeURIComponent(arguments[0])", MARKUP)
    browser.get_log("browser")
    browser.get(f"{address}#q={text}")
    wait(browser, MARKUP)
    assert browser.switch_to.active_element.get_attribute("value") == MARKUP
    assert browser.find_elements(*LINKS)
    texts = ["<script>1</script>", "__proto__", "((((", "0", "的", "roofline"]
    ask(browser, [f"tied {MARKUP}", *texts])
    browser.execute_script(PLANT_IN_TEXTS, MARKUP)
    ask(browser, ["roofline tied"])
    assert MARKUP in browser.find_element(By.CLASS_NAME, "search-sentence").text
    assert "planted" not in browser.title
    assert not browser.find_elements(By.CSS_SELECTOR, ".search-found :not(li, p, a, mark, div, ol)")
    log = [entry["message"] for entry in browser.get_log("browser")]
    assert not [message for message in log if re.search("_static/(find|search)", message)]


def test_search_field_of_other_pages(browser, site):
    """Ctrl+K opens the search field of any page, which takes a traceback without its line breaks."""
    browser.get((site / "tutorials" / "tied-weights.html").as_uri())
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
    browser.switch_to.active_element.send_keys("check_bags", Keys.RETURN)
    wait_for(browser, "location.href.includes('search.html#q=check_bags')")
    wait(browser, "check_bags")
    browser.find_element(*LINKS).send_keys(Keys.CONTROL, "k")
    wait_for(browser, "document.activeElement.id === 'search-text'")
    lines = {name: text.replace("\n", "") for name, text in TRACEBACKS.items()}
    results = ask(browser, lines.values())
    assert [n for n, text in lines.items() if ERRORS[n] not in results[text][0]["title"]] == []


def test_pages_without_scripts(without_scripts, site):
    """Without scripts the search page links to terms, functions and errors; fields are hidden."""
    without_scripts.get((site / "search.html").as_uri())
    page = without_scripts.find_element(By.TAG_NAME, "article")
    assert "needs JavaScript" in page.text
    assert not page.find_element(By.TAG_NAME, "form").is_displayed()
    for name in ("glossary", "reference", "symptoms"):
        assert page.find_element(By.CSS_SELECTOR, f'p a[href="{name}.html"]').is_displayed()
    without_scripts.get((site / "symptoms.html").as_uri())
    assert not without_scripts.find_element(By.CLASS_NAME, "finder").is_displayed()
    assert without_scripts.find_element(By.CSS_SELECTOR, "ul.symptoms").is_displayed()


def test_index_is_small_and_loaded_by_the_field(browser, site, address):
    """A first answer takes at most 141 kB, from this site alone; Sphinx's index does not exist."""
    script_tag = re.compile(r'src="[^"]*(find\.js|search-sections\.js)[^"]*"')
    pages = site.rglob("*.html")
    assert not [page for page in pages if script_tag.search(page.read_text("utf-8"))]
    assert not (site / "searchindex.js").exists()
    assert not (site / "_static" / "searchtools.js").exists()
    browser.get_log("browser")
    browser.execute_cdp_cmd("Network.clearBrowserCache", {})  # fonts of it would be listed
    browser.get(f"{address}/search.html#q=tied%20weights")
    wait(browser, "tied weights")
    loaded = {url.partition("?")[0] for url in browser.execute_script(RESOURCES)}
    assert [url for url in loaded if "/_static/sections/" in url]
    assert all(url.startswith((f"{address}/", "data:")) for url in loaded)
    paths = [site / url.removeprefix(f"{address}/") for url in loaded if url.startswith("http")]
    paths = [path for path in paths if path.name not in ("favicon.svg", "search-later.js")]
    sizes = {
        path.name: len(gzip.compress(path.read_bytes())) for path in [site / "search.html", *paths]
    }
    assert sum(sizes.values()) <= 141_000, (sum(sizes.values()), sizes)
    browser.get(f"{address}/symptoms.html")
    assert browser.execute_script("return typeof siteSearch") == "undefined"
    assert not errors(browser)
