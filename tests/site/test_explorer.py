"""The explorer in a real browser: its arithmetic against torch, its costs against the package, its use."""

import json
import random
import re
import sys
import time
from functools import lru_cache

import pytest
import torch
from bs4 import BeautifulSoup
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import ROOT
from test_light_browser import refused
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import (
    assert_bitwise_equal,
    assert_within,
    lookup,
    one_hot,
    one_hot_matmul,
    rounding_bound,
)
from lookup_matmul.recorded import FOLDER

sys.path.append(str(ROOT / "docs" / "_extensions"))
from explorer import explorer_costs

SCRIPT = ROOT / "docs" / "_static" / "explorer.js"
PAGES = ["index", "explorer", "tutorials/lookup-is-matmul"]
MODES = ["forward", "backward", "bag"]
SPECIAL = {"nan": torch.nan, "inf": torch.inf, "zero": -0.0}
CONDITIONS = ["", *SPECIAL, "bfloat16", "tf32"]
# All states in one call; every number comes back as the integer of its bits, all NaN as one.
COMPUTE = """
const { compute } = customElements.get("lookup-explorer");
const bits = rows => rows && rows.map(row => [...new Uint32Array(Float32Array.from(row).buffer)]
    .map((u, j) => Number.isNaN(row[j]) ? 0x7fc00000 : u));
return arguments[0].map(state => {
    const { bad, lookup, product, xors } = compute(state);
    return { bad, lookup: bits(lookup), product: bits(product), xors };
});
"""
# Moves the sliders, chooses a machine, and reads the table.
MOVE = """
const panel = document.querySelector(".costs");
[...panel.querySelectorAll("[type=range]")].forEach((each, k) => { each.value = arguments[0][k]; });
panel.querySelector("select").value = arguments[1];
panel.dispatchEvent(new Event("input"));
return [...panel.querySelectorAll("tbody tr")].map(row => [...row.cells].slice(1, 4).map(cell => cell.textContent));
"""
# What lies in the element or below it and has moved since the page began to load.
MOVED = """
const element = document.querySelector("lookup-explorer"), below = node => element.compareDocumentPosition(node) & (4 | 16);
const watched = new PerformanceObserver(() => {});
watched.observe({ type: "layout-shift", buffered: true });
return new Promise(done => setTimeout(() => done(watched.takeRecords().flatMap(entry => entry.sources)
    .filter(({ node }) => node && below(node)).map(({ node }) => node.textContent.slice(0, 80))), 300));
"""
# How much height is kept for the element beyond what it takes.
SPARE = """
const kept = arguments[0].offsetHeight;
arguments[0].style.minHeight = 0;
const needed = arguments[0].offsetHeight;
arguments[0].style.minHeight = "";
return kept - needed;
"""


@lru_cache
def element(page):
    """Give the element of a built page, parsed, and its data."""
    html = (ROOT / "build" / "html" / f"{page}.html").read_text("utf-8")
    (found,) = BeautifulSoup(html, "html.parser").select("lookup-explorer")
    return found, json.loads(found.find("script").string)


@pytest.fixture
def figure(browser, site):
    """Open the explorer's page as a file, at a desktop's width, and give the element."""
    return show(browser, site)


def show(browser, site, page="explorer", width=1300, motion="no-preference"):
    """Open a page and wait until its explorer stands there."""
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 700}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    motions = {"features": [{"name": "prefers-reduced-motion", "value": motion}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", motions)
    browser.get_log("browser")
    browser.get((site / f"{page}.html").as_uri())
    return browser.find_element(By.CSS_SELECTOR, "lookup-explorer")


def find(figure, selector):
    """Give the one part of the figure that a selector names."""
    (part,) = figure.find_elements(By.CSS_SELECTOR, selector)
    return part


def choose(figure, name, value):
    """Choose a switch as a pointer does."""
    path = f".//input[@name='{name}'][@value='{value}']/following-sibling::span"
    figure.find_element(By.XPATH, path).click()


def verdict(figure):
    """Give the sentence that is said."""
    return find(figure, ".verdict").text


# The arithmetic.


def draw(generator, k):
    """Draw a state; each of the modes occurs with each condition, some with an id without a row."""
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
    # With no positive number beside it, the sign of a zero is up to torch's kernel.
    other = source[(row + 1) % size]
    other[column] = abs(other[column])
    if k % 25 == 0:
        ids[generator.randrange(len(ids))] = generator.choice([rows, rows + 1, -1])
    return state


@pytest.fixture(scope="module")
def states(browser, site):
    """Draw 300 states, and give each with what the browser computes."""
    show(browser, site)
    torch.manual_seed(0)
    generator = random.Random(0)
    drawn = [draw(generator, k) for k in range(300)]
    return list(zip(drawn, browser.execute_script(COMPUTE, drawn), strict=True))


def shorten(tensor, condition):
    """Round to bfloat16 as torch does, or cut 13 bits off, of finite numbers."""
    if condition == "bfloat16":
        return tensor.bfloat16().float()
    return (
        (tensor.view(torch.int32) & ~0x1FFF).view(torch.float32) if condition == "tf32" else tensor
    )


def tensors(state):
    """Give the ids, what both forms read, and the weights."""
    source = torch.tensor(
        state["arriving"][: len(state["ids"])] if state["mode"] == "backward" else state["table"]
    )
    if state["condition"] in SPECIAL:
        source[tuple(state["at"])] = SPECIAL[state["condition"]]
    return torch.tensor(state["ids"]), source, torch.tensor(state["weights"])


def floats(bits):
    """Give the numbers that the browser sent as bits."""
    return torch.tensor(bits, dtype=torch.int64).to(torch.int32).view(torch.float32)


def same(found, expected):
    """Assert the same bits, all NaN alike."""
    assert torch.equal(found.isnan(), expected.isnan())
    assert_bitwise_equal(found.nan_to_num(nan=0), expected.nan_to_num(nan=0))


def near(found, expected, bound):
    """Assert numbers within a bound, where they are finite, and the same ones elsewhere."""
    finite = expected.isfinite()
    assert torch.equal(
        found[~finite].nan_to_num(nan=0), expected[~finite].float().nan_to_num(nan=0)
    )
    assert torch.equal(found.isnan(), expected.isnan())
    assert_within(found[finite].double(), expected[finite].double(), bound[finite])


def of(states, mode):
    """Select the states of a mode whose ids all have rows."""
    found = [(s, r) for s, r in states if s["mode"] == mode and r["bad"] is None]
    assert {s["condition"] for s, _ in found} == set(CONDITIONS)
    assert len(found) > 60
    return found


def test_an_id_without_a_row_is_found(states):
    """The browser names the first id that torch refuses, and computes all other states."""
    refused = 0
    for state, result in states:
        if all(0 <= k < len(state["table"]) for k in state["ids"]):
            assert result["bad"] is None
            continue
        refused += 1
        with pytest.raises(
            IndexError, match=re.escape(f"ids[{result['bad']}] is {state['ids'][result['bad']]}")
        ):
            lookup(torch.tensor(state["ids"]), torch.tensor(state["table"]))
    assert refused == 12


def test_one_hot_rows_give_the_bits_of_torch(states):
    """Lookup and product, under every condition."""
    for state, result in of(states, "forward"):
        ids, table, _ = tensors(state)
        same(floats(result["lookup"]), lookup(ids, table))
        if state["condition"] == "bfloat16":
            with torch.autocast("cpu", dtype=torch.bfloat16):
                product = (one_hot(ids, len(table)) @ table).float()
        else:
            product = one_hot_matmul(ids, shorten(table, state["condition"]))
        same(floats(result["product"]), product)


def test_gradients_are_those_of_autograd(states):
    """Bit for bit where no id occurs twice; sums of repeated ones within the bound of a sum."""
    repeated = 0
    for state, result in of(states, "backward"):
        ids, arriving, _ = tensors(state)
        table = torch.tensor(state["table"], requires_grad=True)
        (scattered,) = torch.autograd.grad(F.embedding(ids, table), table, arriving)
        short = shorten(arriving, state["condition"])
        encoded = one_hot(ids, len(table))
        (product,) = torch.autograd.grad(encoded @ table, table, short)
        if state["condition"] == "bfloat16":
            product = (encoded.T.bfloat16() @ arriving.bfloat16()).float()
        found = [floats(result[form]) for form in ("lookup", "product")]
        if len(set(state["ids"])) == len(ids):  # the sign of a sum of zeros is up to the kernel
            same(found[0], scattered + 0.0)
            same(found[1], product + 0.0)
            continue
        repeated += 1
        for mine, theirs, given in ((found[0], scattered, arriving), (found[1], product, short)):
            sizes = encoded.T @ given.abs().nan_to_num(nan=0, posinf=0)
            bound = 2 * rounding_bound(len(ids), torch.float32) * sizes
            if given is not arriving and state["condition"] == "bfloat16":
                bound += theirs.abs() * 2.0**-7
            near(mine, theirs, bound)
    assert repeated > 20


def test_bags_are_within_the_bound(states):
    """Embedding bag and product with the weighted row, against the exact sum in float64."""
    for state, result in of(states, "bag"):
        ids, table, weights = tensors(state)
        terms = len(ids) + 2  # each product is rounded, and the sums of weights and of products
        bag = F.embedding_bag(ids[None], table, mode="sum", per_sample_weights=weights[None])
        exact = (weights.double()[:, None] * table[ids].double()).sum(0)[None]
        sizes = (weights.abs()[:, None] * table[ids].abs()).sum(0)[None]
        bound = rounding_bound(terms, torch.float32) * sizes.double()
        for found in (floats(result["lookup"]), bag):
            near(found, exact, bound)
        row = torch.zeros(len(table)).index_add_(0, ids, weights)
        given, short = (shorten(tensor, state["condition"]) for tensor in (table, row))
        exact = (short.double()[:, None] * given.double()).sum(0)[None]
        bound = (
            rounding_bound(len(table) + 1, torch.float32)
            * (short.abs()[:, None] * given.abs()).sum(0)[None]
        )
        if state["condition"] == "bfloat16":
            bound += exact.abs() * 2.0**-8 * 1.01
            assert (
                floats(result["product"]).view(torch.int32)[floats(result["product"]).isfinite()]
                & 0xFFFF
                == 0
            ).all()
        near(floats(result["product"]), exact, bound)


def test_each_sum_is_rounded_in_its_order(browser, site):
    """Small enough to be done by hand: half of the last bit of one is lost, twice half is not."""
    show(browser, site)
    tiny = {
        "mode": "bag",
        "condition": "",
        "at": [0, 0],
        "table": [[1.0], [2.0**-24], [2.0**-24]],
        "arriving": [],
    }
    in_order, last, signed = (
        tiny | {"ids": [0, 1, 2], "weights": [1, 1, 1]},
        tiny | {"ids": [1, 2, 0], "weights": [1, 1, 1]},
        tiny
        | {
            "mode": "forward",
            "condition": "zero",
            "table": [[1.0], [-1.0]],
            "ids": [0],
            "weights": [1],
        },
    )
    results = browser.execute_script(COMPUTE, [in_order, last, signed])
    found = [
        [floats(result[form]).item() for form in ("lookup", "product")] for result in results[:2]
    ]
    assert found == [[1.0, 1.0], [1 + 2.0**-23, 1.0]]  # the product adds in the order of the table
    assert [results[2][form] for form in ("lookup", "product")] == [[[1 << 31]], [[0]]]


def test_the_bits_that_differ_are_those_of_the_results(states):
    """What is counted is the exclusive or of both results."""
    differing = 0
    for _, result in states:
        if result["bad"] is None:
            for rows in zip(result["lookup"], result["product"], result["xors"], strict=True):
                for one, other, xor in zip(*rows, strict=True):
                    assert xor & 0xFFFFFFFF == one ^ other
                    differing += xor != 0
    assert differing > 100


# What the page carries.


@pytest.mark.parametrize("page", PAGES)
def test_data_come_from_the_package(page):
    """The table of the first page, torch's words, and the bounds of sums."""
    _, data = element(page)
    torch.manual_seed(123)
    assert_bitwise_equal(
        torch.tensor(data["state"]["table"]), torch.nn.Embedding(4, 5).weight.detach()
    )
    assert data["bounds"] == [rounding_bound(n + 1, torch.float32) for n in range(7)]
    table, outside = torch.zeros(4, 5), torch.tensor([4])
    with pytest.raises(IndexError) as looked_up:
        F.embedding(outside, table)
    with pytest.raises(RuntimeError) as encoded:
        F.one_hot(outside, 4)
    assert data["says"]["lookup"] == f"IndexError: {looked_up.value}"
    assert data["says"]["product"] == f"RuntimeError: {encoded.value}"
    assert len(data["says"]["bag"]) == 6
    assert len(json.dumps(data)) < (50_000 if page == "explorer" else 5_000)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_sections(page, site):
    """Every explanation ends with a link to a section that exists in the built site."""
    found, _ = element(page)
    told = found.find(class_="why")  # in a template, where no selector looks
    links = told.find_all("a")
    assert len(links) == len(told.find_all("p")) == 9
    for link in links:
        path, _, anchor = link["href"].partition("#")
        target = ((site / page).parent / path).resolve()
        assert BeautifulSoup(target.read_text("utf-8"), "html.parser").find(id=anchor), link["href"]


@pytest.mark.parametrize("page", PAGES)
def test_without_javascript_the_figure_stands_there(page, browser, site):
    """The drawing of the page is inside the element and is shown; the script is small and no module."""
    found, _ = element(page)
    assert found.select_one("svg.drawing")["aria-label"].startswith("Two ways from the ids 2, 3, 1")
    assert found.find_parent("figure").figcaption
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        figure = show(browser, site, page)
        drawing = find(figure, "svg.drawing")
        assert drawing.is_displayed()
        assert figure.size["height"] <= drawing.size["height"] + 40  # no empty place is kept
        assert not figure.find_elements(By.CSS_SELECTOR, "button")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    html = BeautifulSoup((site / f"{page}.html").read_text("utf-8"), "html.parser")
    (script,) = html.select("script[src*='explorer.js']")
    assert script.has_attr("defer")
    assert not script.has_attr("type")


def test_the_script_is_small():
    """One file of at most 15 kB, as it is written and as it is served."""
    assert len(SCRIPT.read_bytes()) <= 15_000
    assert (ROOT / "build" / "html" / "_static" / "explorer.js").read_bytes() == SCRIPT.read_bytes()


# What it costs.


def test_counts_are_those_of_the_package():
    """The exported terms give operations and bytes of the package at random sizes."""
    costs, generator = element("explorer")[1]["costs"], random.Random(1)
    for form, exported in zip(explorer_costs.FORMS, costs["forms"], strict=True):
        for _ in range(100):
            sizes = [generator.randint(1, 10**k) for k in (5, 6, 4)]
            distinct = generator.randint(1, min(sizes[:2]))
            case = costs.Case(
                form, "forward", sizes[1], sizes[2], sizes[0], "uniform", "float32", "hot"
            )
            for name in ("operations", "bytes"):
                known = (*sizes, distinct)
                total = sum(
                    factor * known[0] ** a * known[1] ** b * known[2] ** c * known[3] ** d
                    for factor, a, b, c, d in exported[name]
                )
                assert total == sum(getattr(part, name) for part in costs.kernels(case, distinct))


@pytest.mark.usefixtures("figure")
def test_the_panel_shows_what_the_package_predicts(browser):
    """Counts and times of each form, at random stops, on a card by its data sheet."""
    costs, generator = element("explorer")[1]["costs"], random.Random(2)
    cards = explorer_costs.cards(ROOT / "docs" / "tutorials" / "on-a-gpu.md")
    names = [machine["name"] for machine in costs["machines"]]
    assert names[0] == "the machine of this build"
    assert any(name.startswith("recorded: ") for name in names)
    assert [name for name in names if name.startswith("data sheet: ")] == [
        f"data sheet: {card}" for card in cards
    ]
    for card, (gigabytes, tflops, *_) in cards.items():
        stops = [generator.randrange(len(size["values"])) for size in costs["sizes"]]
        ids, rows, dim = (size["values"][k] for size, k in zip(costs["sizes"], stops, strict=True))
        shown = browser.execute_script(MOVE, stops, str(names.index(f"data sheet: {card}")))
        for form, texts in zip(explorer_costs.FORMS, shown, strict=True):
            case = costs.Case(form, "forward", rows, dim, ids, "uniform", "float32", "hot")
            parts = costs.kernels(case, min(ids, rows))
            bound_s = sum(
                max(p.bytes / (gigabytes * 1e9), p.operations / (tflops * 1e12)) for p in parts
            )
            wanted = [sum(p.operations for p in parts), sum(p.bytes for p in parts), bound_s]
            assert [read(text) for text in texts] == pytest.approx(wanted, rel=0.01), (card, form)


def read(text):
    """Read a number with a prefix and a unit."""
    number, _, unit = text.partition(" ")
    return float(number) * 1000 ** (
        "pnµm kMGTP".index(unit[0]) - 4 if unit[:1] in tuple("pnµmkMGTP") else 0
    )


@pytest.mark.parametrize("k", [0, 1])
def test_measured_machines_are_predicted_by_the_package(k):
    """The exported logarithms are the package's predictions, in the order of the sliders."""
    costs, generator = element("explorer")[1]["costs"], random.Random(3)
    machine = costs["machines"][k]
    if k:
        recordings = costs.read_recordings(FOLDER)
        ceilings = recordings[machine["name"].removeprefix("recorded: ")]["ceilings"][0]
    else:
        ceilings = explorer_costs.measured(ROOT / "build" / "jupyter_execute")["ceilings"]
    values = [size["values"] for size in costs["sizes"]]
    for _ in range(50):
        form, at = generator.randrange(3), [generator.randrange(len(each)) for each in values]
        ids, rows, dim = (each[i] for each, i in zip(values, at, strict=True))
        case = costs.Case(
            [*explorer_costs.FORMS][form], "forward", rows, dim, ids, "uniform", "float32", "hot"
        )
        seconds = costs.predicted_s(case, min(ids, rows), ceilings)
        place = ((form * len(values[0]) + at[0]) * len(values[1]) + at[1]) * len(values[2]) + at[2]
        assert 10 ** (machine["log"][place] / 1000) == pytest.approx(seconds, rel=0.002)


# How it is used.


@pytest.mark.parametrize("width", [320, 390, 768, 1440])
@pytest.mark.parametrize("page", PAGES)
def test_it_starts_in_its_place(browser, site, page, width):
    """Nothing moves when it starts, nothing is wider than the window, nothing is complained of."""
    figure = show(browser, site, page, width)
    assert browser.execute_script(MOVED) == []
    assert 0 < browser.execute_script(SPARE, figure) < 40
    if page == "explorer":
        find(figure, ".pick button:nth-of-type(1)").click()
        for mode in MODES:
            choose(figure, "mode", mode)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width, (
                mode
            )
    assert not [text for text in refused(browser) if "theme mode" not in text]


def test_switches_change_what_is_said(figure):
    """The sentence, which is said aloud, and the section that explains it, under each switch."""
    assert verdict(figure) == "Ids 2, 3, 1: 0 of 480 bits differ."
    assert find(figure, ".verdict").get_attribute("role") == "status"
    wanted = {
        "nan": (r"\d+ of 480 bits differ, in 3 of 15 numbers\.", "#stops-nonfinite"),
        "inf": (r"\d+ of 480 bits differ, in 3 of 15 numbers\.", "#stops-nonfinite"),
        "bfloat16": (r"\d+ of 480 bits differ, in 15 of 15 numbers\.", "#stops-precision"),
        "tf32": (r"\d+ of 480 bits differ, in 1[0-5] of 15 numbers\.", "#stops-precision"),
        "zero": (r"0 of 480 bits differ\.", "#stops-signed-zero"),
        "": (r"0 of 480 bits differ\.", "#stops-theorem"),
    }
    for condition, (says, link) in wanted.items():
        choose(figure, "condition", condition)
        assert re.search(f": {says}$", verdict(figure)), (condition, verdict(figure))
        (shown,) = [a for a in figure.find_elements(By.CSS_SELECTOR, ".why a") if a.is_displayed()]
        assert shown.get_attribute("href").endswith(link)
    choose(figure, "condition", "zero")
    find(figure, ".source tr:nth-of-type(3) td:nth-of-type(2)").click()
    assert verdict(figure).endswith(": 1 of 480 bits differs, in 1 of 15 numbers.")
    choose(figure, "condition", "")
    choose(figure, "mode", "bag")
    assert re.search(
        r"of 160 bits differ(, in \d of 5 numbers, within the bound of a rounded sum)?\.$",
        verdict(figure),
    )
    find(figure, ".pick button:last-of-type").click()
    assert verdict(figure) == "Both raise an error: there is no row 4."
    said = [code.text for code in figure.find_elements(By.CSS_SELECTOR, ".stage code")]
    words = element("explorer")[1]["says"]
    assert said == [words["bag"][3], words["product"]]


def test_repeated_ids_add_up_backward(figure):
    """The row of an id that was asked for twice gets the sum of what arrives for both."""
    find(figure, ".pick button:nth-of-type(3)").click()
    choose(figure, "mode", "backward")
    arriving = torch.tensor(element("explorer")[1]["state"]["arriving"])
    shown = [
        cell.text for cell in figure.find_elements(By.CSS_SELECTOR, ".copied tr:nth-of-type(3) td")
    ]
    wanted = (arriving[0] + arriving[3]).tolist()
    assert [float(text.replace("−", "-")) for text in shown] == pytest.approx(wanted, abs=0.005)
    assert verdict(figure) == "Ids 2, 3, 1, 2: 0 of 640 bits differ."


def test_the_keyboard_is_enough(figure, browser):
    """Ask, remove, look at a number, plant one, and step through, without a pointer."""
    find(figure, ".pick button:nth-of-type(1)").send_keys(Keys.RETURN)
    find(figure, ".scrub").send_keys(Keys.END)
    assert verdict(figure) == "Ids 2, 3, 1, 0: 0 of 640 bits differ."
    find(figure, ".asked li:nth-of-type(4) button").send_keys(Keys.SPACE)
    assert verdict(figure) == "Ids 2, 3, 1: 0 of 480 bits differ."
    assert browser.switch_to.active_element.accessible_name == "1 today remove"
    number = find(figure, ".copied [tabindex='0']")
    number.send_keys(Keys.ARROW_DOWN)
    browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    exact = element("explorer")[1]["state"]["table"][3][1]
    shown = find(figure, ".bits [role=img]:first-child")
    assert shown.accessible_name.startswith(f"lookup {exact:.9g}".replace("-", "−"))
    assert re.search(r", bits [01]{32}$", shown.accessible_name)
    radio = find(figure, "[name=condition][value='']")
    radio.send_keys(Keys.ARROW_RIGHT)
    assert "3 of 15 numbers" in verdict(figure)
    find(figure, ".planted").send_keys(Keys.ARROW_RIGHT)
    assert browser.execute_script("return arguments[0].state.at", figure) == [0, 1]
    assert browser.switch_to.active_element.text == "NaN"
    scrub = find(figure, ".scrub")
    scrub.send_keys(Keys.HOME)
    scrub.send_keys(Keys.ARROW_RIGHT)
    assert find(figure, ".sum").text.startswith("1 of 60: 0 + 0 × 0.34 = 0")
    assert verdict(figure) == "Paused."
    for control in figure.find_elements(By.CSS_SELECTOR, "button, input, select, [role=img]"):
        assert control.accessible_name or not control.is_displayed(), control.get_attribute(
            "outerHTML"
        )


def test_it_plays_and_is_still_when_off_screen(figure, browser):
    """It goes on by itself, can be stopped, and waits while nobody sees it."""
    done = lambda: browser.execute_script("return arguments[0].done", figure)  # noqa: E731
    find(figure, ".play").click()
    time.sleep(0.5)
    first = done()
    assert 0 < first < 20
    assert verdict(figure) == "Multiplying …"
    browser.execute_script("document.body.style.paddingTop = '5000px'; scrollTo(0, 0)")
    time.sleep(0.3)
    waiting = done()
    time.sleep(0.4)
    assert done() == waiting
    browser.execute_script("document.body.style.paddingTop = ''")
    time.sleep(0.5)
    assert done() > waiting
    find(figure, ".play").click()
    stopped = done()
    time.sleep(0.3)
    assert done() == stopped < 60
    assert verdict(figure) == "Paused."


def test_reduced_motion_is_respected(browser, site):
    """A step goes to the end of a row at once; nothing is animated."""
    figure = show(browser, site, motion="reduce")
    for row in (1, 2, 3):
        find(figure, ".play").click()
        assert browser.execute_script("return arguments[0].done", figure) == 20 * row
        assert browser.execute_script("return document.getAnimations().length") == 0
    assert verdict(figure) == "Ids 2, 3, 1: 0 of 480 bits differ."
    find(figure, ".pick button:nth-of-type(2)").click()
    assert verdict(figure) == "Ids 2, 3, 1, 1: 0 of 640 bits differ."


def test_it_holds_under_the_policy_of_its_page(browser, site):
    """No inline script, style or foreign request is needed."""
    figure = show(browser, site)
    policy = browser.find_element("css selector", "meta[http-equiv=Content-Security-Policy]")
    said = dict(part.split(" ", 1) for part in policy.get_attribute("content").split("; "))
    assert "unsafe" not in said["script-src"] + said["style-src"]
    choose(figure, "condition", "nan")
    find(figure, ".play").click()
    time.sleep(0.3)
    assert browser.execute_script("return arguments[0].done", figure) > 0
    assert not refused(browser)
