"""The pages in Chinese: the same code and outputs, every message translated, and found by search."""

import re
from types import SimpleNamespace

import axe
import lint_translations
import pytest
from _extensions.language.drawings import message, translated
from _extensions.language.frame import add_language_links
from babel.messages.pofile import read_po
from docutils.utils import new_document
from scratch import SPHINX, Copy, cell
from selenium.webdriver.common.by import By
from served import ROOT, errors, open_page, soup, wait

CATALOGS = ROOT / "docs" / "locale" / "zh_CN" / "LC_MESSAGES"
FILES = sorted(CATALOGS.rglob("*.po"))
PAGES = [p.relative_to(CATALOGS).with_suffix("").as_posix() for p in FILES if p.stem != "sphinx"]
HAN = re.compile(r"[\u4e00-\u9fff]+")


@pytest.fixture(scope="module")
def chinese(site):
    """Return every translated page, parsed, by its name."""
    return {name: soup(site / "zh" / f"{name}.html") for name in PAGES}


def test_the_path_and_what_decides_are_translated():
    """So is what a reader needs beside them."""
    path = {"lookup-is-matmul", "where-equality-stops", "backward-is-scatter-add"}
    path |= {"sparse-row-is-a-sum", "text-both-ways", "inside-a-language-model"}
    needed = {f"tutorials/{name}" for name in {*path, "which-should-i-use"}}
    assert {*PAGES} >= needed | {"index", "getting-started", "explorer", "glossary"}


@pytest.mark.parametrize("name", PAGES)
def test_code_and_outputs_are_the_same(chinese, pages, name):
    """Byte for byte, and in drawings all that is no word."""
    both = chinese[name], pages[name]
    for selector in ("div.highlight pre", ".cell_output table", "math"):
        found, expected = ([str(each) for each in page.select(selector)] for page in both)
        # A sentence may name its formulas in another order.
        assert sorted(found) == sorted(expected) if selector == "math" else found == expected
    for found, expected in zip(
        *(page.select("svg.drawing, figure svg") for page in both), strict=True
    ):
        for drawing in (found, expected):
            for word in drawing.find_all(["text", "tspan"]):
                if not word.find(True):
                    word.string = " ".join(sorted(message(word.get_text())[1]))
            numbers = sorted(message(drawing.get("aria-label", ""))[1])
            drawing["aria-label"] = " ".join(numbers)
        assert str(found) == str(expected)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_message_is_translated_and_keeps_what_it_names(path):
    """None is missing or fuzzy, and none has lost a role, a link, a formula, code or a number."""
    with path.open("rb") as file:
        assert not [m.id for m in read_po(file) if m.id and (m.fuzzy or not m.string)]
    assert not list(lint_translations.findings(path))


def test_an_english_sentence_may_be_newer(tmp_path):
    """Its page shows it with a mark, and the build names the page and ends well."""
    copy = Copy(tmp_path, bare=True)
    value = cell('from myst_nb import glue\nn = 3\nglue("n", n, display=False)')
    copy.write("index", f"# Rows\n\n{value}\nThere are {{glue:text}}`n`.\n\nNew words.\n")
    said = {"A page.": "一页。", "Rows": "行", "There are {glue:text}`n`.": "有{glue:text}`n`行。"}
    lines = [f'msgid "{message}"\nmsgstr "{words}"\n' for message, words in said.items()]
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    catalog = copy.root / CATALOGS.relative_to(ROOT) / "index.po"
    catalog.write_text("\n".join([head, *lines]), "utf-8")
    chinese = ["build/html/zh", "-d", "build/doctrees-zh", "-D", "language=zh_CN"]
    built = copy.run(*SPHINX[:-1], *chinese)
    assert (built.returncode, built.stderr) == (0, "")
    assert "index: messages newer in English: 1" in built.stdout
    page = soup(copy.root / "build" / "html" / "zh" / "index.html").article
    assert page.h1.get_text().startswith("行")
    assert page.select_one("p:not(.newer)").get_text() == "有3行。"
    assert re.fullmatch(".*译文.* New words.", page.select_one("p.newer").get_text())


def test_no_chinese_stands_in_an_english_page(built):
    """But the name of the language."""
    for path, page in built.items():
        assert {*HAN.findall(page.get_text(" "))} <= {"中文"}, path


def test_an_untranslated_page_says_so(site):
    """It is in English, and a screen reader is told; its frame is in Chinese."""
    page = soup(site / "zh" / "tutorials" / "what-it-costs.html")
    assert page.html["lang"] == "zh-CN"
    assert HAN.search(page.select_one(".untranslated").get_text())
    assert page.select_one("article [lang=en] h1, [lang=en] article h1")
    assert page.select_one(".take-away").get_text(strip=True) == "下载"


def test_words_in_drawings_are_translated_around_their_numbers():
    """A number keeps its place in the sentence; what has no word stays."""
    svg = '<svg aria-label="row 2 of 4"><text>row 2</text><text>−0.5</text><text>a &lt; b</text></svg>'
    said = {"row {0} of {1}": "{1}行中的第{0}行", "row {0}": "第{0}行"}
    made = translated(svg, lambda text: said.get(text, text))
    assert made == (
        '<svg aria-label="4行中的第2行"><text>第2行</text><text>−0.5</text><text>a &lt; b</text></svg>'
    )


@pytest.mark.parametrize("name", ["index", "tutorials/where-equality-stops", "search", "genindex"])
def test_a_page_leads_to_itself_in_the_other_language(site, name):
    """There and back, and the language is named for a browser."""
    there, back = site / f"{name}.html", site / "zh" / f"{name}.html"
    for path, other, code in ((there, back, "zh-CN"), (back, there, "en")):
        link = soup(path).select_one("a.language")
        assert (link["hreflang"], link["lang"]) == (code, code)
        assert (path.parent / link["href"]).resolve() == other.resolve()


@pytest.mark.parametrize(("language", "folder"), [("en", ""), ("zh_CN", "zh/")])
def test_a_published_page_names_both_addresses(language, folder):
    """For search engines, the same from either language."""
    base, page = "https://example.org/site/", "tutorials/lookup-is-matmul"
    config = SimpleNamespace(
        language=language,
        html_baseurl=f"{base}{folder}",
        locale_dirs=["locale"],
        gettext_compact=False,
    )
    app = SimpleNamespace(
        config=config,
        srcdir=ROOT / "docs",
        tags=SimpleNamespace(has="bilingual".__eq__),
        builder=SimpleNamespace(get_target_uri="{}.html".format),
    )
    context = {"content_root": "../", "pageurl": f"{base}{folder}{page}.html"}
    add_language_links(app, page, "page.html", context, new_document(page))
    addresses = {"en": f"{base}{page}.html", "zh-CN": f"{base}zh/{page}.html"}
    assert context["languages"] == addresses


def test_the_switch_keeps_the_section(browser, address):
    """And comes back to it."""
    start = f"{address}/tutorials/where-equality-stops.html#stops-range"
    browser.get(start)
    for expected in (start.replace(address, f"{address}/zh"), start):
        browser.find_element(By.CSS_SELECTOR, "a.language").click()
        wait(browser, "location.href === arguments[0]", expected)


FOUND = {  # asked in Chinese, and the page of the first result
    "独热行": "glossary",
    "该用哪一个": "tutorials/which-should-i-use",
    "梯度裁剪": "glossary",
    "购物车": "tutorials/sparse-row-is-a-sum",
    "语言模型内部": "tutorials/inside-a-language-model",
    "one_hot": "",
}


def test_chinese_finds_what_stands_there(browser, address):
    """By pairs of signs, since Chinese has no blanks between words."""
    for asked, page in FOUND.items():
        browser.get(f"{address}/zh/search.html?q={asked}")
        wait(browser, "document.querySelector('.search-found a')")
        link = browser.find_element(By.CSS_SELECTOR, ".search-found a").get_attribute("href")
        assert link.startswith(f"{address}/zh/{page}"), (asked, link)


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_fit_a_phone_and_axe_finds_nothing(browser, address, name):
    """As in English."""
    open_page(browser, address, f"zh/{name}", 390, "dark")
    root = "document.documentElement"
    assert browser.execute_script(f"return {root}.scrollWidth <= {root}.clientWidth")
    assert not errors(browser)
    assert not axe.findings(browser, [390])
