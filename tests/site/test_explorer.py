"""The explorer in a browser: its arithmetic, compared with torch, its data and its controls."""

import json
import random
import re
from functools import lru_cache

import pytest
import torch
from _extensions.explorer import Explorer, explorer, wrap_figures
from docutils.utils import new_document
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import ROOT, errors, resize, soup, wait
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import assert_bitwise_equal, assert_within, one_hot, rounding_bound

COUNTED = [[2.0 * n - 1, 2.0 * n] for n in range(1, 7)]
BASKET = [[1.0, 0.2], [3.0, 0.5], [2.0, 1.0], [4.0, 0.1]]
# The initial state on each page with a small explorer.
INITIAL = {
    "index": {},
    "tutorials/lookup-is-matmul": {},
    "tutorials/where-equality-stops": {},
    "tutorials/backward-is-scatter-add":
        {"mode": "backward", "ids": [2, 3, 2], "table": [[0.0, 0.0]] * 4, "arriving": COUNTED},
    "tutorials/sparse-row-is-a-sum":
        {"mode": "bag", "ids": [1, 2], "weights": [3.0, 2.0], "table": BASKET},
}  # fmt: skip
PAGES = ["tutorials/lookup-is-matmul", "explorer", *INITIAL]
WIDTHS = [320, 390, 768, 1440]
MODES = ["forward", "backward", "bag"]
SPECIAL = {"nan": torch.nan, "inf": torch.inf, "zero": -0.0}
CONDITIONS = ["", *SPECIAL, "bfloat16", "tf32"]
# Compute all states in one call; numbers are returned as the integers of their bits, NaN as one.
COMPUTE = """
const { compute } = customElements.get("lookup-explorer");
const bits = rows => rows && rows.map(row => [...new Uint32Array(Float32Array.from(row).buffer)]
    .map((u, j) => Number.isNaN(row[j]) ? 0x7fc00000 : u));
return arguments[0].map(state => {
    const { bad, lookup, product } = compute(state);
    return { bad, lookup: bits(lookup), product: bits(product) };
});
"""
# The unused height of the stage, and the right edge of the rightmost element.
SPARE = """
const [stage] = arguments, reserved = stage.offsetHeight;
stage.style.minHeight = 0;
const needed = stage.offsetHeight;
stage.style.minHeight = "";
return reserved - needed;
"""
# The left edges of the columns of numbers, for each table.
COLUMNS = """
return [...arguments[0].querySelectorAll(".stage table")].map(table =>
    [...table.querySelectorAll("caption + tr td:not(.factor)")].map(td => td.getBoundingClientRect().left));
"""
# The numbers whose style has a corner.
MARKED = """
return [...arguments[0].querySelectorAll('.stage td')]
    .filter(td => getComputedStyle(td).backgroundImage.includes('gradient')).length;
"""
RIGHT = """
return Math.max(...[...arguments[0].querySelectorAll("*")].map(part => part.getBoundingClientRect().right));
"""


@lru_cache
def element(page):
    """Return the parsed explorer of a built page, and its data."""
    (tag,) = soup(ROOT / "build" / "html" / f"{page}.html").select("lookup-explorer")
    return tag, json.loads(tag.find("script").string)


def test_directive_reports_wrong_use(caplog):
    """An unknown choice raises an error, and a missing figure logs a warning."""
    for option in ("open", "offer"):
        with pytest.raises(ValueError, match='"nowhere" unknown; choose from "forward"'):
            Explorer.option_spec[option]("nowhere")
    page = new_document("page")
    page += explorer()
    wrap_figures(None, page)
    assert "no figure follows the explorer" in caplog.text


@pytest.fixture(scope="module", autouse=True)
def motion(browser):
    """Reset the emulated motion preference after these tests, for the tests of colors."""
    yield
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.fixture
def figure(browser, site):
    """Open the explorer's page as a file, at desktop width, and return the explorer."""
    return show(browser, site)


def show(browser, site, page="explorer", motion="no-preference"):
    """Open a page and return its explorer."""
    resize(browser, 1300)
    motions = {"features": [{"name": "prefers-reduced-motion", "value": motion}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", motions)
    browser.get_log("browser")
    browser.get((site / f"{page}.html").as_uri())
    return browser.find_element(By.CSS_SELECTOR, "lookup-explorer")


def find(figure, selector):
    """Return the only element of the figure that matches a selector."""
    (element,) = figure.find_elements(By.CSS_SELECTOR, selector)
    return element


def choose(figure, name, value):
    """Click a value of a switch."""
    find(figure, f"input[name={name}][value='{value}'] + span").click()


def verdict(figure):
    """Return the sentence that reports the result."""
    return find(figure, ".verdict").text


def done(figure):
    """Return the number of multiplications shown."""
    return figure.parent.execute_script("return arguments[0].done", figure)


# Arithmetic


def sample(generator, k):
    """Return a random state; ``k`` selects mode and condition, and some ids are out of range."""
    rows, dim, count = generator.randint(2, 8), generator.randint(1, 6), generator.randint(2, 6)
    ids = [generator.randrange(rows) for _ in range(count)]
    if k // 18 % 2:
        ids = generator.sample(range(rows), min(rows, count))
    normal = lambda n: (torch.randn(n, dim) * 10.0 ** generator.randint(-3, 3)).tolist()  # noqa: E731
    state = {
        "mode": MODES[k // 6 % 3],
        "condition": CONDITIONS[k % 6],
        "ids": ids,
        "weights": [round(generator.uniform(-2, 2), 1) for _ in ids],
        "table": normal(rows),
        "arriving": normal(6),
    }
    source = state["arriving" if state["mode"] == "backward" else "table"]
    size = len(ids) if state["mode"] == "backward" else rows
    row, column = state["at"] = [generator.randrange(size), generator.randrange(dim)]
    # Without a positive number in its column, the sign of a zero depends on torch's kernel.
    next_row = source[(row + 1) % size]
    next_row[column] = abs(next_row[column])
    if k % 25 == 0:
        ids[generator.randrange(len(ids))] = generator.choice([rows, rows + 1, -1])
    return state


@pytest.fixture(scope="module")
def states(browser, site):
    """Return 300 random states, each with the result that the browser computes."""
    show(browser, site)
    torch.manual_seed(0)
    generator = random.Random(0)
    samples = [sample(generator, k) for k in range(300)]
    return list(zip(samples, browser.execute_script(COMPUTE, samples), strict=True))


def round_inputs(tensor, condition):
    """Round to bfloat16 as torch does, or clear the last 13 bits as TF32 does."""
    if condition == "bfloat16":
        return tensor.bfloat16().float()
    truncated = (tensor.view(torch.int32) & ~0x1FFF).view(torch.float32)
    return truncated if condition == "tf32" else tensor


def floats(bits):
    """Return a float32 tensor of the bits that the browser returned."""
    return torch.tensor(bits, dtype=torch.int64).to(torch.int32).view(torch.float32)


def assert_same(actual, expected):
    """Assert that the bits are equal; all NaN are equal."""
    assert torch.equal(actual.isnan(), expected.isnan())
    assert_bitwise_equal(actual.nan_to_num(nan=0), expected.nan_to_num(nan=0))


def exact(state):
    """Return torch's lookup and product in float64, and the sums of absolute terms."""
    mode, condition, ids = state["mode"], state["condition"], torch.tensor(state["ids"])
    backward = mode == "backward"
    source = torch.tensor(state["arriving"][: len(ids)] if backward else state["table"])
    if condition in SPECIAL:
        source[tuple(state["at"])] = SPECIAL[condition]
    factors, rows = one_hot(ids, len(state["table"])), source.double()
    if mode == "forward":
        looked_up, sizes = F.embedding(ids, rows), factors
    elif backward:
        table = torch.tensor(state["table"], dtype=torch.float64, requires_grad=True)
        (looked_up,) = torch.autograd.grad(F.embedding(ids, table), table, rows)
        sizes = factors = factors.T
    else:
        weights = torch.tensor(state["weights"])
        bag = weights.double()[None]
        looked_up = F.embedding_bag(ids[None], rows, mode="sum", per_sample_weights=bag)
        sizes = (weights.abs() @ factors)[None]
        factors = torch.zeros(factors.shape[1]).index_add_(0, ids, weights)[None]
    rounded = [round_inputs(tensor, condition).double() for tensor in (factors, source)]
    sizes = sizes.double() @ rows.abs().nan_to_num(nan=0, posinf=0)
    return {"lookup": looked_up, "product": rounded[0] @ rounded[1]}, sizes


def test_out_of_range_ids_are_reported(states):
    """The browser returns the position of the first id that torch rejects, if any."""
    rejected = 0
    for state, result in states:
        ids, table = torch.tensor(state["ids"]), torch.tensor(state["table"])
        invalid = [n for n, k in enumerate(state["ids"]) if not 0 <= k < len(table)]
        assert result["bad"] == (invalid[0] if invalid else None)
        if invalid:
            rejected += 1
            with pytest.raises(IndexError):
                F.embedding(ids, table)
    assert rejected > 5


@pytest.mark.parametrize("mode", MODES)
def test_lookup_and_product_agree_with_torch(states, mode):
    """Results of one-hot rows are equal in all bits, and sums are within their rounding bound."""
    cases = [(s, r) for s, r in states if s["mode"] == mode and r["bad"] is None]
    assert {state["condition"] for state, _ in cases} == set(CONDITIONS)
    assert len(cases) > 60
    for state, result in cases:
        forms, sizes = exact(state)
        for form, expected in forms.items():
            numbers, finite = floats(result[form]), expected.isfinite()
            if mode == "forward":
                assert_same(numbers, expected.float())
            assert_same(numbers[~finite], expected[~finite].float())
            # Weights of equal ids are summed, too, and each product is rounded.
            terms = len(state["ids"]) + len(state["table"])
            bound = rounding_bound(terms, torch.float32) * sizes
            if form == "product" and state["condition"] == "bfloat16":
                assert_same(numbers, numbers.bfloat16().float())
                bound += expected.abs() * 2.0**-8 * 1.01
            assert_within(numbers[finite].double(), expected[finite], bound[finite])


# Data and links


@pytest.mark.parametrize("page", PAGES)
def test_data_and_links_of_each_page(page, site):
    """Data agree with torch and with the directive's options, and the targets of all links exist."""
    tag, data = element(page)
    assert data["state"] == data["state"] | INITIAL.get(page, {})
    values = {switch["name"]: switch["value"] for switch in tag.select("input[checked]")}
    assert values == {name: data["state"][name] for name in values}
    offered = [switch["value"] for switch in tag.select("input[type=radio]")]
    every = {
        "tutorials/where-equality-stops": ["", "nan", "inf", "bfloat16", "second"],
        "tutorials/sparse-row-is-a-sum": ["", "counts"],
        "explorer": MODES + CONDITIONS,
    }
    assert offered == every.get(page, [])
    with_missing_row = bool(offered) and data["state"]["mode"] != "bag"
    assert len(tag.select(".pick button")) == 4 + with_missing_row
    torch.manual_seed(123)
    table = torch.nn.Embedding(4, 5).weight.detach()
    if "table" not in INITIAL.get(page, {}):
        assert_bitwise_equal(torch.tensor(data["state"]["table"]), table)
    if page == "tutorials/sparse-row-is-a-sum":
        assert data["titles"]["bag"] == ["price in $, mass in kg", "bag: add rows", "multiply: x W"]
    assert len(data["words"]) == len(data["state"]["table"]) == 4
    assert data["bounds"] == [rounding_bound(n + 1, torch.float32) for n in range(7)]
    with pytest.raises(IndexError) as lookup_error:
        F.embedding(torch.tensor([4]), table)
    with pytest.raises(RuntimeError) as encoding_error:
        F.one_hot(torch.tensor([4]), 4)
    assert data["says"]["lookup"] == f"IndexError: {lookup_error.value}"
    assert data["says"]["product"] == f"RuntimeError: {encoding_error.value}"
    links = [link["href"] for link in tag.select(".why p > a:last-child")]
    assert len(links) == len(tag.select(".why p")) == (11 if offered else 0)
    for link in links:
        path, _, anchor = link.partition("#")
        target = ((site / page).parent / path if path else site / f"{page}.html").read_text("utf-8")
        assert f'id="{anchor}"' in target, link


def test_figure_is_shown_without_scripts(without_scripts, site):
    """Without scripts the figure is shown at its own height, and the controls are hidden."""
    figure = show(without_scripts, site)
    drawing = find(figure, "svg.drawing")
    assert drawing.accessible_name.startswith("Two ways from the ids 2, 3, 1")
    assert drawing.is_displayed()
    assert figure.size["height"] <= drawing.size["height"] + 40
    assert not find(figure, ".parts").is_displayed()


# Controls


# With switches, in a tutorial, and with hidden bits.
@pytest.mark.parametrize("page", [*PAGES[:2], "tutorials/sparse-row-is-a-sum"])
def test_start_does_not_shift_the_page(browser, site, page):
    """The height is the same before and after the script starts, and nothing exceeds the window."""
    heights = []
    browser.execute_cdp_cmd("Network.enable", {})
    for blocked in (["*explorer.js*"], []):  # the second one blocks nothing
        browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": blocked})
        figure = show(browser, site, page, "reduce")
        assert len(figure.find_elements(By.CLASS_NAME, "picture")) == len(blocked)
        for width in WIDTHS:
            resize(browser, width)
            assert figure.parent.execute_script("return innerWidth") == width
            heights.append(figure.size["height"])
            stage = find(figure, ".stage")
            assert blocked or browser.execute_script(SPARE, stage) == pytest.approx(0, abs=1)
    browser.execute_cdp_cmd("Network.disable", {})
    assert heights[: len(WIDTHS)] == pytest.approx(heights[len(WIDTHS) :], abs=1)
    if page == "explorer":
        find(figure, ".pick button:nth-of-type(1)").click()
        for mode in MODES:
            choose(figure, "mode", mode)
            for width in WIDTHS:
                resize(browser, width)
                assert browser.execute_script(RIGHT, figure) <= width, mode


@pytest.mark.parametrize("page", ["explorer", *INITIAL])
def test_columns_of_all_tables_are_aligned_on_a_phone(browser, site, page):
    """The numbers of a column are below each other, whatever the length of the captions."""
    figure = show(browser, site, page)
    resize(browser, 390)
    for mode in MODES if page == "explorer" else [None]:
        if mode:
            choose(figure, "mode", mode)
        first, *remaining = browser.execute_script(COLUMNS, figure)
        for columns in remaining:
            assert columns == pytest.approx(first, abs=1), mode


def test_switches_change_the_verdict(figure, browser):
    """Each switch changes the verdict, its explanation, and the corners of numbers that differ."""
    assert verdict(figure) == "The same 15 numbers, both ways."
    assert find(figure, ".verdict").get_attribute("role") == "status"
    expected = {
        "nan": (r"NaN: (3) in the product, 0 in the lookup\.", "#stops-nonfinite"),
        "inf": (r"NaN: (3) in the product, 0 in the lookup\.", "#stops-nonfinite"),
        "bfloat16": (r"Different: (15) of 15 numbers, \d+ of 480 bits\.", "#stops-precision"),
        "tf32": (r"Different: (1[0-5]) of 15 numbers, \d+ of 480 bits\.", "#stops-precision"),
        "zero": (r"Different: (1) of 15 numbers, 1 of 480 bits\.", "#stops-signed-zero"),
        "": (r"The same 15 numbers, both ways\.()", "#stops-theorem"),
    }
    for condition, (pattern, link) in expected.items():
        choose(figure, "condition", condition)
        match = re.fullmatch(pattern, verdict(figure))
        assert match, (condition, verdict(figure))
        rounded = condition in ("bfloat16", "tf32")
        caption = find(figure, ".multiplied caption").text
        assert caption == ("product − lookup" if rounded else "multiply: X W")
        assert browser.execute_script(MARKED, figure) == 2 * int(match[1] or 0)
        (explanation,) = figure.find_elements(By.CSS_SELECTOR, ".why p:not([hidden]) a")
        assert explanation.get_attribute("href").endswith(link)
    choose(figure, "condition", "zero")
    find(figure, ".source tr:nth-of-type(3) td:nth-of-type(2)").click()
    assert verdict(figure) == "Different: 1 of 15 numbers, 1 of 480 bits."
    choose(figure, "condition", "")
    choose(figure, "mode", "bag")
    assert re.fullmatch(r"Total: ([-−\d.]+(, )?){5}\.", verdict(figure))
    find(figure, ".pick button:last-of-type").click()
    assert verdict(figure) == "Both raise an error: there is no row 4. Remove it to go on."
    messages = [code.text for code in figure.find_elements(By.CSS_SELECTOR, ".stage code")]
    expected_messages = element("explorer")[1]["says"]
    assert messages == [expected_messages["bag"][3], expected_messages["product"]]


def test_keyboard_reaches_all_controls(figure, browser):
    """Adding and removing ids, selecting and replacing numbers, and stepping work with keys."""
    find(figure, ".pick button:nth-of-type(1)").send_keys(Keys.RETURN)
    find(figure, ".scrub").send_keys(Keys.END)
    assert verdict(figure) == "The same 20 numbers, both ways."
    find(figure, ".asked li:nth-of-type(4) button").send_keys(Keys.SPACE)
    assert verdict(figure) == "The same 15 numbers, both ways."
    assert browser.switch_to.active_element.accessible_name == "1 today remove"
    find(figure, ".copied [tabindex='0']").send_keys(Keys.ARROW_DOWN)
    number = browser.switch_to.active_element
    assert number.aria_role == "gridcell", "no screen reader passes arrow keys on to it"
    assert number.value_of_css_property("outline-width") == "3px"
    number.send_keys(Keys.ARROW_RIGHT)
    exact = element("explorer")[1]["state"]["table"][3][1]
    bits = find(figure, ".bits summary + [role=img]")
    assert bits.accessible_name.startswith(f"lookup {exact:.9g}".replace("-", "−"))
    assert re.search(r", bits [01]{32}$", bits.accessible_name)
    find(figure, "[name=condition][value='']").send_keys(Keys.ARROW_RIGHT)
    assert verdict(figure).startswith("NaN: 3")
    find(figure, ".planted").send_keys(Keys.ARROW_RIGHT)
    assert browser.execute_script("return arguments[0].state.at", figure) == [0, 1]
    assert browser.switch_to.active_element.text == "NaN"
    scrub = find(figure, ".scrub")
    scrub.send_keys(Keys.HOME)
    scrub.send_keys(Keys.ARROW_RIGHT)
    assert find(figure, ".sum").text.startswith("1 of 60: 0 + 0 × 0.34 = 0")
    assert verdict(figure) == "Paused."
    for control in figure.find_elements(By.CSS_SELECTOR, "button, input, [role=img]"):
        assert control.accessible_name or not control.is_displayed()


def test_animation_runs_to_the_end(figure, browser):
    """The play button runs all multiplications, under the page's content security policy."""
    find(figure, ".scrub").send_keys(Keys.END, *3 * [Keys.ARROW_LEFT])
    assert done(figure) == 57
    find(figure, ".play").click()
    wait(browser, "arguments[0].done === 60", figure)
    assert not errors(browser)


def test_a_row_in_flight_does_not_arrive_after_a_change(browser, site):
    """Removing an id and moving the slider end the animation; the last id keeps the focus near."""
    figure = show(browser, site, "tutorials/backward-is-scatter-add")
    find(figure, ".play").click()
    find(figure, ".asked li:nth-of-type(3) button").click()
    browser.execute_async_script("setTimeout(arguments[0], 1000)")  # longer than a row flies
    assert done(figure) == 2
    assert verdict(figure) == "The same 8 numbers, both ways."
    find(figure, ".play").click()
    find(figure, ".scrub").send_keys(Keys.END)
    browser.execute_async_script("setTimeout(arguments[0], 1000)")
    assert done(figure) == 2
    find(figure, ".asked li:nth-of-type(2) button").send_keys(Keys.SPACE)
    assert browser.switch_to.active_element.accessible_name == "0 snows"
    for _ in range(5):
        find(figure, ".pick button:nth-of-type(4)").send_keys(Keys.RETURN)
    assert browser.switch_to.active_element.accessible_name == "3 rains remove"


def test_reduced_motion_is_respected(browser, site):
    """With reduced motion a step completes a row at once, without animations."""
    figure = show(browser, site, motion="reduce")
    for row in (1, 2, 3):
        find(figure, ".play").click()
        assert done(figure) == 20 * row
        assert browser.execute_script("return document.getAnimations().length") == 0
    assert verdict(figure) == "The same 15 numbers, both ways."
    find(figure, ".pick button:nth-of-type(2)").click()
    assert verdict(figure) == "The same 20 numbers, both ways."


def test_a_guess_shows_where_a_nan_comes_from(browser, site):
    """The NaN is planted before the guess, which starts the product; a switch shows results at once."""
    figure = show(browser, site, "tutorials/where-equality-stops")
    assert find(figure, ".planted").text == "NaN" and not verdict(figure)
    find(figure, ".guess button:first-of-type").click()
    wait(
        browser, "arguments[0].querySelector('.sum').textContent.includes('0 × NaN = NaN')", figure
    )
    for condition in ("", "nan"):
        choose(figure, "condition", condition)
    assert verdict(figure) == "NaN: 3 in the product, 0 in the lookup."


def test_a_second_one_adds_a_row(browser, site):
    """The first row of the product is then the sum of two rows of the table."""
    figure = show(browser, site, "tutorials/where-equality-stops", "reduce")
    choose(figure, "condition", "second")
    assert verdict(figure).startswith("Different: 5 of 15 numbers")
    torch.manual_seed(123)
    table = torch.nn.Embedding(4, 5).weight.detach()
    state = browser.execute_script("return arguments[0].state", figure)
    (result,) = browser.execute_script(COMPUTE, [state])
    assert_bitwise_equal(floats(result["product"])[0], table[2] + table[3])


def test_receipt_with_and_without_counts(browser, site):
    """A cart has a receipt in the units of its columns; without counts the lookup adds each row once."""
    figure = show(browser, site, "tutorials/sparse-row-is-a-sum", "reduce")
    assert find(figure, ".sum").text == "What is the total?"
    find(figure, ".pick button:first-of-type").click()
    find(figure, ".asked li:last-child button").click()
    assert done(figure) == 0, "the reader has not guessed yet"
    find(figure, ".play").click()
    assert verdict(figure) == "Total: $13, 3.50 kg."
    assert find(figure, ".sum").text == "3 × $3 + 2 × $2 = $13"
    choose(figure, "condition", "counts")
    assert verdict(figure) == "Without the counts $5, 1.50 kg; with them $13, 3.50 kg."
    assert find(figure, ".sum").text == "1 × $3 + 1 × $2 = $5"
    factors = [cell.text for cell in figure.find_elements(By.CSS_SELECTOR, ".source .factor")]
    assert factors == ["0 ×", "1 ×", "1 ×", "0 ×"]
    choose(figure, "condition", "")
    find(figure, ".guess button:first-of-type").click()
    assert verdict(figure) == "Not $5, but $13. Total: $13, 3.50 kg."
    find(figure, ".asked li:first-child input").send_keys(Keys.BACKSPACE, "1")
    assert verdict(figure) == "Total: $7, 2.50 kg.", "the guess was about another cart"


@pytest.mark.parametrize(
    ("page", "answer", "line"),
    [
        ("index", "0", "The product made 60 multiplications, the lookup none."),
        (PAGES[0], "45", "45 of 60 multiplications were by zero; the lookup made none."),
        ("tutorials/where-equality-stops", "3", ""),
        ("tutorials/backward-is-scatter-add", "6, 8", "Row 2: (1, 2) + (5, 6) = (6, 8)"),
        ("tutorials/sparse-row-is-a-sum", "$13", "3 × $3 + 2 × $2 = $13"),
    ],
)
def test_guess_is_compared_with_the_answer(browser, site, page, answer, line):
    """One guess of those offered is right; each starts the computation; other ids hide the guess."""
    figure = show(browser, site, page, "reduce")
    guesses = figure.find_elements(By.CSS_SELECTOR, ".guess button")
    assert answer in [guess.text for guess in guesses]
    for guess in guesses:
        guess.click()
        right = guess.text == answer
        outcome = f"Right: {answer}. " if right else f"Not {guess.text}, but {answer}. "
        assert verdict(figure).startswith(outcome)
        assert find(figure, ".sum").text.endswith(line)
        assert find(figure, "[aria-pressed=true]") == guess
    find(figure, ".pick button:first-of-type").click()
    assert not figure.find_elements(By.CSS_SELECTOR, "[aria-pressed=true]")
    assert not re.match("Right|Not", verdict(figure))
    assert not guesses[0].is_displayed(), "no choice fits other ids"


def test_an_error_disables_the_switches(browser, site):
    """No switch changes an error; the switches return when the id is removed."""
    figure = show(browser, site, "tutorials/where-equality-stops", "reduce")
    choose(figure, "condition", "")
    last = {".pick button:last-of-type": False, ".asked li:last-child button": True}
    for selector, enabled in last.items():
        find(figure, selector).click()
        switch = find(figure, "[name=condition][value=nan]")
        assert switch.is_enabled() == enabled
        assert verdict(figure).startswith("The same 15" if enabled else "Both raise")


def test_counter_stops_as_torch_does(browser, site):
    """The button adds as torch does, in float32 and in bfloat16."""
    show(browser, site, "tutorials/backward-is-scatter-add")
    counter = browser.find_element(By.CLASS_NAME, "counter")
    sums = [torch.tensor(250, dtype=dtype) for dtype in (torch.float32, torch.bfloat16)]
    for _ in range(10):
        counter.find_element(By.TAG_NAME, "button").click()
        sums = [number + 1 for number in sums]
        long, short = (int(number) for number in sums)
        text = counter.find_element(By.TAG_NAME, "output").text
        assert text == f"float32: {long}, bfloat16: {short}"
    assert (long, short) == (260, 256)
