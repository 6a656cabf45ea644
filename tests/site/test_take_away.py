"""What is taken away from a page: its notebook's text and first cells, its source, copied code."""

import re
import zipfile
from urllib.parse import unquote

import nbformat
import pytest
from _extensions.notebooks.first_cells import needs
from _extensions.notebooks.markdown_of import blocks
from _extensions.notebooks.notebook_cells import without_glue
from docutils import nodes
from scratch import HEAD
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from served import ROOT, open_page, soup
from two_sites import BASE, PAGE


@pytest.fixture(scope="module")
def taken(both_sites):
    """Return the folder of each site, and the notebook of its first page."""
    read = {base: nbformat.read(site / "index.ipynb", 4) for base, site in both_sites.items()}
    return {base: (site, read[base]) for base, site in both_sites.items()}


def text_of(made):
    """Return all text of a notebook."""
    return "\n\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")


WRITTEN = [
    "# A table has rows\n\n*A notebook of ",
    "There are 2.50 of them.",
    "$\\text{id} < V$, with *a* `code|x` and a\\_name, 2\\*3, \\[1\\] and 2 \\< 3.",
    "> **Note**\n>\n> - one\n>\n> - two\n>\n>   ```sh\n>   nox -s docs\n>   ```",
    "<details><summary>Solution for V &lt; 3 in one step</summary>\n\n| a | b |",
    "| x | $y$ |\n\n</details>",
    "$$\ny = 1 \\tag{1}\n$$",
    "See [below](<#The-end>)",
    "[`torch.nn.Embedding`](<https://docs.pytorch.org/",
]
LINKED = {
    BASE: [
        f"[another page](<{BASE}other.html>)",
        f"[row](<{BASE}other.html#term-row>)",
        f"[`lookup_matmul.lookup()`](<{BASE}other.html#lookup_matmul.lookup>)",
        f"notebook of [A table has rows](<{BASE}index.html>)",
    ],
    "": ["another page, row, `lookup_matmul.lookup()`,", "notebook of the page `index`"],
}


@pytest.mark.parametrize("base", LINKED)
def test_the_text_is_filled_in_and_plain(taken, base):
    """Values, formulas, quotes, folds and tables; a link leads to the site, or is words."""
    text = text_of(taken[base][1])
    for written in WRITTEN + LINKED[base]:
        assert written in text
    assert not re.search(r"\{[a-z:]+\}`|:::", text)
    assert not re.search(r"\]\(<(?!https://|#)", text)


def test_sources_are_written_out(taken):
    """Each once, at the end, under the mark that stands in the text."""
    _, made = taken[BASE]
    last = made.cells[-1].source
    assert last.startswith("## Sources of this notebook\n\n- ")
    (mark,) = re.findall(r"^- (\S+) IEEE\. IEEE standard for floating-point", last, re.MULTILINE)
    assert f"and {mark}." in re.sub(r"\[(\d+)\]\(<[^>]*>\)", r"\1", text_of(made))


def test_a_cell_has_neither_glue_nor_an_open_check(taken):
    """What remains of it stands there, and folds."""
    _, made = taken[""]
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code[2:]] == [
        "# prepares what follows\nimport sklearn\n\nseen = 3",
        "# ✓ holds\nassert seen == 3",
    ]
    assert all(cell.metadata["jupyter"]["source_hidden"] for cell in code[1:])
    nbformat.validate(made)


def test_the_first_cell_installs_from_the_site_or_says_how_to(taken):
    """Only what is missing, torch and what this page imports included."""
    first = {
        base: next(cell.source for cell in made.cells if cell.cell_type == "code")
        for base, (_, made) in taken.items()
    }
    (wheel,) = taken[BASE][0].glob("*.whl")
    install = f'"lookup-matmul @ {BASE}{wheel.name}" scikit-learn'
    assert first[BASE].endswith(f"    %pip install --quiet {install}")
    assert all('"torch"' in code and '"sklearn"' in code for code in first.values())
    exec(first[""], {})  # everything is there
    said = rf"needs nowhere\. .* pip install '{re.escape(wheel.name)}' scikit-learn"
    with pytest.raises(ModuleNotFoundError, match=said):
        exec(first[""].replace('"torch"', '"nowhere"'), {})


def test_the_first_cell_asks_for_the_extras_of_the_parts_that_are_used():
    """Whether the wheel lies on the site or beside the reader."""
    sources = ["from lookup_matmul.figures import draw_bits", "from lookup_matmul import sharded"]
    code = needs(sources, "a.whl")
    assert 'needed = ["lookup_matmul", "torch", "matplotlib", "cloudpickle"]' in code
    assert "pip install 'a.whl[figures,sharded]'" in code
    assert f'"lookup-matmul[figures,sharded] @ {BASE}a.whl"' in needs(sources, f"{BASE}a.whl")
    alone = needs(["import matplotlib, scipy, torch"], "a.whl")
    assert "pip install 'a.whl' matplotlib\"" in alone  # which no part of the package brings


def test_the_wheel_holds_the_package_and_its_recordings(taken):
    """So that pages that show recordings find them."""
    (wheel,) = taken[""][0].glob("*.whl")
    package, held = ROOT / "src", set(zipfile.ZipFile(wheel).namelist())
    files = [p for p in package.rglob("*") if p.suffix in (".py", ".json", ".typed")]
    assert {p.relative_to(package).as_posix() for p in files} <= held


def test_the_menu_offers_what_there_is(taken):
    """Files beside the page; the services only when somebody said where the site is."""
    files = {"Notebook": "index.ipynb", "Markdown source": "index.md"}
    found = {}
    for base, (site, _) in taken.items():
        found[base] = offered(site / "index.html")
        assert (site / "index.md").read_text("utf-8") == HEAD + PAGE
        assert list(offered(site / "other.html")) == ["Markdown source"]
        assert offered(site / "search.html") == {}
    assert found[""] == files
    assert found[BASE].items() >= files.items()
    notebook = "https%3A%2F%2Fexample.org%2Fsite%2Findex.ipynb"
    assert found[BASE]["Open in Colab"].endswith(f"#fileId={notebook}")
    binder, _, path = found[BASE]["Open in Binder"].partition("?urlpath=")
    assert binder == "https://mybinder.org/v2/gh/owner/name/HEAD"
    assert unquote(path) == f"lab?fromURL={notebook}"


def offered(path):
    """Return the address of each way to take a page away."""
    menu = soup(path).select("#take-away a")
    assert all(a.has_attr("download") == ("://" not in a["href"]) for a in menu)
    return {a.get_text(): a["href"] for a in menu}


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("x = 1\nglue('a', x)", "x = 1"),
        ("from myst_nb import glue\nglue('a', 'é; b', display=False)  # said\nx = 1", "x = 1"),
        ("for k in range(3):\n    glue(str(k), k)\nx = 1", "x = 1"),
        (
            "for k in range(3):\n    y = k\n    glue(\n        str(k),\n        k,\n    )",
            "for k in range(3):\n    y = k",
        ),
        ("# about glue\nx = 'glue'", "# about glue\nx = 'glue'"),
    ],
)
def test_glue_is_left_out(source, left):
    """And nothing else."""
    assert without_glue(source) == left


@pytest.mark.parametrize(
    "source", ["x = glue('a', 1)", "x = 1; glue('a', x)", "[glue(k, k) for k in 'ab']"]
)
def test_glue_that_cannot_be_left_out_is_refused(source):
    """Rather than left in a notebook in which it does not exist."""
    with pytest.raises(ValueError, match=r"shares its line|a notebook has no glue"):
        without_glue(source)


def test_a_node_that_no_notebook_shows_is_named(caplog):
    """Instead of being lost in silence."""
    blocks(nodes.field_list("", nodes.field()), lambda _: None)
    assert "a notebook cannot show docutils.nodes.field_list" in caplog.text


def test_copying_takes_neither_prompts_nor_outputs(browser, address):
    """A doctest of the reference is copied as what one types; an output has no button."""
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": address}
    browser.execute_cdp_cmd("Browser.grantPermissions", allowed)
    open_page(browser, address, "reference/forms", 1300, "light")
    code = next(
        pre
        for pre in browser.find_elements("css selector", "div.highlight pre")
        if ">>> " in pre.text
    )
    shown = code.text
    button = code.find_element("xpath", "following-sibling::button")
    ActionChains(browser).scroll_to_element(code).move_to_element(code).click(button).perform()
    read = "navigator.clipboard.readText().then(arguments[0], e => arguments[0](String(e)))"
    copied = browser.execute_async_script(read)
    typed = [line[4:] for line in shown.splitlines() if line.startswith((">>> ", "... "))]
    assert copied.splitlines() == typed
    assert len(typed) < len(shown.splitlines()), "an example without an output shows nothing here"
    open_page(browser, address, "tutorials/lookup-is-matmul", 1300, "light")
    assert browser.find_elements("css selector", ".cell_input button.copybtn")
    assert not browser.find_elements("css selector", ".cell_output button.copybtn")


def test_the_menu_opens_and_closes_by_keyboard_and_fits_a_phone(browser, address):
    """A native popover with a name, within the window, that Esc closes."""
    open_page(browser, address, "tutorials/lookup-is-matmul", 320, "dark")
    button = browser.find_element("css selector", ".take-away")
    assert button.accessible_name == "Download"
    header = browser.find_element("css selector", ".bd-header-article")
    assert (
        0 <= button.rect["y"] <= button.rect["y"] + button.rect["height"] <= header.rect["height"]
    )
    button.send_keys(Keys.RETURN)
    links = browser.find_elements("css selector", "#take-away a")
    assert [link.text for link in links][:2] == ["Notebook", "Markdown source"]
    for link in links:
        assert 0 <= link.rect["x"] <= link.rect["x"] + link.rect["width"] <= 320
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 320
    button.send_keys(Keys.TAB)
    assert browser.switch_to.active_element == links[0]
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not links[0].is_displayed()
    assert browser.switch_to.active_element == button
