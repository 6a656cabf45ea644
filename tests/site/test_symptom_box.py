"""The box for a pasted error, in a real browser, on the page as a file and without any server.

The tracebacks in ``tracebacks/`` were printed by torch 2.6, 2.13 and 2.15, with their folders renamed;
those named cuda- are written in the form of public reports, since they need a GPU that fails.
"""

import time

import pytest
from served import ROOT

TRACEBACKS = ROOT / "tests" / "tracebacks"
FIRST = {
    "a-notebook": "one_hot is only applicable to index tensor",
    "a-test-run": "Index 0 of input takes value 4",
    "adamw-of-2.6": "Adam does not support sparse gradients",
    "anomaly": "modified by an inplace operation",
    "array-of-numpy": "embedding(): argument 'indices'",
    "assigned-weight": "cannot assign 'torch.FloatTensor'",
    "chained-by-cause": "index out of range in self",
    "chained-while-handling": "mat1 and mat2 shapes cannot be multiplied",
    "clipping": "Could not run 'aten::linalg_vector_norm'",
    "compiled-encoding": "one_hot: Class values must be smaller",
    "compiled-with-frames-of-2.6": "index out of bounds: 0 <= tmp2 < 4L",
    "cuda-devices": "Expected all tensors to be on the same device",
    "cuda-encoding": "CUDA error: device-side assert triggered",
    "cuda-gather": "CUDA error: device-side assert triggered",
    "cuda-labels": "CUDA error: device-side assert triggered",
    "cuda-lookup": "CUDA error: device-side assert triggered",
    "dataloader-worker": "Class values must be smaller than num_classes.",
    "enlarged-vocabulary": "size mismatch for weight",
    "float-ids": "Expected tensor for argument #1 'indices'",
    "half-precision": "mat1 and mat2 must have the same dtype",
    "offsets": "offsets[0] has to be 0",
    "plain-lookup": "index out of range in self",
    "product-of-2.15": "mat1 and mat2 shapes cannot be multiplied",
    "scipy-rows": "linear(): argument 'input' (position 1) must be Tensor",
    "state-dict": 'Missing key(s) in state_dict: "head.weight".',
    "weighted-bag": "per_sample_weights is only supported for mode='sum'",
}
PASTE = """
const input = document.querySelector('#symptom-text');
input.value = arguments[0];
input.dispatchEvent(new Event('input', {bubbles: true}));
"""


@pytest.fixture(scope="module")
def page(browser, site):
    """Open the page as a file."""
    browser.get((site / "symptoms.html").as_uri())
    return browser


def find(page, text):
    """Paste a text, wait for the answer, and give what it says and the entries, the best first."""
    page.execute_script("document.querySelector('.symptom-status').textContent = 'waiting'")
    page.execute_script(PASTE, text)
    status = page.find_element("css selector", ".symptom-status")
    start = time.monotonic()
    while status.text == "waiting":
        assert time.monotonic() < start + 60
        time.sleep(0.02)
    return status.text, [item.text for item in page.find_elements("css selector", "ol.symptoms li")]


def test_every_traceback_is_tried():
    """None lies in the folder unused."""
    assert {path.stem for path in TRACEBACKS.glob("*.txt")} == set(FIRST)
    assert len(FIRST) >= 20


@pytest.mark.parametrize("name", FIRST)
def test_a_whole_traceback_finds_its_entry_first(page, name):
    """Whatever stands around the message: frames, other exceptions, lines of kernels, a notebook."""
    status, found = find(page, (TRACEBACKS / f"{name}.txt").read_text("utf-8"))
    assert "for this line of your text" in status
    assert FIRST[name] in found[0].splitlines()[0]


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("padding row not zero", "The tied padding row is not zero"),
        ("embeddingbag linear different output", "EmbeddingBag and Linear disagree"),
        ("loss higher than one-hot", "My loss is much higher than with one-hot"),
        ("memory one_hot", "Memory runs out in one_hot"),
        ("why do my Embedding and Linear give different results?", "Embedding and Linear disagree"),
        ("my embeddings don't update", "A pretrained table does not learn"),
        ("output differs slightly", "The two outputs differ in the third digit"),
        ("CUDA out of memory", "Memory runs out in one_hot"),
    ],
)
def test_a_few_words_find_what_raises_nothing(page, words, title):
    """The fault's own name is found by the words of its title and its cause."""
    status, found = find(page, words)
    assert status.startswith("No error text matches;")
    assert found[0].startswith(title)


def test_markup_in_the_text_is_shown_and_not_run(page):
    """A line of a traceback can hold anything."""
    planted = (
        "IndexError: index out of range in self <img src=x onerror='document.title=1'><b>bold</b>"
    )
    title = page.title
    _, found = find(page, planted)
    line = page.find_element("css selector", ".symptom-line")
    assert line.text == planted
    assert not page.find_elements("css selector", ".symptom-box :is(img, b, script)")
    assert "index out of range" in found[0]
    time.sleep(0.1)
    assert page.title == title


def test_nothing_else_is_asked_for(page):
    """What is pasted leaves neither the page nor the browser, and an unknown text says so."""
    count = "return performance.getEntriesByType('resource').length"
    before = page.execute_script(count)
    unknown = "ModuleNotFoundError: No module named 'zygomorphic'"
    other = "RuntimeError: CUDA error: an illegal memory access was encountered\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1"
    for text in (unknown, other):
        status, found = find(page, text)
        assert status.startswith("No entry matches."), text
        assert found == []
    assert find(page, "") == ("", [])
    assert page.execute_script(count) == before
    assert (
        page.execute_script("return document.querySelector('.symptom-box').closest('form')") is None
    )
    script = (ROOT / "docs" / "_static" / "symptoms.js").read_bytes()
    assert len(script) < 6_000
    for way in (b"fetch", b"XMLHttp", b"innerHTML", b"eval(", b"localStorage", b"import"):
        assert way not in script


def test_the_box_has_a_name_and_tells_how_many_it_found(page):
    """By its label, and by a region that a screen reader reads out; the results are links."""
    box = page.find_element("css selector", "#symptom-text")
    assert box.accessible_name == "Paste an error, a whole traceback, or a few words"
    find(page, "index out of range in self")
    status = page.find_element("css selector", ".symptom-status")
    assert status.get_attribute("aria-live") == "polite"
    count = len(page.find_elements("css selector", "ol.symptoms > li"))
    assert status.text.startswith("1 entry" if count == 1 else f"{count} entries")
    link = page.find_element("css selector", "ol.symptoms a")
    assert link.get_attribute("href").endswith("symptoms/inputs.html#index-out-of-range-in-self")
    ids = page.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids)), "a copy kept its address"


def test_without_scripts_the_list_is_there_and_the_box_is_not(browser, site):
    """Nobody is shown a box that does nothing."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get((site / "symptoms.html").as_uri())
        assert not browser.find_element("css selector", ".symptom-box").is_displayed()
        assert len(browser.find_elements("css selector", "ul.symptoms > li")) >= 45
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
