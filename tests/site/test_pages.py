"""The built site: figures, checks, links, and names that it links to."""

import json
import re
import zipfile
from pydoc import locate
from urllib.parse import unquote, urlsplit

import pytest
import torch
from _extensions.claims.checks import find_kinds
from _extensions.page_record import read_page
from scratch import Copy
from served import DOCS, ROOT, SOURCES, soup

TUTORIAL = "tutorials/lookup-is-matmul"
NOTEBOOKS = "appendix/notebooks"


def table_rows(page):
    """Return the texts of each row of the tables of a page."""
    rows = page.select("tr")
    return [[cell.get_text(strip=True) for cell in row.select("td")] for row in rows]


def test_the_figures_of_the_notebooks_have_the_row_that_they_select(pages):
    """The page itself compares the tensors that it prints with those of the notebooks."""
    torch.manual_seed(123)
    table = torch.nn.Embedding(4, 5).weight.tolist()
    figures = pages[NOTEBOOKS].select("figure:has(svg.drawing)")
    for figure, k in zip(figures, (1, 2, 3, 2, 3), strict=True):
        assert figure.figcaption.get_text(strip=True)
        row = ", ".join(f"{number:.4f}" for number in table[k])
        assert f"({row})" in figure.svg["aria-label"]


def code_cells(name):
    """Return the code cells of a page's source."""
    cells = read_page(SOURCES[name], name).cells
    return [cell for cell in cells if cell.cell_type == "code"]


def test_an_expected_error_is_shown_by_its_message_alone(pages):
    """Neither its traceback nor any page names a file of this machine."""
    expectations = 0
    for name, page in pages.items():
        assert not re.search(rf"{ROOT}|site-packages", str(page)), name
        errors = "\n".join(pre.get_text() for pre in page.select(".cell_output .output pre"))
        assert "Traceback" not in errors, name
        for cell in code_cells(name):
            tags = cell.metadata.get("tags", [])
            if "raises-exception" in tags and "remove-output" not in tags:
                assert cell.metadata["expect"].partition("…")[0] in errors, name
                expectations += 1
    assert expectations > 60


TUTORIALS = sorted(path.stem for path in (DOCS / "tutorials").glob("*.md"))


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_begins_with_a_figure_and_folds_its_checks(pages, name):
    """A figure or a table precedes the second section; few open cells have an assertion."""
    page = pages[f"tutorials/{name}"]
    places = page.select("article svg.drawing, article table.table, article h2")
    first = next(i for i, place in enumerate(places) if place.name != "h2")
    assert first <= 1, "no figure above the first heading or right below it"
    open_cells = [
        c.get_text() for c in page.select("article .cell_input") if not c.find_parent("details")
    ]
    assertions = [code for code in open_cells if "assert" in code]
    assert len(assertions) <= len(open_cells) / 3, assertions


def test_every_check_is_counted(pages):
    """The table has the number of checks in the sources."""
    count = 0
    for name in pages:
        for cell in code_cells(name):
            raises = "raises-exception" in cell.metadata.get("tags", [])
            count += 1 if raises else len(find_kinds(cell.source))
    assert count >= 483
    rows = pages["checked"].select("article tbody tr")
    assert [cell.get_text(strip=True) for cell in rows[0].select("td")][1] == f"{count:,}"


def test_a_check_is_a_closed_fold_with_a_name(pages):
    """The summary names the kinds of its checks."""
    folds = [fold for page in pages.values() for fold in page.select("details.fold.check")]
    assert len(folds) > 200
    for fold in folds:
        assert not fold.has_attr("open")
        words = fold.summary.get_text(" ", strip=True).removeprefix("✓ checked by code: ").strip()
        kinds = r"equal [a-z ]+|the text above holds|raises \w+|compared with a recording"
        assert re.fullmatch(f"(({kinds})(, )?)+", words), words
        assert fold.select_one(".cell_input")


def test_cited_sentences_are_marked_and_counted_apart(pages):
    """Each has a mark, and the page of totals has their number."""
    cited = [(n, mark) for n, page in pages.items() for mark in page.select("article .cited")]
    for name, sentence in cited:
        assert sentence.select_one(".cited-mark"), name
    assert ["sentences that only cite a source", f"{len(cited):,}"] in table_rows(pages["checked"])


def test_build_page_lists_every_executed_page_and_the_versions(pages):
    """The table has the time of each page with code, and the version of torch that ran it."""
    executed = {name for name, page in pages.items() if page.select("div.cell")}
    rows = table_rows(pages["build"])
    times = {row[0]: float(row[3]) for row in rows if len(row) == 5}
    assert set(times) == executed >= {"index", "build", TUTORIAL}
    assert all(time > 0 for time in times.values())
    assert ["torch", torch.__version__] in rows


def test_a_table_has_the_name_of_its_section_and_a_heading_does_not_break_one_hot(pages):
    """A screen reader lists tables by name; a word joiner keeps *one-hot* on one line."""
    tables = 0
    for page in pages.values():
        assert "one-hot" not in "".join(h.get_text() for h in page.select("article h2"))
        for frame in page.select("[aria-label^='Table: ']"):
            title = frame.find_parent("section").select_one("h1, h2, h3").get_text()
            name = title.replace("\u2060", "").removesuffix("#")
            assert frame["aria-label"] == f"Table: {name}"
            tables += 1
    assert tables > 20


def test_every_link_inside_the_site_resolves(site, built):
    """Its file and its element exist; in Chinese, a link to an English page has the language."""
    parsed = built | {path: soup(path) for path in (site / "zh").rglob("*.html")}
    parsed = {path.resolve(): page for path, page in parsed.items()}
    anchors = {path: {node["id"] for node in page.select("[id]")} for path, page in parsed.items()}
    chinese, followed = (site / "zh").resolve(), 0
    for path, page in parsed.items():
        for link in page.select("[href], [src]"):
            url = urlsplit(link.get("href", link.get("src")))
            if url.scheme or url.netloc or link.name in ("base", "form"):
                continue
            target = (path.parent / unquote(url.path)).resolve() if url.path else path
            assert target.exists(), (path, url)
            if target not in anchors:
                continue
            followed += 1
            assert not url.fragment or unquote(url.fragment) in anchors[target], (path, url)
            if chinese in path.parents:
                is_english = chinese not in target.parents
                assert (link.get("hreflang") == "en") == is_english, (path, link)
    assert followed > 1000


def test_names_link_to_the_documentation_of_their_libraries(pages):
    """Types in signatures and names in prose do so without a network."""
    reference = [page for name, page in pages.items() if name.startswith("reference/")]
    links = {link["href"] for page in reference for link in page.select("dt a[href]")}
    assert "https://docs.pytorch.org/docs/stable/tensors.html#torch.Tensor" in links
    assert "https://docs.python.org/3/library/functions.html#bool" in links
    prose = {link["href"] for link in pages[TUTORIAL].select("a[href]")}
    assert any(url.endswith("torch.nn.Linear.html#torch.nn.Linear") for url in prose)


@pytest.mark.parametrize("project", ["torch", "numpy", "scipy", "python"])
def test_names_in_inventories_exist(project):
    """Each can be imported."""
    lines = (DOCS / "inventories" / f"{project}.txt").read_text("utf-8").splitlines()
    assert lines[0] == "# Sphinx inventory version 1"
    names = [line.split()[0] for line in lines[3:]]
    assert [name for name in names if locate(name) is None] == []
    assert names


def test_getting_started_names_the_wheel_and_the_menu_of_downloads(pages, site):
    """The wheel exists, and the menu offers the notebook."""
    page = pages["getting-started"]
    (command,) = page.select(".highlight-sh pre")
    wheel = command.get_text().removeprefix("python -m pip install ").strip()
    assert zipfile.is_zipfile(site / wheel)
    text = SOURCES["getting-started"].read_text("utf-8")
    (name,) = re.findall(r"press \*(\w+)\* at its top", text, re.M)
    assert page.select_one("button.take-away").get_text(strip=True) == name
    links = page.select("#take-away a")
    assert "Notebook" in {link.get_text() for link in links}


def test_a_further_recording_needs_no_other_change(tmp_path):
    """A page shows machines that its text does not name, whatever their times are."""
    copy = Copy(tmp_path)
    folder = copy.root / "src" / "lookup_matmul" / "recorded"
    recording = json.loads((folder / "nvidia-h200.json").read_text("utf-8"))
    recording["provenance"] |= {"device": "Another GPU", "driver": "1.0", "torch": "2.99.0"}
    for number, case in enumerate(recording["cases"]):
        times = case.get("graph", case)
        times |= {name: times[name] * (1 + number % 5) for name in ("low_s", "median_s", "high_s")}
    (folder / "another-gpu.json").write_text(json.dumps(recording), "utf-8")
    code = "\n".join(cell.source for cell in code_cells("tutorials/is-the-product-ever-faster"))
    code = code.replace(
        "rounds=9, block_s=0.005", "rounds=2, block_s=1e-6"
    )  # what is new is recorded
    (copy.root / "src" / "page.py").write_text(f"{code}\nprint(*recordings)", "utf-8")
    result = copy.run("page")
    assert result.returncode == 0, result.stderr
    assert "another-gpu" in result.stdout.split()


def test_sources_name_a_version_and_titles_keep_the_case_of_names(built, site):
    """A branch moves on; the style of the bibliography writes titles in sentence case."""
    links = {link["href"] for page in built.values() for link in page.select("a[href*='/blob/']")}
    assert [url for url in links if not re.search(r"/blob/([0-9a-f]{40}|v[\d.]+)/", url)] == []
    text = built[site / "bibliography.html"].article.get_text(" ", strip=True)
    entries = (DOCS / "references.bib").read_text("utf-8")
    titles = re.findall(r"^ *title *= *{(.+)},$", entries, re.M)
    spellings = set(re.findall(r"\w+", " ".join(titles)))
    names = {word for word in spellings if re.search(r"\w[A-Z]", word)}
    assert {"PyTorch", "ComfyUI", "NVIDIA"} <= names
    for name in names:
        assert {*re.findall(rf"(?<![\w/.-]){name}(?![\w/.-])", text, re.I)} <= spellings
