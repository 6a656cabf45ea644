"""The box for a pasted error, in a real browser, on the page as a file and without any server.

The tracebacks in ``tracebacks/`` were printed by torch 2.6, 2.13 and 2.15, with their folders renamed;
those named cuda- are written in the form of public reports, since they need a GPU that fails.
"""

from pathlib import Path

import pytest

TRACEBACKS = {
    path.stem: path.read_text("utf-8") for path in Path(__file__).parent.glob("tracebacks/*.txt")
}
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
IN_WORDS = {
    "padding row not zero": "The tied padding row is not zero",
    "embeddingbag linear different output": "EmbeddingBag and Linear disagree",
    "loss higher than one-hot": "My loss is much higher than with one-hot",
    "memory one_hot": "Memory runs out in one_hot",
    "why do my Embedding and Linear give different results?": "Embedding and Linear disagree",
    "my embeddings don't update": "A pretrained table does not learn",
    "output differs slightly": "The two outputs differ in the third digit",
    "CUDA out of memory": "Memory runs out in one_hot",
}
UNKNOWN = [
    "ModuleNotFoundError: No module named 'zygomorphic'",
    "RuntimeError: CUDA error: an illegal memory access was encountered\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "Placeholder storage has not been allocated on MPS device!",
]
LINES = '  File "/x/train.py", line 7, in step\n    return self.forward(batch)\n' * 70_000  # 5 MB
LAST = "IndexError: index out of range in self"
MARKUP = f"{LAST} <img src=x onerror='document.title=1'><b>bold</b>"
PASTE = """
const [texts, done] = arguments, input = document.querySelector("#symptom-text");
const status = document.querySelector(".symptom-status"), line = document.querySelector(".symptom-line");
const paste = async text => {
  status.textContent = "waiting";
  input.value = text;
  input.dispatchEvent(new Event("input"));
  while (status.textContent === "waiting") await new Promise(next => setTimeout(next, 5));
  const links = [...document.querySelectorAll("ol.symptoms a")];
  return { status: status.textContent, line: line.hidden ? null : line.textContent, titles: links.map(a => a.textContent) };
};
const all = async () => {
  const answers = [];
  for (const text of texts) answers.push(await paste(text));
  done(answers);
};
all();
"""
PASTE_LONG = """
const clipboardData = new DataTransfer(), input = document.querySelector("#symptom-text");
clipboardData.setData("text", arguments[0]);
input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
return input.value;
"""
LOADED = "return performance.getEntriesByType('resource').map(entry => entry.name)"


def paste(browser, *texts):
    """Paste the texts one after another, and return for each the status, the line and the titles."""
    return browser.execute_async_script(PASTE, texts)


@pytest.fixture(scope="module")
def box(browser, site):
    """Open the page as a file."""
    browser.get((site / "symptoms.html").as_uri())
    return browser


@pytest.fixture(scope="module")
def answers(box):
    """Paste all tracebacks, questions and unknown errors, and return what is found for each."""
    texts = {**TRACEBACKS, **{words: words for words in (*IN_WORDS, *UNKNOWN)}}
    return dict(zip(texts, paste(box, *texts.values()), strict=True))


def test_every_traceback_is_tried():
    """None lies in the folder unused."""
    assert set(TRACEBACKS) == set(FIRST)
    assert len(FIRST) >= 20


@pytest.mark.parametrize("name", FIRST)
def test_a_whole_traceback_finds_its_entry_first(answers, name):
    """Whatever stands around the message: frames, other exceptions, lines of kernels, a notebook."""
    found = answers[name]
    assert "for this line of your text" in found["status"]
    assert found["line"] in TRACEBACKS[name]
    assert FIRST[name] in found["titles"][0]


@pytest.mark.parametrize("words", IN_WORDS)
def test_a_few_words_find_what_raises_nothing(answers, words):
    """The fault's own name is found by the words of its title and its cause."""
    assert answers[words]["status"].startswith("No error text matches;")
    assert answers[words]["titles"][0].startswith(IN_WORDS[words])


@pytest.mark.parametrize("error", UNKNOWN)
def test_an_error_without_an_entry_finds_none(answers, error):
    """Better nothing than the cause of another error that has some of its words."""
    assert answers[error]["status"].startswith("No entry matches.")
    assert answers[error]["titles"] == []


def test_of_a_long_text_the_end_is_read(box):
    """Of a log of 5 MB the box keeps the end, which a browser can lay out; the last error is there."""
    kept = box.execute_script(PASTE_LONG, LINES + LAST)
    assert (LINES + LAST).endswith(kept)
    assert len(kept) == 50_000
    found, earlier = paste(box, kept, f"{LAST}\n{LINES[:60_000]}")
    assert found["status"].startswith("1 entry")
    assert found["line"] == LAST
    assert earlier["line"] is None


def test_what_is_pasted_is_only_text_and_stays(browser, address):
    """Markup is shown; nothing is loaded but the index, once the box is used."""
    browser.get(f"{address}/symptoms.html")
    title, before = browser.title, browser.execute_script(LOADED)
    assert not [name for name in before if "search-sections" in name or "find.js" in name]
    (found,) = paste(browser, MARKUP)
    assert found["line"] == MARKUP
    assert found["titles"] == [LAST]
    assert not browser.find_elements("css selector", ".symptom-box :is(img, b, script)")
    new = set(browser.execute_script(LOADED)) - set(before)
    names = ("minisearch/minisearch.min.js", "search-sections.js", "find.js")
    assert new == {f"{address}/_static/{name}" for name in names}
    assert browser.title == title
    assert paste(browser, "") == [{"status": "", "line": None, "titles": []}]


def test_the_box_has_a_name_and_tells_how_many_it_found(box):
    """By its label, and by a region that a screen reader reads out; the results are links."""
    field = box.find_element("css selector", "#symptom-text")
    assert field.accessible_name == "Paste an error, a whole traceback, or a few words"
    (found,) = paste(box, LAST)
    assert found["status"] == "1 entry for this line of your text:"
    status = box.find_element("css selector", ".symptom-status")
    assert status.get_attribute("aria-live") == "polite"
    link = box.find_element("css selector", "ol.symptoms a")
    assert link.get_attribute("href").endswith("symptoms/inputs.html#index-out-of-range-in-self")
    ids = box.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
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
