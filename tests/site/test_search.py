"""The search page in a browser, opened as a file: queries of readers and their expected first result.

To add a query, write it below with the page and, after ``#``, a label or an id of the section. If
another section comes first, add the query's words to the expected section, in its text or with an
``{index}`` directive.
"""

import gzip
import re

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from served import errors
from served import wait as wait_for
from test_symptom_box import FIRST as ERRORS
from test_symptom_box import TRACEBACKS

FIRST = {
    # Error messages.
    "IndexError: index out of range in self": "symptoms/inputs#index-out-of-range-in-self",
    "IndexError: index 50257 is out of bounds for dimension 0 with size 50257": "symptoms/inputs#index-4-is-out-of-bounds-for-dimension-0-with-size-4",
    "RuntimeError: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.FloatTensor instead (while checking arguments for embedding)": "symptoms/inputs#expected-tensor-for-argument-1-indices-to-have-one-of-the-following-scalar-types",
    "RuntimeError: CUDA error: device-side assert triggered": "symptoms/inputs#symptom-cuda",
    "vectorized gather kernel index out of bounds": "symptoms/inputs#symptom-cuda",
    "IndexError: The shape of the mask [8] at index 0 does not match the shape of the indexed tensor [100, 16] at index 0": "symptoms/inputs#symptom-mask-shape",
    "RuntimeError: Class values must be smaller than num_classes.": "symptoms/inputs#class-values-must-be-smaller-than-num-classes",
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (3x128 and 30522x768)": "symptoms/inputs#mat1-and-mat2-shapes-cannot-be-multiplied",
    "one_hot is only applicable to index tensor of type LongTensor": "symptoms/inputs#one-hot-is-only-applicable-to-index-tensor-of-type-longtensor",
    "per_sample_weights is only supported for mode='sum' (got mode='max')": "symptoms/bags#per-sample-weights-is-only-supported-for-mode-sum-got-mode-mean",
    "RuntimeError: Adam does not support sparse gradients, please consider SparseAdam instead": "symptoms/training#adam-does-not-support-sparse-gradients",
    "size mismatch for embedding.weight: copying a param with shape torch.Size([30522, 768]) from checkpoint, the shape in current model is torch.Size([30524, 768]).": "symptoms/training#size-mismatch-for-weight-copying-a-param-with-shape",
    "AttributeError: 'csr_array' object has no attribute 'getrow'": "symptoms/bags#csr-array-object-has-no-attribute-getrow",
    'Missing key(s) in state_dict: "lm_head.weight"': "symptoms/training#missing-key-s-in-state-dict-head-weight",
    "IndexError: Target 32000 is out of bounds.": "symptoms/inputs#target-4-is-out-of-bounds",
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! (when checking argument for argument index in method wrapper_CUDA__index_select)": "symptoms/inputs#expected-all-tensors-to-be-on-the-same-device",
    "Trying to backward through the graph a second time": "symptoms/training#trying-to-backward-through-the-graph-a-second-time",
    "can't optimize a non-leaf Tensor": "symptoms/training#can-t-optimize-a-non-leaf-tensor",
    "mat1 and mat2 must have the same dtype, but got Long and Float": "symptoms/inputs#mat1-and-mat2-must-have-the-same-dtype-but-got-long-and-float",
    "AssertionError: Padding_idx must be within num_embeddings": "symptoms/inputs#padding-idx-must-be-within-num-embeddings",
    "one_hot out of memory": "symptoms/inputs#memory-runs-out-in-one-hot",
    "Adam does not suport sparse gradeints": "symptoms/training#adam-does-not-support-sparse-gradients",  # codespell:ignore suport
    # Questions, with American spelling, missing words and typing errors.
    "tied weights": "tutorials/tied-weights",
    "one hot vs embedding": "tutorials/lookup-is-matmul",
    "is embedding faster than one hot": "tutorials/what-it-costs",
    "difference between nn.Embedding and nn.Linear": "tutorials/tied-weights",
    "embedding gradient with repeated ids": "tutorials/backward-is-scatter-add#backward-equality",
    "padding_idx gradient": "appendix/embedding-options#tables-padding",
    "padding_idx does not stay zero": "symptoms/silent#symptom-padding",
    "from_pretrained freeze": "tutorials/tied-weights#tables-from-pretrained",
    "pretraned table frozen": "tutorials/tied-weights#tables-from-pretrained",
    "max_norm": "appendix/embedding-options#tables-max-norm",
    "scale_grad_by_freq": "appendix/embedding-options#tables-scale-grad",
    "EmbeddingBag default mode mean": "symptoms/bags#symptom-bag-linear",
    "include_last_offset": "tutorials/csr-is-an-embedding-bag#offsets-may-or-may-not-include-the-end",
    "tf32 different result one hot": "tutorials/where-equality-stops#stops-precision",
    "-0": "tutorials/where-equality-stops#stops-signed-zero",
    "nan in embedding table": "tutorials/where-equality-stops#stops-nonfinite",
    "torch.equal signed zero": "symptoms/silent#symptom-signed-zero",
    "scipy csr matrix to EmbeddingBag": "tutorials/csr-is-an-embedding-bag",
    "embedding_bag": "tutorials/csr-is-an-embedding-bag",
    "hash collisions embedding": "tutorials/categories-in-tables#categories-hashing",
    "adam updates rows not in batch": "tutorials/what-a-step-moves#momentum-and-adam-go-on-moving-a-row-that-was-used-before",
    "weight decay unused embedding rows": "symptoms/silent#symptom-unused-rows",
    "sparse=True which optimizers": "tutorials/which-should-i-use#use-optimizer",
    "embedding table does not fit in memory": "tutorials/table-does-not-fit",
    "row wise sharding of embedding tables": "tutorials/on-many-machines",
    "why does BERT use one hot": "tutorials/is-the-product-ever-faster#who-bert",
    "gradient with respect to input tokens": "tutorials/swap-layers#choice-numbers",
    "is one_hot differentiable": "tutorials/swap-layers#choice-numbers",
    "hotflip": "tutorials/swap-layers",
    "several categorical columns one embedding table": "tutorials/which-should-i-use#use-forty",
    "benchmark my gpu": "tutorials/is-the-product-ever-faster#gpu-measure",
    "install": "getting-started",
    "loss much higher with embedding than one-hot": "symptoms/silent#my-loss-is-much-higher-than-with-one-hot",
    "default initialization of embedding and linear": "tutorials/tied-weights#tables-init",
    "add new tokens to a tied model": "tutorials/a-vocabulary-that-grows",
    "tied weights state_dict": "tutorials/tied-weights#tables-state-dict",
    "replace embedding by linear in trained model": "tutorials/swap-layers",
    "nn.Parameter(weight.T)": "symptoms/silent#training-one-layer-changes-another",
    "max(ids) + 1": "symptoms/silent#the-encoding-has-another-width-in-each-batch",
    "int32 ids": "appendix/conditions-in-full#stops-id-dtype",
    "torch.compile out of range ids": "symptoms/silent#symptom-bare",
    "weights change without optimizer": "symptoms/silent#weights-change-without-an-optimizer",
    "frozen row still changes": "symptoms/silent#a-frozen-row-moves",
    "empty bags": "tutorials/csr-is-an-embedding-bag#bags-edges",
    "bfloat16 sum stops growing": "tutorials/backward-is-scatter-add#backward-half",
    "roofline": "glossary#term-roofline",
    "all-reduce": "glossary#term-all-reduce",
    "getrow": "symptoms/bags#csr-array-object-has-no-attribute-getrow",
    "gautam article": "appendix/notebooks#notebook-5",
    "tfidf": "tutorials/text-both-ways#text-counts",
    "torchrec": "tutorials/on-many-machines#travels-torchrec",
    "maxtext embedding": "tutorials/is-the-product-ever-faster#who-maxtext",
    # Decisions.
    "which should I use": "tutorials/which-should-i-use",
    "300 classes on a GPU lookup or one-hot": "tutorials/which-should-i-use#use-lookup",
    "sparse=True optimizer with gradient clipping": "tutorials/which-should-i-use#use-optimizer",
    "EmbeddingBag or Linear": "tutorials/which-should-i-use#use-sparse-rows",
    "one table or forty": "tutorials/which-should-i-use#use-forty",
    "int8 table": "tutorials/which-should-i-use#use-dtype",
    "quantize an embedding": "tutorials/which-should-i-use#use-dtype",
    "resize vocabulary tied head": "tutorials/a-vocabulary-that-grows#grow-resize",
    "one machine or many": "tutorials/which-should-i-use#use-machines",
    # Memory, and vocabularies that grow.
    "out of memory in cross_entropy": "tutorials/where-does-the-memory-go",
    "30 GB more than my parameters": "tutorials/where-does-the-memory-go",
    "chunked cross entropy": "tutorials/where-does-the-memory-go#memory-chunks",
    "out of memory at V = 256k": "tutorials/where-does-the-memory-go",
    "vocabulary multiple of 64": "tutorials/a-vocabulary-that-grows#grow-multiple",
    "mean_resizing": "tutorials/a-vocabulary-that-grows",
    "load old checkpoint into larger vocabulary": "tutorials/a-vocabulary-that-grows#grow-checkpoint",
    "weight decay on embeddings": "tutorials/which-should-i-use#use-decay",
    "torch.compile EmbeddingBag recompiles": "tutorials/which-should-i-use#use-compile",
    "share one embedding between two columns": "tutorials/which-should-i-use#use-shared",
    "deterministic embedding backward": "tutorials/which-should-i-use#use-deterministic",
    "int4 embedding": "tutorials/which-should-i-use#use-dtype",
    "lookup on an A100": "tutorials/is-the-product-ever-faster#gpu-published",
    # Names of the package.
    "check_bags": "#lookup_matmul.check_bags",
    "lookup_matmul.compare": "#lookup_matmul.compare",
    "assert_bitwise_equal": "#lookup_matmul.assert_bitwise_equal",
    "OneHotLinear": "#lookup_matmul.OneHotLinear",
    "swap_embeddings": "#lookup_matmul.swap_embeddings",
    "draw_intervals": "#lookup_matmul.figures.draw_intervals",
    "peak_bytes": "#lookup_matmul.peak_bytes",
}
ASK = """
const [questions, done] = arguments, form = document.querySelector('.search-form');
const list = document.querySelector('.search-found'), answers = {};
const ask = async () => {
  for (const question of questions) {
    form.q.value = question;
    const query = form.q.value.trim();  // a single-line field removes line breaks
    form.requestSubmit();
    while (list.dataset.query !== query) await new Promise(next => setTimeout(next, 5));
    answers[question] = [...list.querySelectorAll('a')].map(link => [link.getAttribute('href'), link.textContent]);
  }
  done(answers);
};
ask();
"""
MARKUP = "<img src=x onerror=\"document.title='planted'\"> <b>tied</b>"
LINKS = (By.CSS_SELECTOR, ".search-found a")


def ask(browser, questions):
    """Search for each question, and return its links and titles, the best first."""
    return browser.execute_async_script(ASK, list(questions))


@pytest.fixture
def search(browser, site):
    """Open the empty search page as a file, without a server."""
    browser.get((site / "search.html").as_uri())
    return browser


@pytest.fixture(scope="module")
def answers(browser, site):
    """Return the results of all questions, searched on one page."""
    browser.get((site / "search.html").as_uri())
    return ask(browser, [*FIRST, *TRACEBACKS.values()])


@pytest.fixture(scope="module")
def section_of(pages):
    """Return a function from an address to its page and its section, glossary term or function."""
    targets = {}

    def find(address):
        name, _, anchor = address.partition("#")
        name = name.removesuffix(".html")
        if name not in targets:
            targets[name] = {None: None} | {tag["id"]: tag for tag in pages[name].find_all(id=True)}
        assert (anchor or None) in targets[name], f"{name} has no id {anchor!r}"
        target = targets[name][anchor or None]
        if target and target.name == "span":
            target = target.find_parent("section")
        return name, target and target["id"]

    return find


def wait(browser, text):
    """Wait until the results for a text are shown, and return the status line."""
    wait_for(
        browser, "document.querySelector('.search-found')?.dataset.query === arguments[0]", text
    )
    return browser.find_element(By.CLASS_NAME, "search-status").text


@pytest.mark.parametrize("question", FIRST)
def test_question_leads_to_its_section(answers, section_of, question):
    """The first result is the section that answers the question."""
    links, expected = [link for link, _ in answers[question]], FIRST[question]
    assert links, "no results"
    if expected.startswith("#"):  # a function, on any page of the reference
        assert links[0].partition(".html")[2] == expected, links[:3]
    else:
        assert section_of(links[0]) == section_of(expected), links[:3]


@pytest.mark.parametrize("name", TRACEBACKS)
def test_traceback_leads_to_its_error(answers, name):
    """The search finds the same entry as the error box, although its field has a single line."""
    link, title = answers[TRACEBACKS[name]][0]
    assert link.startswith("symptoms/")
    assert ERRORS[name] in title


def test_all_results_have_a_target(answers, section_of):
    """The target of each link exists."""
    links = {link for results in answers.values() for link, _ in results}
    assert len(links) > 100
    assert all(section_of(link) for link in links)


def test_results_show_their_page_and_mark_the_words(browser, site, section_of):
    """A result has a link, its page and an excerpt, in which the words of the query are marked."""
    browser.get((site / "search.html").as_uri() + "?q=padding_idx%20gradient")
    assert wait(browser, "padding_idx gradient").endswith("sections, the best first")
    first = browser.find_element(By.CSS_SELECTOR, ".search-found li")
    link = first.find_element(By.TAG_NAME, "a").get_dom_attribute("href")
    assert section_of(link) == section_of("appendix/embedding-options#tables-padding")
    assert first.find_element(By.CLASS_NAME, "search-above").text.startswith("Three options")
    for part, words in (("title", {"padding_idx", "gradient"}), ("excerpt", {"padding_idx"})):
        marks = first.find_elements(By.CSS_SELECTOR, f".search-{part} mark")
        assert words <= {mark.text for mark in marks}


def test_search_works_with_the_keyboard(search):
    """Typing searches and updates the address, Tab focuses the first result, and Return opens it."""
    field = search.switch_to.active_element
    field.send_keys("weight ty")
    wait(search, "weight ty")
    field.send_keys("ing")
    wait(search, "weight tying")
    assert search.current_url.endswith("?q=weight%20tying")
    field.send_keys(Keys.TAB)
    link = search.switch_to.active_element
    assert link.get_attribute("href").endswith("glossary.html#term-weight-tying")
    link.send_keys(Keys.RETURN)
    wait_for(search, "location.href.endsWith('#term-weight-tying')")


def test_button_shows_more_results(search):
    """The button below ten results shows ten more, and focuses the first of them."""
    ask(search, ["embedding"])
    assert len(search.find_elements(*LINKS)) == 10
    search.find_element(By.CLASS_NAME, "search-more").send_keys(Keys.RETURN)
    wait_for(search, "document.querySelectorAll('.search-found a').length === 20")
    assert search.switch_to.active_element == search.find_elements(*LINKS)[10]


def test_empty_result_suggests_other_pages(search):
    """Without results, links to the error box, the glossary and the index are shown."""
    hint = search.find_element(By.CLASS_NAME, "search-nothing")
    assert not hint.is_displayed()
    field = search.switch_to.active_element
    field.send_keys("xqzzyvw", Keys.RETURN)
    assert wait(search, "xqzzyvw") == "Nothing found."
    assert hint.is_displayed()
    links = [a.get_attribute("href") for a in hint.find_elements(By.TAG_NAME, "a")]
    names = {link.rpartition("/")[2] for link in links}
    assert names == {"symptoms.html", "glossary.html", "genindex.html"}
    field.send_keys(Keys.CONTROL, "a", Keys.DELETE)
    assert wait(search, "") == ""
    assert not hint.is_displayed()


def test_query_is_never_interpreted_as_markup(browser, site):
    """Markup in the address or in a page's text is shown as text, and no query raises an error."""
    address = (site / "search.html").as_uri()
    text = browser.execute_script("return encodeURIComponent(arguments[0])", MARKUP)
    browser.get_log("browser")
    browser.get(f"{address}?q={text}")
    wait(browser, MARKUP)
    assert browser.switch_to.active_element.get_attribute("value") == MARKUP
    assert browser.find_elements(*LINKS)
    ask(browser, [f"tied {MARKUP}", "<script>1</script>", "__proto__", "((((", "0", "的"])
    insert = (
        "for (const texts of Object.values(siteTexts)) texts.fill(`a roofline ${arguments[0]}`)"
    )
    browser.execute_script(insert, MARKUP)  # into the texts of the pages
    ask(browser, ["roofline tied"])
    assert MARKUP in browser.find_element(By.CLASS_NAME, "search-excerpt").text
    assert "planted" not in browser.title
    assert not browser.find_elements(By.CSS_SELECTOR, ".search-found :not(li, p, a, mark)")
    assert not [
        e for e in browser.get_log("browser") if re.search("_static/(find|search)", e["message"])
    ]


def test_search_field_of_other_pages(browser, site):
    """Ctrl+K opens the search field of any page; on the search page it focuses the page's field."""
    browser.get((site / "tutorials" / "tied-weights.html").as_uri())
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.CONTROL, "k")
    browser.switch_to.active_element.send_keys("check_bags", Keys.RETURN)
    wait_for(browser, "location.href.includes('search.html?q=check_bags')")
    wait(browser, "check_bags")
    browser.find_element(*LINKS).send_keys(Keys.CONTROL, "k")
    assert browser.switch_to.active_element.get_attribute("id") == "search-text"


def test_search_page_without_scripts(without_scripts, site):
    """Without scripts the page links to the index and the symptoms, and hides the field."""
    without_scripts.get((site / "search.html").as_uri())
    page = without_scripts.find_element(By.CLASS_NAME, "search-page")
    assert "needs JavaScript" in page.text
    assert not page.find_element(By.TAG_NAME, "form").is_displayed()
    for name in ("genindex", "symptoms"):
        assert page.find_element(By.CSS_SELECTOR, f'p a[href="{name}.html"]').is_displayed()


def test_index_is_loaded_on_the_first_query(browser, site, address):
    """Index and library are small and loaded on demand, and Sphinx's index does not exist."""
    static = site / "_static"
    downloads = [static / "search-sections.js", static / "minisearch" / "minisearch.min.js"]
    assert sum(len(gzip.compress(path.read_bytes())) for path in downloads) < 62_000
    script_tag = re.compile(r'src="[^"]*(find\.js|search-sections\.js|minisearch\.min\.js)[^"]*"')
    pages = site.rglob("*.html")
    assert not [page for page in pages if script_tag.search(page.read_text("utf-8"))]
    assert not (site / "searchindex.js").exists()
    assert not (static / "searchtools.js").exists()
    browser.get_log("browser")
    browser.get(f"{address}/search.html")
    assert browser.execute_script("return typeof MiniSearch") == "undefined"
    browser.get(f"{address}/search.html?q=roofline")
    wait(browser, "roofline")
    entries = "return performance.getEntriesByType('resource').map(entry => entry.name)"
    loaded = browser.execute_script(entries)
    assert [url for url in loaded if "/_static/sections/" in url]
    assert all(url.startswith((f"{address}/", "data:")) for url in loaded)
    assert not errors(browser)
