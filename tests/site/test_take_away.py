"""Downloads of a page: the text and first cells of its notebook, copied code."""

import re
import zipfile
from importlib.metadata import version
from urllib.parse import unquote
from xml.etree import ElementTree

import hypothesis.strategies as st
import nbformat
import pytest
from _extensions.notebooks.first_cells import write_requirements
from _extensions.notebooks.markdown import to_blocks
from docutils import nodes
from hypothesis import given
from markdown_it import MarkdownIt
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from served import ROOT, errors, find, open_page, soup, wait
from two_sites import BASE


@pytest.fixture(scope="module")
def downloads(both_sites):
    """Return for each address of a site its folder and the notebook of its first page."""
    return {
        base: (site, nbformat.read(site / "index.ipynb", 4)) for base, site in both_sites.items()
    }


def markdown_of(notebook):
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


PASSAGES = [
    "# A table has rows\n\n*A notebook of ",
    "There are 2.50 of them.",
    "$\\text{id} < V$, with *a* `code|x` and a\\_name, 2\\*3, \\[1\\] and 2 \\< 3.",
    '\n\n<img alt="Two tables of 2 rows and 2 columns on machines 0 and 1. Whole tables: ',
    "*Three cuts.*\n\n<details><summary>code of this figure</summary>\n\n```python\nfrom _figures",
    "`docs/_figures` of its repository",
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
def test_the_text_is_plain_markdown_with_values(downloads, base):
    """Formulas, quotes, folds and tables too; a link leads to the site or becomes text."""
    text = markdown_of(downloads[base][1])
    for passage in PASSAGES + LINKED[base]:
        assert passage in text


def test_cited_sources_are_listed_at_the_end(downloads):
    """Each once, by the label that the text cites."""
    _, notebook = downloads[BASE]
    last = notebook.cells[-1].source
    assert last.startswith("## Sources\n\n- ")
    (label,) = re.findall(r"^- (\S+) IEEE\. IEEE standard for floating-point", last, re.MULTILINE)
    assert f"and {label}." in re.sub(r"\[(\d+)\]\(<[^>]*>\)", r"\1", markdown_of(notebook))


def test_cells_need_no_myst_nb_and_checks_are_collapsed(downloads):
    """The first line of a collapsed cell says what it is for."""
    _, notebook = downloads[""]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code[2:]] == [
        "# code that prepares this page\nimport sklearn\n\n"
        'seen = 3\nglue("number", 2.5, display=False)',
        "# ✓ the text above holds\nassert seen == 3",
    ]
    assert all(cell.metadata["jupyter"]["source_hidden"] for cell in code[1:])
    nbformat.validate(notebook)


def test_the_first_cell_installs_from_the_site_or_says_how_to(downloads):
    """It installs what is missing of the package, torch and the imports of the page."""
    first = {
        base: next(cell.source for cell in notebook.cells if cell.cell_type == "code")
        for base, (_, notebook) in downloads.items()
    }
    (wheel,) = downloads[BASE][0].glob("*.whl")
    install = f'"lookup-matmul @ {BASE}{wheel.name}" scikit-learn'
    assert f"    %pip install --quiet {install}\n" in first[BASE]
    assert all('"torch"' in code and '"sklearn"' in code for code in first.values())
    exec(first[""], {})  # nothing is missing
    message = rf"needs nowhere\. .* pip install '{re.escape(wheel.name)}' scikit-learn"
    with pytest.raises(ModuleNotFoundError, match=message):
        exec(first[""].replace('"torch"', '"nowhere"'), {})


def test_the_first_cell_names_another_version_that_is_installed(capsys):
    """And what to do; it is silent where the installed package is that of the site."""
    installed = version("lookup-matmul")
    for wheel in ("a.whl", f"{BASE}a.whl"):
        for release in ("9.9", installed):
            code = write_requirements(["import torch"], wheel, release)
            exec(code.replace("    %pip", "    pass  # %pip"), {})
            output = capsys.readouterr().out
            assert (f"lookup-matmul {installed} is installed" in output) == (release == "9.9")
            assert (f"pip install --no-deps '{wheel}'" in output) == (release == "9.9")


def test_the_first_cell_installs_the_extras_of_the_subpackages_in_use():
    """From the site and from a wheel; a module that the build lacked is not required."""
    sources = ["from lookup_matmul.figures import draw_lookup", "from lookup_matmul import sharded"]
    code = write_requirements(sources, "a.whl", "1")
    assert 'needed = ["lookup_matmul", "torch", "matplotlib", "cloudpickle"]' in code
    assert "pip install 'a.whl[figures,sharded]'" in code
    from_site = write_requirements(sources, f"{BASE}a.whl", "1")
    assert f'"lookup-matmul[figures,sharded] @ {BASE}a.whl"' in from_site
    without_extras = write_requirements(["import matplotlib, scipy, torch"], "a.whl", "1")
    assert "pip install 'a.whl' matplotlib\"" in without_extras
    with_missing = write_requirements(["def f():\n    import no_such_module, scipy"], "a.whl", "1")
    assert 'needed = ["lookup_matmul", "torch", "scipy"]' in with_missing


def test_the_wheel_has_the_package_and_its_recordings(downloads):
    """Notebooks of pages with recordings read them from the package."""
    (wheel,) = downloads[""][0].glob("*.whl")
    package, names = ROOT / "src", set(zipfile.ZipFile(wheel).namelist())
    files = {p for p in package.rglob("*") if p.suffix in (".py", ".json", ".typed")}
    files -= {*package.rglob("recorded/crossings/*")}  # of pages without a notebook
    assert {p.relative_to(package).as_posix() for p in files} <= names


def test_the_menu_offers_files_and_with_an_address_services(downloads):
    """Each page has its Markdown, and those that run have a notebook."""
    files = {"Markdown": "index.md", "Notebook": "index.ipynb"}
    links = {}
    for base, (site, _) in downloads.items():
        links[base] = menu_links(site / "index.html")
        assert menu_links(site / "other.html") == {"Markdown": "other.md"}
        assert menu_links(site / "search.html") == {}
    assert links[""] == files
    assert links[BASE].items() >= files.items()
    notebook = "https%3A%2F%2Fexample.org%2Fsite%2Findex.ipynb"
    assert links[BASE]["Open in Colab"].endswith(f"#fileId={notebook}")
    binder, _, path = links[BASE]["Open in Binder"].partition("?urlpath=")
    assert binder == "https://mybinder.org/v2/gh/owner/name/HEAD"
    assert unquote(path) == f"lab?fromURL={notebook}"


def menu_links(path):
    """Return the links of the menu of downloads by their text."""
    menu = soup(path).select("#take-away a")
    assert all(a.has_attr("download") == ("://" not in a["href"]) for a in menu)
    return {a.get_text(): a["href"] for a in menu}


TEXT = st.text("ab1\\`*_[]<>|$~#+-.)( ", min_size=1).map(str.strip).filter(bool)


@given(st.lists(TEXT, min_size=1, max_size=3))
def test_text_and_code_survive_a_markdown_parser(texts):
    """A notebook shows the characters of the page, whatever they mean in Markdown."""
    paragraph = nodes.paragraph()
    for text in texts:
        paragraph += [nodes.Text(f"{text} "), nodes.literal("", text), nodes.Text(" ")]
    (block,) = to_blocks(paragraph, lambda _: None)
    (opening, inline, _) = MarkdownIt().parse(block)
    assert opening.type == "paragraph_open"
    assert {token.type for token in inline.children} <= {"text", "text_special", "code_inline"}
    content = "".join(token.content for token in inline.children)
    assert content.split() == paragraph.astext().split()


def test_an_unknown_node_is_a_warning(caplog):
    """Its content does not disappear silently."""
    to_blocks(nodes.field_list("", nodes.field()), lambda _: None)
    assert "a notebook cannot show docutils.nodes.field_list" in caplog.text


READ_CLIPBOARD = "navigator.clipboard.readText().then(arguments[0], e => arguments[0](String(e)))"


def allow_clipboard(browser, address):
    """Let pages of this address read and write the clipboard."""
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]
    grant = {"permissions": permissions, "origin": address}
    browser.execute_cdp_cmd("Browser.grantPermissions", grant)


def test_copying_omits_prompts_and_outputs(browser, address):
    """A doctest is copied as it is typed, and outputs have no button."""
    allow_clipboard(browser, address)
    open_page(browser, address, "reference/forms")
    blocks = browser.find_elements("css selector", "div.highlight pre")
    code = next(block for block in blocks if ">>> " in block.text)
    text = code.text
    button = code.find_element("xpath", "following-sibling::button")
    ActionChains(browser).scroll_to_element(code).move_to_element(code).click(button).perform()
    clipboard = browser.execute_async_script(READ_CLIPBOARD)
    input_lines = [line[4:] for line in text.splitlines() if line.startswith((">>> ", "... "))]
    assert clipboard.splitlines() == input_lines
    assert len(input_lines) < len(text.splitlines()), "the example has no output"
    open_page(browser, address, "tutorials/lookup-is-matmul")
    assert browser.find_elements("css selector", ".cell_input button.copybtn")
    assert not browser.find_elements("css selector", ".cell_output button.copybtn")


def test_the_menu_opens_and_closes_by_keyboard_and_fits_a_phone(browser, address):
    """It is a native popover with a name, within the window, that Escape closes."""
    open_page(browser, address, "tutorials/lookup-is-matmul", 320, "dark")
    button = find(browser, ".take-away")
    assert button.accessible_name == "Download"
    header = find(browser, ".bd-header-article")
    top, bottom = button.rect["y"], button.rect["y"] + button.rect["height"]
    assert 0 <= top <= bottom <= header.rect["height"]
    button.send_keys(Keys.RETURN)
    items = browser.find_elements("css selector", "#take-away :is(a, button)")
    assert [item.text for item in items] == ["Copy as Markdown", "Markdown", "Notebook"]
    for item in items:
        assert 0 <= item.rect["x"] <= item.rect["x"] + item.rect["width"] <= 320
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 320
    button.send_keys(Keys.TAB)
    assert browser.switch_to.active_element == items[0]
    browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not items[0].is_displayed()
    assert browser.switch_to.active_element == button


def test_a_page_is_copied_as_markdown_and_a_figure_saved(browser, site, address):
    """The clipboard has the file beside the page; the button of a figure has a name."""
    allow_clipboard(browser, address)
    open_page(browser, address, "tutorials/lookup-is-matmul")
    find(browser, ".take-away").click()
    find(browser, ".copy-page").click()
    wait(browser, "document.querySelector('[role=status].visually-hidden').textContent")
    text = (site / "tutorials" / "lookup-is-matmul.md").read_text("utf-8")
    assert browser.execute_async_script(READ_CLIPBOARD) == text
    keep = """
      URL.createObjectURL = blob => { blob.text().then(text => (window.saved = text)); return "#"; };
      HTMLAnchorElement.prototype.click = function () { window.file = this.download; };
    """
    browser.execute_script(keep)
    button = find(browser, "figure[id] .save-figure")
    browser.execute_script("arguments[0].click()", button)
    svg = wait(browser, "window.saved")
    ElementTree.fromstring(svg)
    figure = button.find_element("xpath", "ancestor::figure")
    assert browser.execute_script("return window.file") == f"{figure.get_attribute('id')}.svg"
    assert not errors(browser)


def test_every_page_has_its_markdown(built):
    """It is text: no markup of pictures, and each link to a page leads to the Markdown of it."""
    for path in built:
        if path.stem not in ("search", "404"):
            text = path.with_suffix(".md").read_text("utf-8")
            assert re.match(r"#+ \S", text), path
            prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
            assert not re.search("<svg|<img|base64", prose), path
            for link in re.findall(r"\]\(<(?!\w+:)([^>#]+)[^>]*>\)", prose):
                assert (path.parent / unquote(link)).is_file(), (path, link)
