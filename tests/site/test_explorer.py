"""The explorer in a browser: its arithmetic, compared with torch, its data and its controls."""

import json
import random
import re

import pytest
import torch
from _extensions.explorer import Explorer, explorer, wrap_figures
from docutils.utils import new_document
from selenium.webdriver.common.keys import Keys
from served import errors, find, open_page, resize, wait
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import assert_bitwise_equal, assert_within, one_hot, rounding_bound

COUNTED = [[2.0 * n - 1, 2.0 * n] for n in range(1, 7)]
BASKET = [[1.0, 0.2], [3.0, 0.5], [2.0, 1.0], [4.0, 0.1]]
FIRST, STOPS = "tutorials/lookup-is-matmul", "tutorials/where-equality-stops"
BACKWARD, BAG = "tutorials/backward-is-scatter-add", "tutorials/sparse-row-is-a-sum"
MODES = ["forward", "backward", "bag"]
SPECIAL = {"nan": torch.nan, "inf": torch.inf, "zero": -0.0}
CONDITIONS = ["", *SPECIAL, "bfloat16", "tf32"]
# The initial state on each page, if it is not the usual one, and the values of the switches.
INITIAL = {
    "explorer": ({}, MODES + CONDITIONS),
    "index": ({}, []),
    FIRST: ({}, []),
    STOPS: ({}, ["", "nan", "inf", "bfloat16", "second"]),
    BACKWARD: (
        {"mode": "backward", "ids": [2, 3, 2], "table": [[0.0, 0.0]] * 4, "arriving": COUNTED},
        [],
    ),
    BAG: ({"mode": "bag", "ids": [1, 2], "weights": [3.0, 2.0], "table": BASKET}, ["", "counts"]),
}
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
# The unused height of the stage.
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


def test_directive_reports_wrong_use(caplog):
    """An unknown choice raises an error, and a missing figure logs a warning."""
    for option in ("open", "offer"):
        with pytest.raises(ValueError, match='"nowhere" unknown; choose from "forward"'):
            Explorer.option_spec[option]("nowhere")
    page = new_document("page")
    page += explorer()
    wrap_figures(None, page)
    assert "no figure follows the explorer" in caplog.text


def show(browser, site, page="explorer"):
    """Open a page as a file and return its explorer."""
    open_page(browser, site.as_uri(), page)
    return find(browser, "lookup-explorer")


@pytest.fixture
def moving(browser, site, emulate):
    """Return a function as :func:`show` for a reader who does not mind motion."""
    emulate(prefers_reduced_motion="no-preference")
    return lambda page: show(browser, site, page)


def switch(name, value):
    return f"input[name={name}][value='{value}'] + span"


def verdict(figure):
    """Return the sentence that reports the result."""
    return find(figure, ".verdict").text


def done(figure):
    """Return the number of multiplications shown."""
    return figure.parent.execute_script("return arguments[0].done", figure)


def sample(generator, k):
    """Return a random state; ``k`` selects mode and condition, and some ids are out of range."""
    rows, dim, count = generator.randint(2, 8), generator.randint(1, 6), generator.randint(2, 6)
    ids = [generator.randrange(rows) for _ in range(count)]
    normal = lambda n: (torch.randn(n, dim) * 10.0 ** generator.randint(-3, 3)).tolist()  # noqa: E731
    state = {
        "mode": MODES[k % 3],
        "condition": [*CONDITIONS, "second" if k % 3 == 0 else ""][k // 3 % 7],
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


def round_inputs(tensor, condition):
    """Round to bfloat16 as torch does, or clear the last 13 bits as TF32 does."""
    if condition == "bfloat16":
        return tensor.bfloat16().float()
    truncated = (tensor.view(torch.int32) & ~0x1FFF).view(torch.float32)
    return truncated if condition == "tf32" else tensor


def assert_same(actual, expected):
    """Assert that the bits are equal; all NaN are equal."""
    assert torch.equal(actual.isnan(), expected.isnan())
    assert_bitwise_equal(actual.nan_to_num(nan=0), expected.nan_to_num(nan=0))


def exact(state):
    """Return torch's lookup and product in float64, and the sums of absolute terms."""
    mode, condition, ids = state["mode"], state["condition"], torch.tensor(state["ids"])
    source = torch.tensor(state["arriving"][: len(ids)] if mode == "backward" else state["table"])
    if condition in SPECIAL:
        source[tuple(state["at"])] = SPECIAL[condition]
    rows, hot = source.double(), one_hot(ids, len(state["table"]))
    if condition == "second":
        hot[0, (ids[0] + 1) % len(rows)] = 1
    sizes = factors = hot.T if mode == "backward" else hot
    if mode == "forward":
        looked_up = F.embedding(ids, rows)
    elif mode == "backward":
        table = torch.tensor(state["table"], dtype=torch.float64, requires_grad=True)
        (looked_up,) = torch.autograd.grad(F.embedding(ids, table), table, rows)
    else:
        weights = torch.tensor(state["weights"])
        bag = weights.double()[None]
        looked_up = F.embedding_bag(ids[None], rows, mode="sum", per_sample_weights=bag)
        factors = torch.zeros(hot.shape[1]).index_add_(0, ids, weights)[None]
        sizes = weights.abs()[None] @ hot
    rounded = [round_inputs(tensor, condition).double() for tensor in (factors, source)]
    sizes = sizes.double() @ rows.abs().nan_to_num(nan=0, posinf=0)
    return {"lookup": looked_up, "product": rounded[0] @ rounded[1]}, sizes


def test_lookup_and_product_agree_with_torch(browser, site):
    """One-hot rows give the same bits, sums are within their bound, an id without a row is named."""
    show(browser, site)
    torch.manual_seed(0)
    generator = random.Random(0)
    states, rejected = [sample(generator, k) for k in range(300)], 0
    for state, result in zip(states, browser.execute_script(COMPUTE, states), strict=True):
        ids, table = state["ids"], torch.tensor(state["table"])
        invalid = [place for place, k in enumerate(ids) if not 0 <= k < len(table)]
        assert result["bad"] == (invalid[0] if invalid else None)
        if invalid:
            rejected += 1
            with pytest.raises(IndexError):
                F.embedding(torch.tensor(ids), table)
            continue
        forms, sizes = exact(state)
        for form, expected in forms.items():
            bits = torch.tensor(result[form], dtype=torch.int64)
            numbers, finite = bits.to(torch.int32).view(torch.float32), expected.isfinite()
            if state["mode"] == "forward":
                assert_same(numbers, expected.float())
            assert_same(numbers[~finite], expected[~finite].float())
            # Weights of equal ids are summed, too, and each product is rounded.
            bound = rounding_bound(len(ids) + len(table), torch.float32) * sizes
            if form == "product" and state["condition"] == "bfloat16":
                assert_same(numbers, numbers.bfloat16().float())
                bound += expected.abs() * 2.0**-8 * 1.01
            assert_within(numbers[finite].double(), expected[finite], bound[finite])
    assert rejected > 5


@pytest.mark.parametrize("page", INITIAL)
def test_data_of_each_page(page, pages):
    """They agree with torch and with the directive's options, and the switches with them."""
    (tag,) = pages[page].select("lookup-explorer")
    data, (initial, offered) = json.loads(tag.find("script").string), INITIAL[page]
    assert data["state"] == data["state"] | initial
    for checked in tag.select("input[checked]"):
        assert checked["value"] == data["state"][checked["name"]]
    assert [radio["value"] for radio in tag.select("input[type=radio]")] == offered
    with_missing_row = bool(offered) and page != BAG
    assert len(tag.select(".pick button")) == 4 + with_missing_row
    assert len(tag.select(".why p > a")) == (11 if offered else 0)
    torch.manual_seed(123)
    if "table" not in initial:
        table = torch.nn.Embedding(4, 5).weight.detach()
        assert_bitwise_equal(torch.tensor(data["state"]["table"]), table)
    if page == BAG:
        assert data["titles"]["bag"] == ["price in $, mass in kg", "bag: add rows", "multiply: x W"]
    assert data["bounds"] == [rounding_bound(n + 1, torch.float32) for n in range(7)]


@pytest.mark.parametrize("page", INITIAL)
def test_tables_fit_the_window_and_are_aligned_on_a_phone(browser, site, page):
    """The numbers of a column are below each other, whatever the length of the captions."""
    figure = show(browser, site, page)
    for mode in ["", *MODES] if page == "explorer" else [""]:
        if mode:
            find(figure, switch("mode", mode)).click()
        for width in (320, 390, 768, 1440):
            resize(browser, width)
            assert browser.execute_script(RIGHT, figure) <= width, mode
            if not mode:
                assert browser.execute_script(SPARE, find(figure, ".stage")) <= 1, width
            if width == 390:
                first, *remaining = browser.execute_script(COLUMNS, figure)
                for columns in remaining:
                    assert columns == pytest.approx(first, abs=1), mode
        find(figure, ".pick button:nth-of-type(1)").click()


def test_switches_change_the_verdict(browser, site):
    """Each switch changes the verdict, its explanation, and the corners of numbers that differ."""
    figure = show(browser, site)
    assert find(figure, ".verdict").get_attribute("role") == "status"
    expected = {
        "nan": (r"NaN: (3) in the product, 0 in the lookup\.", "#stops-nonfinite"),
        "inf": (r"NaN: (3) in the product, 0 in the lookup\.", "#stops-nonfinite"),
        "bfloat16": (r"Different: (15) of 15 numbers, \d+ of 480 bits\.", "#stops-precision"),
        "tf32": (
            r"Different: (1[0-5]) of 15 numbers, \d+ of 480 bits\.",
            "#conditions-two-bfloat16",
        ),
        "zero": (r"Different: (1) of 15 numbers, 1 of 480 bits\.", "#stops-signed-zero"),
        "": (r"The same 15 numbers, both ways\.()", "#stops-theorem"),
    }
    for condition, (pattern, link) in expected.items():
        find(figure, switch("condition", condition)).click()
        match = re.fullmatch(pattern, verdict(figure))
        assert match, (condition, verdict(figure))
        rounded = condition in ("bfloat16", "tf32")
        caption = find(figure, ".multiplied caption").text
        assert caption == ("product − lookup" if rounded else "multiply: X W")
        assert browser.execute_script(MARKED, figure) == 2 * int(match[1] or 0)
        explanation = find(figure, ".why p:not([hidden]) a")
        assert explanation.get_attribute("href").endswith(link)


# Clicks, and a pattern of the line and the verdict after each.
PLAY = ".play"
CLICKS = {
    "explorer": [
        (PLAY, r"^20 of 60: .*Paused\."),  # a row at once
        (PLAY, r"^40 of 60: .*Paused\."),
        (PLAY, r"The same 15 numbers, both ways\."),
        (".pick button:nth-of-type(2)", r"The same 20 numbers, both ways\."),
        (switch("condition", "zero"), r"Different: 1 of 20 numbers, 1 of 640 bits\."),
        (".source tr:nth-of-type(3) td:nth-of-type(2)", r"Different: 1 of 20 numbers, 1 of 640"),
        (switch("condition", ""), r"The same 20 numbers, both ways\."),
        (switch("mode", "bag"), r"Total: ([-−\d.]+(, )?){5}\.$"),
    ],
    STOPS: [
        (switch("condition", "second"), r"Different: 5 of 15 numbers"),
        (switch("condition", "nan"), r"NaN: 3 in the product, 0 in the lookup\."),
    ],
    BAG: [
        (".pick button:first-of-type", r" = \$14 Total: \$14, 3\.70 kg\.$"),
        (".asked li:last-child button", r"^3 × \$3 \+ 2 × \$2 = \$13 Total: \$13, 3\.50 kg\.$"),
        (
            switch("condition", "counts"),
            r"^1 × \$3 \+ 1 × \$2 = \$5 Without the counts \$5, 1\.50 kg;",
        ),
        (switch("condition", ""), r"Total: \$13"),
        (".guess button:last-of-type", r"Not \$13, but \$5\. Without the counts \$5, 1\.50 kg;"),
    ],
}


@pytest.mark.parametrize("page", CLICKS)
def test_clicks_change_the_line_and_the_verdict(browser, site, page):
    """With reduced motion nothing is animated; a changed weight forgets the guess."""
    figure = show(browser, site, page)
    for selector, pattern in CLICKS[page]:
        find(figure, selector).click()
        text = f"{find(figure, '.sum').text} {verdict(figure)}"
        assert re.search(pattern, text), (selector, text)
        assert browser.execute_script("return document.getAnimations().length") == 0
        if selector == switch("condition", "counts"):
            factors = [part.text for part in figure.find_elements("css selector", ".factor")]
            assert factors[:4] == ["0 ×", "1 ×", "1 ×", "0 ×"]  # what the bag gets
            assert factors[4:] == ["0", "3", "2", "0"]
            captions = [part.text for part in figure.find_elements("css selector", "caption")]
            assert captions[1:] == ["bag: each row once", "multiply by the counts"]
    if page == BAG:
        find(figure, ".asked li:first-child input").send_keys(Keys.BACKSPACE, "1")
        expected = "Without the counts $5, 1.50 kg; with them $7, 2.50 kg."
        assert verdict(figure) == expected, "the guess was about another cart"


def test_an_id_without_a_row_raises_the_errors_of_torch(browser, site):
    """It disables the switches until it is removed."""
    figure, ids = show(browser, site), torch.tensor([2, 3, 1, 4])
    lookups = {"forward": lambda: F.embedding(ids[3:], torch.zeros(4, 5))}
    lookups["bag"] = lambda: F.embedding_bag(ids[None], torch.zeros(4, 5))
    for mode, lookup in lookups.items():
        find(figure, switch("mode", mode)).click()
        find(figure, ".pick button:last-of-type").click()
        assert verdict(figure) == "Both raise an error: there is no row 4. Remove it to go on."
        assert not find(figure, "[name=condition]").is_enabled()
        codes = figure.find_elements("css selector", ".stage code")
        for call, code in zip((lookup, lambda: F.one_hot(ids[3:], 4)), codes, strict=True):
            with pytest.raises((IndexError, RuntimeError)) as error:
                call()
            assert code.text == f"{error.typename}: {error.value}"
        assert find(figure, ".stage .source").is_displayed(), "the table shows which rows there are"
        find(figure, ".asked li:last-child button").click()
        assert find(figure, "[name=condition]").is_enabled()


def test_keyboard_reaches_all_controls(browser, site):
    """Adding and removing ids, selecting and replacing numbers, and stepping work with keys."""
    figure = show(browser, site)
    find(figure, ".pick button:nth-of-type(1)").send_keys(Keys.RETURN)
    assert verdict(figure) == "The same 20 numbers, both ways."
    find(figure, ".asked li:nth-of-type(4) button").send_keys(Keys.SPACE)
    assert verdict(figure) == "The same 15 numbers, both ways."
    assert browser.switch_to.active_element.accessible_name == "1 today remove"
    find(figure, ".copied [tabindex='0']").send_keys(Keys.ARROW_DOWN)
    number = browser.switch_to.active_element
    assert number.aria_role == "gridcell", "no screen reader passes arrow keys on to it"
    assert number.value_of_css_property("outline-width") == "3px"
    number.send_keys(Keys.ARROW_RIGHT)
    value = browser.execute_script("return arguments[0].state.table[3][1]", figure)
    name = find(figure, ".bits summary + [role=img]").accessible_name
    assert re.fullmatch(rf"lookup {value:.9g}, bits [01]{{32}}".replace("-", "−"), name)
    find(figure, "[name=condition][value='']").send_keys(Keys.ARROW_RIGHT)
    assert verdict(figure).startswith("NaN: 3")
    find(figure, ".planted").send_keys(Keys.ARROW_RIGHT)
    assert browser.execute_script("return arguments[0].state.at", figure) == [0, 1]
    assert browser.switch_to.active_element.text == "NaN"
    find(figure, ".scrub").send_keys(Keys.HOME, Keys.ARROW_RIGHT)
    assert find(figure, ".sum").text.startswith("1 of 60: 0 + 0 × 0.34 = 0")
    assert verdict(figure) == "Paused."
    for control in figure.find_elements("css selector", "button, input, [role=img]"):
        assert control.accessible_name or not control.is_displayed()


def test_animations_run_to_the_end(browser, moving):
    """A guess shows where a planted NaN comes from; a switch shows results at once."""
    figure = moving("explorer")
    find(figure, ".scrub").send_keys(Keys.END, *3 * [Keys.ARROW_LEFT])
    assert done(figure) == 57
    find(figure, PLAY).click()
    wait(browser, "arguments[0].done === 60", figure)
    assert not errors(browser)
    figure = moving(STOPS)
    assert not figure.find_elements("css selector", ".planted")
    find(figure, ".guess button:first-of-type").click()
    line = find(figure, ".sum")
    wait(browser, "arguments[0].textContent.includes('0 × NaN = NaN')", line)
    for condition in ("", "nan"):
        find(figure, switch("condition", condition)).click()
    assert verdict(figure) == "NaN: 3 in the product, 0 in the lookup."


def test_a_row_in_flight_does_not_arrive_after_a_change(browser, moving):
    """Removing an id and moving the slider end the animation; the last id keeps the focus near."""
    figure = moving(BACKWARD)
    for selector, keys in ((".asked li:nth-of-type(3) button", Keys.SPACE), (".scrub", Keys.END)):
        find(figure, PLAY).click()
        find(figure, selector).send_keys(keys)
        browser.execute_async_script("setTimeout(arguments[0], 1000)")  # longer than a row flies
        assert done(figure) == 2
        assert verdict(figure) == "The same 8 numbers, both ways."
    find(figure, ".asked li:nth-of-type(2) button").send_keys(Keys.SPACE)
    assert browser.switch_to.active_element.accessible_name == "0 snows"
    for _ in range(5):
        find(figure, ".pick button:nth-of-type(4)").send_keys(Keys.RETURN)
    assert browser.switch_to.active_element.accessible_name == "3 rains remove"


@pytest.mark.parametrize(
    ("page", "answer", "line"),
    [
        ("index", "0", "The product made 60 multiplications, the lookup none."),
        (FIRST, "45", "45 of 60 multiplications were by zero; the lookup made none."),
        (STOPS, "3", ""),
        (BAG, "$5", "1 × $3 + 1 × $2 = $5"),
    ],
)
def test_guess_is_compared_with_the_answer(browser, site, page, answer, line):
    """The figure is finished; one guess of those offered is right, and other ids hide all."""
    figure = show(browser, site, page)
    guesses = figure.find_elements("css selector", ".guess button")
    assert answer in [guess.text for guess in guesses]
    assert done(figure) == browser.execute_script("return arguments[0].total", figure)
    assert find(figure, ".sum").text != line or page == STOPS, "the line gives the answer away"
    for guess in guesses:
        guess.click()
        right = guess.text == answer
        outcome = f"Right: {answer}. " if right else f"Not {guess.text}, but {answer}. "
        assert verdict(figure).startswith(outcome)
        assert ("right" in find(figure, ".verdict").get_attribute("class").split()) == right
        assert find(figure, ".sum").text.endswith(line)
        assert figure.find_elements("css selector", "[aria-pressed=true]") == [guess]
    if page == STOPS:
        find(figure, switch("condition", "bfloat16")).click()
        assert not guesses[0].is_displayed(), "the question is about NaN"
        find(figure, switch("condition", "")).click()
    find(figure, ".pick button:first-of-type").click()
    assert not figure.find_elements("css selector", "[aria-pressed=true]")
    assert not re.match("Right|Not", verdict(figure))
    assert not guesses[0].is_displayed(), "no choice fits other ids"


def test_a_guess_above_the_figure_comes_before_its_answer(browser, site):
    """The figure begins before its first step, and without motion a guess shows the last one."""
    figure = show(browser, site, BACKWARD)
    assert (done(figure), "(6, 8)" in figure.text) == (0, False)
    find(browser, ".choices button").click()
    assert (done(figure), "(6, 8)" in figure.text) == (3, True)


def test_counter_stops_as_torch_does(browser, site):
    """The button adds as torch does, in float32 and in bfloat16."""
    show(browser, site, BACKWARD)
    counter = find(browser, ".counter")
    sums = [torch.tensor(250, dtype=dtype) for dtype in (torch.float32, torch.bfloat16)]
    for _ in range(10):
        find(counter, "button").click()
        sums = [number + 1 for number in sums]
        text = "float32: {:.0f}, bfloat16: {:.0f}".format(*sums)
        assert find(counter, "output").text == text
    assert text == "float32: 260, bfloat16: 256"
    find(counter, "button:nth-of-type(2)").click()
    assert find(counter, "output").text == "float32: 360, bfloat16: 256"


def test_an_answer_is_in_view_on_a_phone(browser, site):
    """A guess brings the whole sentence into the window."""
    figure = show(browser, site, STOPS)
    resize(browser, 390)
    guess = find(figure, ".guess button")
    browser.execute_script("arguments[0].scrollIntoView()", guess)
    guess.click()
    bottom = "return arguments[0].getBoundingClientRect().bottom <= innerHeight"
    assert browser.execute_script(bottom, find(figure, ".verdict"))
