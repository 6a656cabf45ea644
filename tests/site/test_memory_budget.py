"""The memory budget in a browser: its numbers, compared with the page's Python, and its controls."""

import itertools

import pytest
from _extensions.page_record import read_page
from selenium.webdriver.common.keys import Keys
from served import SOURCES, errors, find, open_page, resize, wait

PAGE = "tutorials/where-does-the-memory-go"
# Set each state, and return the bytes of the parts and at the peak.
COMPUTE = """
return arguments[0].map(state => {
  for (const [name, value] of Object.entries(state)) {
    const input = document.querySelector(`.budget [name=${name}]`);
    input[input.type === "checkbox" ? "checked" : "value"] = value;
  }
  document.querySelector(".budget form").dispatchEvent(new Event("input"));
  const parts = [...document.querySelectorAll(".budget tbody tr")];
  return [Object.fromEntries(parts.map(row => [row.cells[0].textContent, +row.dataset.bytes])),
    +document.querySelector(".budget-verdict").dataset.bytes];
});
"""
HEIGHTS = """
const budget = document.querySelector(".budget");
return [budget.getBoundingClientRect().height, parseFloat(getComputedStyle(budget).minHeight)];
"""
VERDICT_EDGES = """
const [slider, verdict] = ["[type=range]", ".budget-verdict"]
  .map(selector => document.querySelector(`#fig-budget ${selector}`).getBoundingClientRect());
return {slider: slider.bottom, top: verdict.top, bottom: verdict.bottom, window: innerHeight};
"""
TYPES = {
    "bfloat16, loss in float32": {},
    "bfloat16 with float32 master weights": {"master": 4},
    "float32 with autocast to bfloat16": {"number": 4, "saved": 9, "cast": 2},
    "bfloat16": {"score": 6},
    "float32": {"number": 4},
}
OPTIMIZERS = {"Adam": 2, "SGD with momentum": 1, "SGD": 0}
SIZES = [
    (262_144, 2048, 8, 2048, 18),
    (256, 32, 1, 32, 0),
    (128_256, 5120, 3, 100, 96),
    (50_257, 768, 12, 1024, 12),
]


@pytest.fixture
def budget(browser, address):
    """Open the page, and return the figure."""
    open_page(browser, address, PAGE)
    return find(browser, "#fig-budget")


def test_the_numbers_are_those_of_the_function_on_the_page(budget):
    """They agree for each number type, optimizer and switch, at several sizes."""
    names = {}
    for cell in read_page(SOURCES[PAGE], PAGE).cells:
        if cell.source.startswith("def training_bytes"):
            exec(cell.source, names)
    states, expected = [], []
    for size, number_type, optimizer, tied, chunked, checkpoints in itertools.product(
        SIZES, TYPES, OPTIMIZERS, *[(True, False)] * 3
    ):
        state = dict(zip(("V", "d", "batch", "length", "blocks"), size, strict=True))
        switches = {"tied": tied, "chunked": chunked, "checkpoints": checkpoints}
        state |= {"dtype": number_type, "optimizer": optimizer, **switches}
        states.append(state)
        vocab, dim, batch, length, blocks = size
        options = TYPES[number_type] | {"states": OPTIMIZERS[optimizer], "tied": tied}
        options |= {"chunk": 1024 if chunked else None, "checkpoints": checkpoints}
        expected.append(
            list(names["training_bytes"](vocab, dim, batch * length, blocks, **options))
        )
    results = budget.parent.execute_script(COMPUTE, states)
    for state, actual, numbers in zip(states, results, expected, strict=True):
        assert actual == numbers, state


def test_a_key_moves_a_slider_and_the_sentence_follows(budget):
    """Each control has a name, the sentence is a live region; chunks shorten only their bar."""
    controls = budget.find_elements("css selector", "input, select")
    assert len(controls) == 15
    assert all(control.accessible_name for control in controls)
    verdict = find(budget, "[role=status]")
    assert "79.5 GB; the largest part: logits, 51.5 GB" in verdict.text
    field, slider = controls[:2]
    slider.send_keys(Keys.ARROW_LEFT)
    assert field.get_attribute("value") == "131072"
    assert slider.get_attribute("aria-valuetext") == "131,072"
    assert "logits, 25.8 GB" in verdict.text
    bars = "return [...document.querySelectorAll('.budget td i')].map(bar => bar.offsetWidth)"
    before = budget.parent.execute_script(bars)
    find(budget, "[name=chunked]").send_keys(Keys.SPACE)
    assert "activations, 19.3 GB" in verdict.text
    after = budget.parent.execute_script(bars)
    assert before[:4] == after[:4]
    assert before[4] > 10 * after[4]
    assert before[5] < after[5]
    assert not budget.find_elements("css selector", "svg")
    assert not errors(budget.parent)


def test_any_size_can_be_typed(budget):
    """The slider follows as far as it goes; an invalid field is named, and no number is shown."""
    field, slider = budget.find_elements("css selector", "input")[:2]
    for typed, position, logits in (
        ("50257", "16", 9.9),
        ("", "16", None),
        ("-5", "16", None),
        ("50257.5", "16", None),
        ("1000000", "19", 196.6),
    ):
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(typed or Keys.BACKSPACE)
        assert slider.get_attribute("value") == position
        assert find(budget, "tbody tr:nth-child(5) td").text == (f"{logits} GB" if logits else "")
        invalid = budget.find_elements("css selector", ":invalid:not(form)")
        assert invalid == ([] if logits else [field])
        sentence = find(budget, ".budget-verdict").text
        expected = "At the peak" if logits else "vocabulary V: type a whole number from 1."
        assert sentence.startswith(expected)


def test_a_preset_fills_in_all_sizes(budget):
    """GPT-2 and Llama have the vocabulary of their tables, and the sentence follows."""
    before = find(budget, ".budget-verdict").text
    for name, vocab in (("my laptop", "8192"), ("GPT-2", "50257"), ("Llama", "128256")):
        presets = budget.find_elements("css selector", ".budget-presets button")
        next(preset for preset in presets if preset.text == name).click()
        assert find(budget, "[name=V]").get_attribute("value") == vocab
        assert find(budget, ".budget-verdict").text != before
        before = find(budget, ".budget-verdict").text
    assert not find(budget, "[name=tied]").is_selected()


@pytest.mark.parametrize("width", [390, 1300, 1600])  # in one, two and three columns
def test_the_budget_is_as_high_as_its_picture(budget, width):
    """Both have the same least height, so nothing below moves when the script starts."""
    resize(budget.parent, width)
    wait(budget.parent, "document.fonts.status === 'loaded'")
    height, least = budget.parent.execute_script(HEIGHTS)
    assert height == least


def test_the_verdict_is_in_view_while_a_slider_moves(budget):
    """On a phone, all controls and bars are higher than the window."""
    resize(budget.parent, 390)
    slider = find(budget, "[type=range]")
    budget.parent.execute_script("arguments[0].scrollIntoView()", slider)
    before = find(budget, ".budget-verdict").text
    slider.send_keys(Keys.ARROW_LEFT)
    edges = budget.parent.execute_script(VERDICT_EDGES)
    assert edges["top"] > edges["slider"]
    assert edges["bottom"] <= edges["window"] + 1
    assert find(budget, ".budget-verdict").text != before
