"""The error box in a browser, on a page that is opened as a file.

The tracebacks in ``tracebacks/`` were printed by torch 2.6, 2.13 and 2.15, with folders renamed. Those
named cuda- were written after public reports, because they need a GPU.
"""

import tomllib
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
    "padding row not zero": "The padding row is not zero",
    "embeddingbag linear different output": "EmbeddingBag and Linear disagree",
    "loss much higher than with one-hot": "My loss is much higher than with one-hot",
    "initial loss is huge with tied embeddings": "The loss starts far too high after tying",
    "my loss is 60 at step 0 with tied weights": "The loss starts far too high after tying",
    "memory one_hot": "Memory runs out in one_hot",
    "why do my Embedding and Linear give different results?": "Embedding and Linear disagree",
    "my embeddings don't update": "A pretrained table does not learn",
    "Embedding and one-hot output differ slightly": "The two outputs differ in the third digit",
    "Does self.decoder.weight = nn.Parameter(self.encoder.weight.t()) share the weights of the encoder?": "Two layers that should share a weight do not",
    "My embedding changes even though its gradient is zero": "Rows move that this batch did not use",
    "a weighted average of word embeddings, with EmbeddingBag": "per_sample_weights is only supported for mode='sum'",
    "What is the difference between an Embedding followed by a bias, and a Linear?": "Embedding and Linear disagree",
    "what is the difference between nn.Embedding and nn.Linear": "One table in two layers",
    "my int8 table returns integers": "A table in int8 returns integers",
    "I resize the embedding for new tokens and they do not learn": "Rows added to a table do not learn",
    "the loss exploded after I resized the vocabulary": "The loss jumps after tokens are added",
    "how to use gradient clipping with sparse gradients": "Could not run 'aten::linalg_vector_norm'",
    "EmbeddingBag default mode is mean": "EmbeddingBag and Linear disagree",
}
UNRELATED = [  # although they have words of many entries, such as sparse, tensor, embedding or weight
    "ModuleNotFoundError: No module named 'zygomorphic'",
    "RuntimeError: CUDA error: an illegal memory access was encountered\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "AttributeError: Can't pickle local object 'main.<locals>.<lambda>'\nDataLoader worker, num_workers=4, Windows",
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 6.37 GiB already allocated)",
    "ImportError: cannot import name 'BertTokenizerFast' from 'transformers'",
    "My CNN's loss is NaN after a few epochs, with batch norm and Adam. What could cause a NaN loss?",
    "Could not run 'torchvision::nms' with arguments from the 'CUDA' backend. This could be because the operator doesn't exist for this backend, or was omitted during the selective/custom build process (if using custom build).",
    "IndexError: list index out of range",
    "RuntimeError: invalid argument 0: Sizes of tensors must match except in dimension 1. Got 5 and 3 in dimension 0 at /pytorch/aten/src/TH/generic/THTensor.cpp:711",
    "RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
    "InvalidArgumentError: indices[0,3] = 5000 is not in [0, 5000) [[{{node embedding_1/embedding_lookup}}]]",
    "Model parameters do not update in training, the weights are the same after optimizer.step()",
    "A siamese network: two conv branches share weights, is calling the same module twice enough?",
    "How do I use the Embedding layer in the Keras functional API?",
    "scipy.sparse.linalg.spsolve is slow for a large sparse matrix, which solver should I use?",
    "sentence embeddings have a high cosine similarity for unrelated sentences, which pooling is good?",
]
SECTIONS = {  # no entry matches these texts, but sections of the site have all their words
    "loss is nan": "The loss is NaN for every example",
    "padding_idx": "padding_idx leaves out the gradient of one row",
    "out of memory": "Memory runs out in one_hot",
    "my embedding does not learn": "A pretrained table does not learn",
    "IndexError: index out of range": "IndexError: index out of range in self",
    "CUDA out of memory": "Memory runs out in one_hot",
    "KeyError: 'weight'": 'Missing key(s) in state_dict: "head.weight".',
}
THREADS = tomllib.loads(Path(__file__).with_name("threads.toml").read_text("utf-8"))["thread"]
LINES = '  File "/x/train.py", line 7, in step\n    return self.forward(batch)\n' * 14_000  # 1 MB
LAST = "IndexError: index out of range in self"
MARKUP = f"{LAST} <img src=x onerror='document.title=1'><b>bold</b>"
PASTE = """
const later = window.setTimeout;
window.setTimeout = call => later(call, 0);  // the box waits until typing ends
const [texts, done] = arguments, input = document.querySelector("#symptom-text");
const status = document.querySelector(".symptom-status"), line = document.querySelector(".symptom-line");
const paste = async text => {
  status.textContent = "waiting";
  input.value = text;
  input.dispatchEvent(new Event("input"));
  while (status.textContent === "waiting") await new Promise(next => setTimeout(next, 5));
  const links = [...document.querySelectorAll("ol.symptoms a")];
  return {
    status: status.textContent, line: line.hidden ? null : line.textContent,
    titles: links.map(a => a.textContent), entries: links.map(a => a.getAttribute("href").replace(".html", "")),
  };
};
const all = async () => {
  const answers = [];
  for (const text of texts) answers.push(await paste(text));
  done(answers);
};
all();
"""
LOADED = "return performance.getEntriesByType('resource').map(entry => entry.name)"


def paste(browser, *texts):
    """Paste each text, and return its status, its line, and the titles and links of its entries."""
    return browser.execute_async_script(PASTE, texts)


@pytest.fixture(scope="module")
def box(browser, site):
    """Open the page as a file."""
    browser.get((site / "symptoms.html").as_uri())
    return browser


@pytest.fixture(scope="module")
def answers(box):
    """Paste all tracebacks, questions and unrelated texts, and return their results."""
    texts = {**TRACEBACKS, **{words: words for words in (*IN_WORDS, *SECTIONS, *UNRELATED)}}
    return dict(zip(texts, paste(box, *texts.values()), strict=True))


@pytest.mark.parametrize("name", sorted({*TRACEBACKS, *FIRST}))
def test_traceback_finds_its_entry_first(answers, name):
    """Frames, chained exceptions, kernel lines and notebook output do not change the first entry."""
    result = answers[name]
    assert "for this line of your text" in result["status"]
    assert result["line"] in TRACEBACKS[name]
    assert FIRST[name] in result["titles"][0]


@pytest.mark.parametrize("words", IN_WORDS)
def test_question_finds_its_entry(answers, words):
    """A text with most words of an entry's question, near each other, finds the entry."""
    assert answers[words]["status"].startswith("No error text matches;")
    assert answers[words]["titles"][0].startswith(IN_WORDS[words])


@pytest.mark.parametrize("text", UNRELATED)
def test_unrelated_text_finds_nothing(answers, text):
    """Words in common with an entry do not suffice."""
    assert answers[text]["status"] == "Nothing here fits this text."
    assert answers[text]["titles"] == []


@pytest.mark.parametrize("text", SECTIONS)
def test_sections_are_listed_if_no_entry_matches(answers, text):
    """At most three sections with all words of the text are listed, and named as such."""
    status = "No entry fits this text; these parts of the site have its words:"
    assert answers[text]["status"] == status
    assert answers[text]["titles"][0] == SECTIONS[text]
    assert 1 <= len(answers[text]["titles"]) <= 3


def test_listed_section_shows_its_page_and_description(box, pages):
    """A section of another page has a link, its page's title and its page's description."""
    paste(box, "padding_idx")
    item = box.find_element("css selector", "ol.symptoms > li")
    place, sentence = (p.text for p in item.find_elements("css selector", "p"))
    page = pages["appendix/embedding-options"]
    assert place == f"{SECTIONS['padding_idx']} {page.h1.find(string=True)}"
    assert sentence == page.select_one("meta[name=description]")["content"]


def test_forum_threads_find_their_entries(box):
    """At least 26 of 30 threads find their entry first, and no thread finds another entry."""
    results = paste(box, *(thread["text"] for thread in THREADS))
    firsts = [result["entries"][0] if result["entries"] else "" for result in results]
    wrong = {
        thread["address"]: first
        for thread, first in zip(THREADS, firsts, strict=True)
        if first not in ("", thread["entry"])
    }
    assert wrong == {}
    assert sum(bool(thread["entry"]) for thread in THREADS) <= 30 < len(THREADS)
    assert sum(map(bool, firsts)) >= 26


def test_search_link_is_shown_if_nothing_fits(browser, site):
    """The link searches for the error's line, or for the beginning of a text without an error."""
    browser.get((site / "symptoms.html").as_uri())
    link = browser.find_element("css selector", ".symptom-search a")
    queries = {
        "File a.py\nOSError: no tokenizer & no file\nsrun: exit": "q=OSError%3A%20no%20tokenizer%20%26%20no%20file",
        "how do hash tables work?\n": "q=how%20do%20hash%20tables%20work%3F",
    }
    for text, query in queries.items():
        paste(browser, text)
        assert link.is_displayed()
        assert link.get_attribute("href").endswith(f"/search.html?{query}")
    paste(browser, LAST)
    assert not link.is_displayed()


def test_only_the_end_of_a_long_text_is_read(box):
    """In a log of 1 MB the last error is found, and an error at its beginning is not."""
    last, first = paste(box, LINES + LAST, f"{LAST}\n{LINES[:60_000]}")
    assert last["status"].startswith("1 entry")
    assert last["line"] == LAST
    assert first["line"] is None


def test_pasted_text_is_not_interpreted_and_not_sent(browser, address):
    """Markup is shown as text, and the only requests load the index on the first use of the box."""
    browser.get(f"{address}/symptoms.html")
    title, before = browser.title, browser.execute_script(LOADED)
    assert not [name for name in before if "search-sections" in name or "find.js" in name]
    (result,) = paste(browser, MARKUP)
    assert result["line"] == MARKUP
    assert result["titles"] == [LAST]
    assert not browser.find_elements("css selector", ".symptom-box :is(img, b, script)")
    # Browsers may request the favicon later.
    before.append(f"{address}/_static/favicon.svg")
    new = set(browser.execute_script(LOADED)) - set(before)
    names = ("minisearch/minisearch.min.js", "search-sections.js", "find.js")
    assert new == {f"{address}/_static/{name}" for name in names}
    assert browser.title == title
    (empty,) = paste(browser, "")
    assert empty == {"status": "", "line": None, "titles": [], "entries": []}


def test_box_is_accessible(box):
    """The field has a label, the status is a live region, and the results are links."""
    field = box.find_element("css selector", "#symptom-text")
    assert field.accessible_name == "Paste an error, a whole traceback, or a few words"
    (result,) = paste(box, LAST)
    assert result["status"] == "1 entry for this line of your text:"
    status = box.find_element("css selector", ".symptom-status")
    assert status.get_attribute("aria-live") == "polite"
    link = box.find_element("css selector", "ol.symptoms a")
    assert link.get_attribute("href").endswith("symptoms/inputs.html#index-out-of-range-in-self")
    ids = box.execute_script("return [...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids)), "a copied entry has the id of its original"


def test_page_without_scripts_has_the_list_only(without_scripts, site):
    """Without scripts the list of entries is shown, and the box is hidden."""
    without_scripts.get((site / "symptoms.html").as_uri())
    assert not without_scripts.find_element("css selector", ".symptom-box").is_displayed()
    assert len(without_scripts.find_elements("css selector", "ul.symptoms > li")) >= 45
