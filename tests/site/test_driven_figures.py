"""Figures that readers drive with frames.js and votes.js, in a browser."""

import math
import re
from collections import Counter

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import errors, soup, wait

TRAINING, VOTES = "tutorials/lookup-is-matmul", "tutorials/text-both-ways"
MARKERS = "svg[data-steps] path[data-frames]"
POSITIONS = f"""
return [...document.querySelectorAll("{MARKERS}")].map(marker =>
    marker.getAttribute("transform").match(/[-.\\d]+/g).map(Number));
"""


@pytest.fixture
def training(browser, site):
    """Open the page whose figure shows a training, and return the frames of its markers."""
    browser.get_log("browser")
    browser.get((site / f"{TRAINING}.html").as_uri())
    markers = soup(site / f"{TRAINING}.html").select(MARKERS)
    return [
        [[float(x) for x in row.split()] for row in marker["data-frames"].split(";")[1:]]
        for marker in markers
    ]


def test_slider_moves_markers_to_the_rows_of_a_step(browser, training):
    """Each position of the slider shows the frame of its step, and names the step."""
    slider = browser.find_element(By.CSS_SELECTOR, ".frames input")
    label = browser.find_element(By.CSS_SELECTOR, ".frames output")
    assert browser.execute_script(POSITIONS) == [frames[0] for frames in training]
    assert label.text == "step 0"
    slider.send_keys(Keys.END)
    assert browser.execute_script(POSITIONS) == [frames[-1] for frames in training]
    slider.send_keys(Keys.HOME)
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert browser.execute_script(POSITIONS) == [frames[2] for frames in training]
    assert label.text == slider.get_attribute("aria-valuetext") == "step 20"
    assert slider.accessible_name == "Step"


def test_button_plays_all_steps(browser, training):
    """With reduced motion it shows the last step at once, otherwise one step after the other."""
    for motion in ("reduce", "no-preference"):
        features = [{"name": "prefers-reduced-motion", "value": motion}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.find_element(By.CSS_SELECTOR, ".frames input").send_keys(Keys.HOME)
        browser.find_element(By.CSS_SELECTOR, ".frames button").click()
        step = "document.querySelector('.frames output').textContent"
        assert motion != "reduce" or browser.execute_script(f"return {step}") == "step 200"
        wait(browser, f"{step} === 'step 200'")
        assert browser.execute_script(POSITIONS) == [frames[-1] for frames in training]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert not errors(browser)


def expected_votes(data, text):
    """Return the known words of a text and the sums of their votes, by the definition."""
    _, classes, *lines = data.split("|")
    table = {word: list(map(int, numbers)) for word, *numbers in map(str.split, lines)}
    counts = Counter(w for w in re.findall(r"\w\w+", text.lower()) if w in table)
    values = {word: count * table[word][0] / 100 for word, count in counts.items()}
    norm = math.sqrt(sum(value**2 for value in values.values())) or 1.0
    columns = range(1, 1 + len(classes.split(",")))
    totals = [sum(v / norm * table[w][k] / 1_000 for w, v in values.items()) for k in columns]
    return counts, totals


@pytest.mark.parametrize(
    "text",
    [
        "sum the tensor over one dim",
        "Fit a MODEL, fit it!",
        "naïve an_array x",
        "",
        "qwertz",
        "<b>|&",
    ],
)
def test_votes_of_a_typed_text_are_the_weighted_sum_of_rows(browser, site, text):
    """Words, sums and the choice are those of the definition in float64; other words are named."""
    browser.get((site / f"{VOTES}.html").as_uri())
    field = browser.find_element(By.CSS_SELECTOR, ".votes input")
    field.clear()
    field.send_keys(text or "x", *[Keys.BACKSPACE] * (not text))
    (svg,) = soup(site / f"{VOTES}.html").select("svg[data-votes]")
    counts, totals = expected_votes(svg["data-votes"], text)
    script = "return document.querySelector('.votes').score(arguments[0])"
    result = browser.execute_script(script, text)
    assert [name.rpartition(" ")[2] for name, _ in result["rows"]] == [*counts]
    assert result["totals"] == pytest.approx(totals, abs=1e-12)
    rows = browser.find_elements(By.CSS_SELECTOR, ".votes tbody tr")
    assert len(rows) == len(counts) + bool(counts)
    for row in rows[-1:]:
        numbers = [float(td.text.replace("−", "-")) for td in row.find_elements(By.TAG_NAME, "td")]
        assert numbers == pytest.approx(totals, abs=0.006)
    libraries = svg["data-votes"].split("|")[1].split(",")
    without = "No word" if re.search(r"\w", text) else "Type a message."
    second, first = sorted(totals)[-2:]
    winner, loser = (libraries[totals.index(total)] for total in (first, second))
    best = f"{winner} wins, {first - second:.2f} ahead of {loser}." if counts else without
    assert best in browser.find_element(By.CSS_SELECTOR, ".votes [role=status]").text
    unknown = [word for word in re.findall(r"\w+", text.lower()) if word not in counts]
    assert result["unknown"] == [*dict.fromkeys(unknown)]
    table = browser.find_element(By.CSS_SELECTOR, ".votes")
    assert browser.execute_script("return getComputedStyle(arguments[0]).minHeight", table) == "0px"
    assert not errors(browser)


@pytest.mark.parametrize(
    ("page", "picture", "words"),
    [
        (TRAINING, "svg[data-steps]", "12 points with names"),
        (VOTES, "svg[data-votes]", "Votes for NumPy"),
        ("tutorials/where-does-the-memory-go", "#fig-budget svg", "at the peak 79.5 GB"),
    ],
)
def test_picture_is_shown_without_scripts(without_scripts, site, page, picture, words):
    """Without scripts the drawing is visible, and its alternative text has the initial state."""
    without_scripts.get((site / f"{page}.html").as_uri())
    drawing = without_scripts.find_element(By.CSS_SELECTOR, picture)
    assert drawing.is_displayed()
    assert words in drawing.get_attribute("aria-label")
