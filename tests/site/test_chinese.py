"""Chinese pages: the same code and outputs, complete catalogs, links to English pages, search."""

import pickle
import re
import tomllib
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urljoin

import axe
import nbformat
import pytest
from _extensions.language.builder import add_language_links, set_base_address
from _extensions.language.messages import extract_numbers, translate_svg
from _tools import lint_translations
from babel.messages.pofile import read_po
from docutils.utils import new_document
from scratch import SPHINX, Copy, cell
from served import LANGUAGES, ROOT, SOURCES, ask, errors, find, open_page, soup, wait
from sphinx.errors import ConfigError

CATALOGS = ROOT / "docs" / "locale" / "zh_CN" / "LC_MESSAGES"
FILES = sorted(CATALOGS.rglob("*.po"))
PAGES = [p.relative_to(CATALOGS).with_suffix("").as_posix() for p in FILES if p.stem != "sphinx"]
UNTRANSLATED = sorted(SOURCES.keys() - set(PAGES))
CHINESE = re.compile(r"[\u4e00-\u9fff]+")


@pytest.fixture(scope="module")
def chinese(site):
    """Return every translated page, parsed, by its name."""
    return {name: soup(site / "zh" / f"{name}.html") for name in PAGES}


def test_the_path_and_the_page_that_decides_are_translated():
    """So are the pages that a reader needs beside them."""
    path = {"lookup-is-matmul", "where-equality-stops", "backward-is-scatter-add"}
    path |= {"sparse-row-is-a-sum", "text-both-ways", "inside-a-language-model"}
    required = {f"tutorials/{name}" for name in {*path, "which-should-i-use"}}
    assert {*PAGES} >= required | {"index", "getting-started", "explorer", "glossary"}


@pytest.mark.parametrize("name", PAGES)
def test_code_and_outputs_are_those_of_the_english_page(chinese, pages, name):
    """They are equal byte for byte, except the words in figures and in Markdown tables."""
    versions = chinese[name], pages[name]
    tables = (page.select(".cell_output table") for page in versions)
    for actual, expected in zip(*tables, strict=True):
        assert (
            extract_numbers(actual.get_text(" "))[1] == extract_numbers(expected.get_text(" "))[1]
        )
    for selector in ("div.highlight pre", ".cell_output table.comparison", "math"):
        actual, expected = (
            [node.decode_contents() for node in page.select(selector)] for page in versions
        )
        # The formulas of a sentence may be in another order.
        assert sorted(actual) == sorted(expected) if selector == "math" else actual == expected
    figures = (page.select("svg.drawing, figure svg") for page in versions)
    for actual, expected in zip(*figures, strict=True):
        for figure in (actual, expected):
            for text in figure.find_all(["text", "tspan"]):
                if not text.find(True):
                    text.string = " ".join(sorted(extract_numbers(text.get_text())[1]))
            numbers = extract_numbers(figure.get("aria-label", ""))[1]  # Chinese has quotes, too
            figure["aria-label"] = " ".join(sorted(n for n in numbers if n[0] != "“"))
        assert str(actual) == str(expected)


def test_notebooks_have_the_code_of_the_english_ones(site):
    """Only the comment that summarizes a collapsed cell is translated."""
    paths = sorted((site / "zh").rglob("*.ipynb"))
    assert len(paths) >= 8
    for path in paths:
        english = site / path.relative_to(site / "zh")
        notebooks = (nbformat.read(p, 4).cells for p in (path, english))
        sources = ([c.source for c in cells if c.cell_type == "code"] for cells in notebooks)
        for actual, expected in zip(*sources, strict=True):
            if actual != expected:
                (comment, *code), (_, *english_code) = actual.split("\n"), expected.split("\n")
                assert CHINESE.search(comment)
                assert code == english_code


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_catalogs_are_complete_and_keep_what_messages_name(path):
    """No message is missing or fuzzy, or has lost a role, a link, a formula, code or a number."""
    with path.open("rb") as file:
        assert not [m.id for m in read_po(file) if m.id and (m.fuzzy or not m.string)]
    assert not list(lint_translations.lint_catalog(path))


def test_a_language_is_a_folder_of_catalogs_and_a_line_of_settings(tmp_path):
    """New English sentences are marked, other pages linked, copies of an earlier build deleted."""
    copy = Copy(tmp_path, bare=True)
    copy.edit("docs/conf.py", 'languages = {"zh_CN": "zh"}', 'languages = {"eo": "esperanto"}')
    value = cell('from myst_nb import glue\nn = 3\nglue("n", n, display=False)')
    text = f"# Rows\n\n{value}\nThere are {{glue:text}}`n`.\n\nNew words [here](other.md).\n"
    copy.write("index", f"{text}\n```{{toctree}}\nother\n```\n")
    copy.write("other", "# Other\n\nSee [rows](index.md).\n")
    number = "{glue:text}`n`."
    translations = {"A page.": "Paĝo.", "Rows": "Linioj", f"There are {number}": f"Estas {number}"}
    entries = [f'msgid "{key}"\nmsgstr "{text}"\n' for key, text in translations.items()]
    head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n'
    catalog = copy.root / "docs" / "locale" / "eo" / "LC_MESSAGES" / "index.po"
    catalog.parent.mkdir(parents=True)
    catalog.write_text("\n".join([head, *entries]), "utf-8")
    english = copy.root / "build" / "html"
    site = english / "esperanto"
    site.mkdir(parents=True)
    esperanto = ["build/html/esperanto", "-d", "build/doctrees-eo", "-D", "language=eo"]
    for options in (["build/html"], esperanto):
        built = copy.run(*SPHINX[:-1], *options, "-t", "multilingual")
        assert (built.returncode, built.stderr) == (0, "")
    page = soup(site / "index.html").article
    assert page.h1.get_text().startswith("Linioj")
    assert page.select_one("p:not(.untranslated)").get_text() == "Estas 3."
    untranslated = page.select_one("p.untranslated")
    assert untranslated.get_text() == "New words here."
    assert (untranslated.a["href"], untranslated.a["hreflang"]) == ("../other.html", "en")
    assert not list(site.glob("other.*"))
    for folder, address, code, name in (
        (english, "./esperanto/index.html", "eo", "Esperanto"),
        (site, "./../index.html", "en", "English"),
    ):
        (link,) = soup(folder / "index.html").select("a.language")
        assert (link["href"], link["lang"], link.get_text()) == (address, code, name)
    assert not soup(english / "other.html").select("a.language")


def test_a_language_without_a_folder_is_refused():
    """The message names the setting."""
    config = SimpleNamespace(language="xx", languages=LANGUAGES, html_baseurl="")
    with pytest.raises(ConfigError, match=r"'xx', expected one of .*'zh_CN'"):
        set_base_address(None, config)


def test_english_pages_have_no_chinese(built):
    """Except the name of the language."""
    for path, page in built.items():
        assert {*CHINESE.findall(page.get_text(" "))} <= {"中文"}, path


def test_the_chinese_site_has_translated_pages_only(site):
    """No page, notebook or wheel is a copy of an English one."""
    folder = site / "zh"
    for name in UNTRANSLATED:
        assert not list((folder / name).parent.glob(f"{Path(name).name}.*")), name
    pages = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*.html")}
    assert pages == {*PAGES, "search"}
    assert not list(folder.rglob("*.whl"))


def test_a_stored_page_names_itself_as_the_document_of_its_messages():
    """Each message is parsed as a document of its own, which the page would store, too."""
    page = ROOT / "build" / "doctrees-zh" / "tutorials" / "lookup-is-matmul.doctree"
    doctree = pickle.loads(page.read_bytes())
    assert {id(node.document) for node in doctree.findall()} == {id(doctree)}


def test_words_in_figures_are_translated_around_their_numbers():
    """A number or a quote keeps its role in the sentence; text without words stays."""
    svg = (
        '<svg aria-label="row 2: “a 9 b”"><text>row 2</text><text>−0.5</text>'
        '<text>a &lt; b</text><text translate="no">row 2</text></svg>'
    )
    messages = {"row {0}: {1}": "{1}：第{0}行", "row {0}": "第{0}行"}
    assert translate_svg(svg, lambda text: messages.get(text, text)) == (
        '<svg aria-label="“a 9 b”：第2行"><text>第2行</text><text>−0.5</text>'
        '<text>a &lt; b</text><text translate="no">row 2</text></svg>'
    )


def test_messages_of_scripts_are_translated(site):
    """``words.js`` has each message of the scripts."""
    words = (site / "zh" / "_static" / "words.js").read_text("utf-8")
    paths = (ROOT / "docs").glob("_[fs]*/*.js")
    scripts = "".join(path.read_text("utf-8") for path in paths)
    messages = set(re.findall(r'(?<!\w)_\("([^"]+)"', scripts))
    assert len(messages) > 50
    assert [message for message in messages if f'"{message}": "' not in words] == []


@pytest.mark.parametrize(("language", "folder"), [("en", ""), ("zh_CN", "zh/")])
@pytest.mark.parametrize("page", ["tutorials/lookup-is-matmul", "tutorials/swap-layers"])
def test_a_published_page_names_the_addresses_of_both_languages(language, folder, page):
    """They are the same from either language, and missing if there is only one."""
    base = "https://example.org/site/"
    config = {"language": language, "languages": LANGUAGES, "locale_dirs": ["locale"]}
    app = SimpleNamespace(
        config=SimpleNamespace(html_baseurl=f"{base}{folder}", **config),
        env=SimpleNamespace(found_docs=SOURCES.keys()),
        srcdir=ROOT / "docs",
        tags=SimpleNamespace(has="multilingual".__eq__),
        builder=SimpleNamespace(get_target_uri="{}.html".format),
    )
    context = {"content_root": "../", "pageurl": f"{base}{folder}{page}.html"}
    add_language_links(app, page, "page.html", context, new_document(page))
    addresses = {"en": f"{base}{page}.html", "zh-CN": f"{base}zh/{page}.html"}
    assert context.get("alternates") == (addresses if page in PAGES else None)


@pytest.mark.parametrize("page", ["tutorials/where-equality-stops.html#stops-range", "search.html"])
def test_the_language_link_keeps_page_and_section(browser, address, page):
    """In both directions; it names its language for a browser."""
    browser.get(f"{address}/{page}")
    for folder, code in (("/zh", "zh-CN"), ("", "en")):
        link = find(browser, "a.language")
        assert link.get_attribute("hreflang") == link.get_attribute("lang") == code
        link.click()
        wait(browser, "location.href === arguments[0]", f"{address}{folder}/{page}")


def test_chinese_queries_find_pages_of_both_languages(browser, address):
    """Words are pairs of characters, since Chinese has no blanks between words."""
    data = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))
    expected = {query: [page] for query, page in data["chinese-first"].items()}
    for query, targets in data["chinese"].items():
        names = {target.partition("#")[0] for target in targets}
        expected[query] = [f"zh/{name}" if name in PAGES else name for name in names]
    browser.get(f"{address}/zh/search.html")
    misses = {}
    for query, results in ask(browser, expected).items():
        links = [urljoin("/zh/", result["link"])[1:] for result in results[:1]]
        if not links or not links[0].startswith(tuple(expected[query])):
            misses[query] = links
    assert not misses.keys() & data["chinese-first"].keys(), misses
    assert len(misses) <= 0.15 * len(data["chinese"]), misses


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_fit_a_phone_and_axe_finds_nothing(browser, address, name):
    """In the dark scheme; the styles are those of English pages, which are tested in both."""
    open_page(browser, address, f"zh/{name}", 390, "dark")
    root = "document.documentElement"
    assert browser.execute_script(f"return {root}.scrollWidth <= {root}.clientWidth")
    assert not errors(browser)
    axe.load(browser)
    assert [*axe.contrast(browser), *axe.structure(browser)] == []
