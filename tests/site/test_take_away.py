"""What is taken away from a page: its notebook's text and first cells, its source, copied code."""

import re
import sys
import zipfile
from urllib.parse import unquote

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from jinja2 import Template
from scratch import HEAD, Copy
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys
from served import ROOT
from test_browser import look

sys.path.append(str(ROOT / "docs" / "_extensions"))
from notebooks.first_cells import settings
from notebooks.markdown_of import blocks
from notebooks.notebook_cells import without_glue

BASE = "https://example.org/site/"
PAGE = """# A table has rows

You look up $\\text{id} < V$, with *a* `code|x` and a_name, 2*3, [1] and 2 < 3.
See [below](#the-end), [another page](other.md), {term}`row`, {func}`lookup_matmul.lookup`,
{class}`torch.nn.Embedding` and {cite}`ieee754`.

```{code-cell} ipython3
:tags: [setup]
from myst_nb import glue
import sklearn

seen = 3
glue("number", 2.5, display=False)
```

There are {glue:text}`number:.2f` of them.

```{code-cell} ipython3
:tags: [check]
assert seen == 3
```

:::{note}
- one
- two

  ```sh
  nox -s docs
  ```
:::

:::{dropdown} Solution for $V < 3$ in `one` step
| a | b |
|---|---|
| x | $y$ |
:::

```{math}
:label: sum
y = 1
```

## The end

Equation {eq}`sum`.

```{toctree}
other
```
"""
OTHER = """# Other

```{glossary}
row
  A line of a table.
```

```{eval-rst}
.. module:: lookup_matmul
.. autofunction:: lookup
```

```{bibliography}
:all:
```
"""


@pytest.fixture(scope="module", params=["", BASE], ids=["no address", "with an address"])
def taken(request, tmp_path_factory):
    """Build two pages, and give the address, the site's folder and the first page's notebook."""
    copy = Copy(tmp_path_factory.mktemp("taken"))
    copy.clear_pages()
    copy.edit("docs/conf.py", 'html_baseurl = ""', f"html_baseurl = {request.param!r}")
    copy.edit("docs/conf.py", '"repository": ""', '"repository": "owner/name"')
    copy.write("index", PAGE)
    copy.write("other", OTHER, head="---\nmyst:\n  html_meta:\n    description: A page.\n---\n\n")
    built = copy.build()
    assert built.returncode == 0, built.stderr
    site = copy.root / "build" / "html"
    return request.param, site, nbformat.read(site / "index.ipynb", as_version=4)


def text_of(made):
    """Return all text of a notebook."""
    return "\n\n".join(cell.source for cell in made.cells if cell.cell_type == "markdown")


@pytest.mark.parametrize(
    "written",
    [
        "# A table has rows\n\n*A notebook of ",
        "There are 2.50 of them.",
        "$\\text{id} < V$, with *a* `code|x` and a\\_name, 2\\*3, \\[1\\] and 2 \\< 3.",
        "> **Note**\n>\n> - one\n>\n> - two\n>\n>   ```sh\n>   nox -s docs\n>   ```",
        "<details><summary>Solution for $V &lt; 3$ in one step</summary>\n\n| a | b |",
        "| x | $y$ |\n\n</details>",
        "$$\ny = 1 \\tag{1}\n$$",
    ],
)
def test_the_text_is_filled_in_and_plain(taken, written):
    """Values, formulas, quotes, folds and tables, and nothing that only Sphinx understands."""
    _, _, made = taken
    text = text_of(made)
    assert written in text
    assert not re.search(r"\{[a-z:]+\}`|:::", text)


def test_links_lead_to_the_site_or_are_words(taken):
    """A link that leads nowhere is none."""
    base, _, made = taken
    text = text_of(made)
    assert "See [below](<#The-end>)" in text
    assert "[`torch.nn.Embedding`](<https://docs.pytorch.org/" in text
    if base:
        assert f"[another page](<{BASE}other.html>)" in text
        assert f"[row](<{BASE}other.html#term-row>)" in text
        assert f"[`lookup_matmul.lookup()`](<{BASE}other.html#lookup_matmul.lookup>)" in text
        assert f"notebook of [A table has rows](<{BASE}index.html>)" in text
    else:
        assert "another page, row, `lookup_matmul.lookup()`," in text
        assert "notebook of the page `index`" in text
    assert not re.search(r"\]\(<(?!https://|#)", text)


def test_sources_are_written_out(taken):
    """Each once, at the end, under the mark that stands in the text."""
    _, _, made = taken
    last = made.cells[-1].source
    assert last.startswith("## Sources of this notebook\n\n- ")
    (mark,) = re.findall(r"^- (\S+) IEEE\. IEEE standard for floating-point", last, re.MULTILINE)
    read = re.sub(r"\[(\d+)\]\(<[^>]*>\)", r"\1", text_of(made))
    assert (
        f"and {mark}."
        in read.replace("](<https://docs.pytorch.org", "").split("torch.nn.Embedding")[-1]
    )


def test_a_cell_has_neither_glue_nor_an_open_check(taken):
    """What remains of it stands there, and folds."""
    _, _, made = taken
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code[2:]] == [
        "# prepares what follows\nimport sklearn\n\nseen = 3",
        "# ✓ holds\nassert seen == 3",
    ]
    assert all(cell.metadata["jupyter"]["source_hidden"] for cell in code[1:])
    assert [cell.execution_count for cell in code] == [1, 2, 3, 4]
    nbformat.validate(made)


def test_the_first_cell_installs_from_the_site_or_says_how_to(taken):
    """Only what is missing, torch and what this page imports included."""
    base, site, made = taken
    first = next(cell.source for cell in made.cells if cell.cell_type == "code")
    (wheel,) = site.glob("*.whl")
    assert '"torch"' in first
    assert '"sklearn"' in first
    if base:
        install = f'"lookup-matmul[figures,sharded,timings] @ {BASE}{wheel.name}" scikit-learn'
        assert first.endswith(f"    %pip install --quiet {install}")
        return
    exec(first, {})  # everything is there
    with pytest.raises(
        ModuleNotFoundError, match=r"needs nowhere\. In a clone .*pip install '\.\["
    ):
        exec(first.replace('"torch"', '"nowhere"'), {})


def test_the_wheel_holds_the_package_and_its_recordings(taken):
    """So that pages that show recordings find them."""
    _, site, _ = taken
    (wheel,) = site.glob("*.whl")
    held = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src"
    files = [
        p for p in package.rglob("*") if p.is_file() and p.suffix in (".py", ".json", ".typed")
    ]
    assert {p.relative_to(package).as_posix() for p in files} <= held


def test_the_menu_offers_what_there_is(taken):
    """Files beside the page; the services only when somebody said where the site is."""
    base, site, _ = taken
    links = offered((site / "index.html").read_text("utf-8"))
    files = {"Notebook": "index.ipynb", "Markdown source": "index.md"}
    assert dict(list(links.items())[:2]) == files
    assert (site / "index.md").read_text("utf-8") == HEAD + PAGE
    if base:
        notebook = "https%3A%2F%2Fexample.org%2Fsite%2Findex.ipynb"
        assert links["Open in Colab"].endswith(f"#fileId={notebook}")
        binder, _, path = links["Open in Binder"].partition("?urlpath=")
        assert binder == "https://mybinder.org/v2/gh/owner/name/HEAD"
        assert unquote(path) == f"lab?fromURL={notebook}"
    assert list(offered((site / "other.html").read_text("utf-8"))) == ["Markdown source"]
    assert offered((site / "search.html").read_text("utf-8")) == {}


def offered(html):
    """Return the address of each way to take a page away."""
    menu = BeautifulSoup(html, "html.parser").select("#take-away a")
    assert all(a.has_attr("download") == ("://" not in a["href"]) for a in menu)
    return {a.get_text(): a["href"] for a in menu}


@pytest.mark.parametrize(
    ("pageurl", "repository", "has_notebook", "ways"),
    [
        (None, "owner/name", True, ["Notebook", "Markdown source"]),
        (f"{BASE}a/b.html", "", True, ["Notebook", "Markdown source", "Open in Colab"]),
        (f"{BASE}a/b.html", "owner/name", False, ["Markdown source"]),
    ],
)
def test_nothing_is_offered_that_leads_nowhere(pageurl, repository, has_notebook, ways):
    """Binder needs both addresses, Colab the site's, and both a notebook."""
    template = Template((ROOT / "docs" / "_templates" / "take-away.html").read_text("utf-8"))
    page = {"pagename": "a/b", "page_source_suffix": ".md", "pageurl": pageurl}
    html = template.render(page, repository=repository, has_notebook=has_notebook)
    assert list(offered(html)) == ways


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("x = 1\nglue('a', x)", "x = 1"),
        ("glue('a', 'é; b', display=False)  # said\nx = 1", "x = 1"),
        ("from myst_nb import glue\nglue('a', 1)", ""),
        ("for k in range(3):\n    glue(str(k), k)\nx = 1", "x = 1"),
        (
            "for k in range(3):\n    y = k\n    glue(\n        str(k),\n        k,\n    )",
            "for k in range(3):\n    y = k",
        ),
        ("x = 'glue'", "x = 'glue'"),
        ("# about glue\nx = 1", "# about glue\nx = 1"),
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


@pytest.mark.parametrize(
    ("node", "written"),
    [
        (nodes.paragraph("", "1. not a list"), "1\\. not a list"),
        (nodes.paragraph("", "# no heading"), "\\# no heading"),
        (nodes.paragraph("", "- no item"), "\\- no item"),
        (nodes.paragraph("", "3.5 kB"), "3.5 kB"),
        (nodes.literal("", "a `b`"), "`` a `b` ``"),
    ],
)
def test_words_stay_words(node, written):
    """What would begin a list, a heading or code in Markdown does not."""
    assert blocks(node, lambda _: None) == [written]


def test_the_settings_are_those_of_the_pages():
    """Read from the profile of their kernels: the same numbers of columns and the same tracebacks."""
    profile = (ROOT / "docs" / "_extensions" / "run" / "ipython_kernel_config.py").read_text(
        "utf-8"
    )
    cell = settings()
    for line in re.findall(r'^    "(.*)",$', profile, re.MULTILINE):
        assert line in cell
    assert 'set_mode(mode="Minimal")' in cell
    assert "KINETO_LOG_LEVEL" in cell


def test_copying_takes_neither_prompts_nor_outputs(browser, address):
    """A doctest of the reference is copied as what one types; an output has no button."""
    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": address}
    browser.execute_cdp_cmd("Browser.grantPermissions", allowed)
    look(browser, address, "reference/forms", 1300, "light")
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
    look(browser, address, "tutorials/lookup-is-matmul", 1300, "light")
    assert browser.find_elements("css selector", ".cell_input button.copybtn")
    assert not browser.find_elements("css selector", ".cell_output button.copybtn")


def test_the_menu_opens_and_closes_by_keyboard_and_fits_a_phone(browser, address):
    """A native popover with a name, within the window, that Esc closes."""
    look(browser, address, "tutorials/lookup-is-matmul", 320, "dark")
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
