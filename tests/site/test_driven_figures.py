"""Figures that readers drive with frames.js and votes.js, in a browser."""

import math
import re
from collections import Counter

import pytest
from selenium.webdriver.common.keys import Keys
from served import SOURCES, errors, find, open_page, soup, wait

TRAINING, VOTES = "tutorials/lookup-is-matmul", "tutorials/text-both-ways"
MARKERS = "svg[data-steps] path[data-frames]"
POSITIONS = f"""
return [...document.querySelectorAll("{MARKERS}")].map(marker =>
    marker.getAttribute("transform").match(/[-.\\d]+/g).map(Number));
"""


def test_a_slider_and_a_button_show_the_steps_of_a_training(browser, site, emulate):
    """Markers are at the rows of the step; the button plays all steps.

    Without motion it shows the last step at once, from there the first one before.
    """
    frames = [
        [[float(x) for x in row.split()] for row in marker["data-frames"].split(";")[1:]]
        for marker in soup(site / f"{TRAINING}.html").select(MARKERS)
    ]
    open_page(browser, site.as_uri(), TRAINING)
    slider, label = find(browser, ".frames input"), find(browser, ".frames output")

    def assert_shown(step, text):
        assert browser.execute_script(POSITIONS) == [positions[step] for positions in frames]
        assert label.text == text

    assert_shown(0, "step 0")  # a guess about it comes first
    slider.send_keys(Keys.END)
    assert_shown(-1, "step 200")
    slider.send_keys(Keys.HOME, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert_shown(2, "step 20")
    assert (slider.accessible_name, slider.get_attribute("aria-valuetext")) == ("Step", "step 20")
    slider.send_keys(Keys.HOME)
    find(browser, ".frames button").click()
    assert_shown(-1, "step 200")
    play = "arguments[0].click(); return arguments[1].textContent"
    assert browser.execute_script(play, find(browser, ".frames button"), label) == "step 0"
    wait(browser, "arguments[0].textContent === 'step 200'", label)
    assert_shown(-1, "step 200")
    emulate(prefers_reduced_motion="no-preference")
    slider.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)  # the button plays the steps from here
    button = find(browser, ".frames button")
    play = "arguments[0].click(); return arguments[0].textContent"
    assert "pause" in browser.execute_script(play, button)
    # The label rounds, and names the last step before the markers arrive.
    wait(browser, "arguments[0].textContent.endsWith('play')", button)
    assert_shown(-1, "step 200")
    assert not errors(browser)


GUESSES = {
    TRAINING: "their verbs",
    "tutorials/backward-is-scatter-add": "(6, 8)",
    "tutorials/sparse-row-is-a-sum": "$2",
    "tutorials/inside-a-language-model": "the old text with a and e exchanged",
    "tutorials/a-vocabulary-that-grows": "most of it",
    "tutorials/tied-weights": "about 64",
}


@pytest.mark.parametrize(("page", "answer"), GUESSES.items())
def test_a_guess_in_the_text_has_buttons_and_opens_its_answer(browser, site, page, answer):
    """The fold is closed before; the right answer is named, and a figure shows its last step."""
    open_page(browser, site.as_uri(), page)
    choices = find(browser, ".choices")
    fold = browser.execute_script(
        "return [...document.querySelectorAll('details.sd-dropdown')]"
        ".find(fold => arguments[0].compareDocumentPosition(fold) & 4)",
        choices,
    )
    assert not fold.get_attribute("open")
    buttons = choices.find_elements("css selector", "button")
    sources = re.findall(r"\[([^]]*)\]\{\.choices\}", SOURCES[page].read_text("utf-8"))
    texts = re.sub(r"[*\\]", "", sources[0]).split("; ")
    assert [button.text for button in buttons] == texts
    assert answer in texts
    for button in buttons:
        button.click()
        is_right = button.text == answer
        expected = f"Right: {answer}." if is_right else f"Not {button.text}, but {answer}."
        outcome = find(choices, "output")
        assert outcome.text == expected
        assert outcome.get_attribute("class") == ("right" if is_right else "")
        assert fold.get_attribute("open")
    assert not errors(browser)


def expected_votes(data, text):
    """Return the known words of a text, and the sums of their votes, exact and of two decimals."""
    _, classes, *lines = data.split("|")
    table = {word: list(map(int, numbers)) for word, *numbers in map(str.split, lines)}
    counts = Counter(w for w in re.findall(r"\w\w+", text.lower()) if w in table)
    values = {word: count * table[word][0] / 100 for word, count in counts.items()}
    norm = math.sqrt(sum(value**2 for value in values.values())) or 1.0
    columns = range(1, 1 + len(classes.split(",")))
    votes = [[v / norm * table[w][k] / 1_000 for w, v in values.items()] for k in columns]
    return counts, [sum(column) for column in votes], [sum_of_shown(column) for column in votes]


def sum_of_shown(votes):
    """Return the sum that a reader gets from two decimals of each number."""
    return sum(round(100 * vote) for vote in votes) / 100


TEXTS = ["sum the tensor over one dim", "Fit a MODEL, fit it!", "naïve an_array x", "", "qwertz"]
TEXTS += ["<b>|&"]


def test_votes_of_typed_texts_are_the_weighted_sum_of_rows(browser, site):
    """Words, sums and the choice are those of the definition in float64; other words are named."""
    open_page(browser, site.as_uri(), VOTES)
    data = soup(site / f"{VOTES}.html").select_one("svg[data-votes]")["data-votes"]
    for text in TEXTS:
        assert_votes(find(browser, ".votes"), data, text)
    assert not errors(browser)


def assert_votes(votes, data, text):
    """Type a text, and compare the figure with the definition."""
    field = find(votes, "input")
    field.clear()
    field.send_keys(text or "x", *[Keys.BACKSPACE] * (not text))
    counts, totals, shown = expected_votes(data, text)
    result = votes.parent.execute_script("return arguments[0].score(arguments[1])", votes, text)
    assert [name.rpartition(" ")[2] for name, _ in result["rows"]] == [*counts]
    assert result["totals"] == pytest.approx(totals, abs=1e-12)
    rows = votes.find_elements("css selector", "tbody tr")
    assert len(rows) == len(counts) + bool(counts)
    for row in rows[-1:]:
        cells = row.find_elements("css selector", "td")
        numbers = [float(cell.text.replace("−", "-")) for cell in cells]
        assert numbers == pytest.approx(shown, abs=1e-9)
    libraries = data.split("|")[1].split(",")
    second, first = sorted(shown)[-2:]
    winner, loser = (libraries[shown.index(total)] for total in (first, second))
    without = "No word" if re.search(r"\w", text) else "Type a message."
    best = f"{winner} wins, {first - second:.2f} ahead of {loser}." if counts else without
    assert best in find(votes, "[role=status]").text
    unknown = [word for word in re.findall(r"\w+", text.lower()) if word not in counts]
    assert result["unknown"] == [*dict.fromkeys(unknown)]
    assert votes.value_of_css_property("min-height") == "0px"


@pytest.mark.parametrize(
    ("page", "picture", "words"),
    [
        (TRAINING, "svg[data-steps]", "12 points with names"),
        (VOTES, "svg[data-votes]", "Votes for NumPy"),
        ("tutorials/where-does-the-memory-go", "#fig-budget svg", "at the peak 79.5 GB"),
        ("explorer", "lookup-explorer svg", "Two ways from the ids 2, 3, 1"),
        ("index", "lookup-explorer svg", "Two ways from the ids 2, 3, 1"),
    ],
)
def test_picture_is_shown_without_scripts(without_scripts, site, page, picture, words):
    """The drawing is visible without a gap or controls; its text has the initial state."""
    open_page(without_scripts, site.as_uri(), page)
    drawing = find(without_scripts, picture)
    assert drawing.is_displayed()
    assert words in drawing.accessible_name
    for frame in without_scripts.find_elements("css selector", "lookup-explorer"):
        shown = find(frame, ".shown")
        assert shown.size["height"] <= find(frame, "svg").size["height"] + 40
        parts = frame.find_elements("css selector", ".parts")
        assert not any(part.is_displayed() for part in parts)
    for caption in without_scripts.find_elements("css selector", "figcaption"):
        assert "click" not in caption.text.lower(), "there is nothing to click"
