"""The built site: the seeds' tensors, the pictures, the links and what must not be in it."""

import builtins
import importlib
import re
import sys
from urllib.parse import unquote, urlsplit

import pytest
import torch
from myst_nb.core.read import read_myst_markdown_notebook
from served import ROOT

sys.path.append(str(ROOT / "docs" / "_extensions"))
from claims.cells import kinds_of

TUTORIAL = "tutorials/lookup-is-matmul"
SECOND = "tutorials/another-seed"
WEIGHT_123 = [
    [0.3374, -0.1778, -0.3035, -0.5880, 1.5810],
    [1.3010, 1.2753, -0.2010, -0.1606, -0.4015],
    [0.6957, -1.8061, -1.1589, 0.3255, -0.6315],
    [-2.8400, -0.7849, -1.4096, -0.4076, 0.7953],
]
LINEAR_123 = [
    [-0.2039, 0.0166, -0.2483, 0.1886],
    [-0.4260, 0.3665, -0.3634, -0.3975],
    [-0.3159, 0.2264, -0.1847, 0.1871],
    [-0.4244, -0.3034, -0.1836, -0.0983],
    [-0.3814, 0.3274, -0.1179, 0.1605],
]
WEIGHT_0 = [
    [-1.1258, -1.1524, -0.2506, -0.4339, 0.5988],
    [-1.5551, -0.3414, 1.8530, 0.4681, -0.1577],
    [1.4437, 0.2660, 1.3894, 1.5863, 0.9463],
    [-0.8437, 0.9318, 1.2590, 2.0050, 0.0537],
]
LINEAR_0 = [
    [-0.0037, 0.2682, -0.4115, -0.3680],
    [-0.1926, 0.1341, -0.0099, 0.3964],
    [-0.0444, 0.1323, -0.1511, -0.0983],
    [-0.4777, -0.3311, -0.2061, 0.0185],
    [0.1977, 0.3000, -0.3390, -0.2177],
]
ONE_HOT = [[0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]]


def act(weight, linear):
    """Give what one seed has to show, in order: looked-up rows, both layers, both outputs."""
    batch = [weight[2], weight[3], weight[1]]
    transposed = [list(column) for column in zip(*weight, strict=True)]
    return weight, [weight[1]], [weight[2]], batch, linear, transposed, batch


def outputs(page):
    """Give the text of every output of the page, one string each."""
    return [pre.get_text() for pre in page.select(".cell_output .output pre")]


def numbers(text):
    """Give the numbers of a printed tensor, as they are printed."""
    return re.findall(r"-?\d+\.?\d*", text.partition("requires_grad")[0].partition("grad_fn")[0])


def printed(tensor):
    """Give the numbers as torch prints them with four decimals, integers as they are."""
    return [f"{x:.4f}" if isinstance(x, float) else str(x) for row in tensor for x in row]


def test_seed_tensors_stand_in_the_outputs_in_order(pages):
    """Each of the two pages shows every tensor of its seed digit for digit, one after the other."""
    first, second = act(WEIGHT_123, LINEAR_123), act(WEIGHT_0, LINEAR_0)
    for name, tensors in {TUTORIAL: [*first[:4], ONE_HOT, *first[4:]], SECOND: second}.items():
        shown = iter([numbers(text) for text in outputs(pages[name])])
        for tensor in tensors:
            assert printed(tensor) in shown, f"{name}: not shown, or not in this place: {tensor}"


def test_the_pictures_are_drawn_with_their_words(pages):
    """Lookups and products of each id, with a caption, a name and a label that tells the story."""
    drawn = {
        TUTORIAL: (
            WEIGHT_123,
            {"fig-lookup-1": 1, "fig-lookup-batch": 3, "fig-product-first": 2},
            ["fig-equality", "fig-learned"],
        ),
        SECOND: (WEIGHT_0, {"fig-lookup-2": 2, "fig-product-second": 3}, ["fig-equality-seed-0"]),
    }
    for name, (weight, rows, others) in drawn.items():
        figures = {figure["id"]: figure for figure in pages[name].select("figure:has(svg.drawing)")}
        assert set(figures) == {*rows, *others}
        assert all(figure.figcaption.get_text(strip=True) for figure in figures.values())
        for figure, k in rows.items():
            row = "({})".format(", ".join(f"{x:.4f}" for x in weight[k]))
            assert row in figures[figure].svg["aria-label"]


def code_cells(name):
    """Give tags, metadata and code of each cell in a page's source."""
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    cells = read_myst_markdown_notebook(text).cells if "file_format: mystnb" in text else []
    found = [(c.metadata.get("tags", []), c.metadata, c.source) for c in cells]
    return [cell for cell, c in zip(found, cells, strict=True) if c.cell_type == "code"]


def test_expected_errors_are_shown_by_their_message_alone(pages):
    """What a page breaks on purpose fails in the words expected, without a traceback through files."""
    expectations = 0
    for name, page in pages.items():
        errors = "\n".join(outputs(page))
        assert "Traceback" not in errors, name
        for tags, metadata, _ in code_cells(name):
            if "raises-exception" in tags and "remove-output" not in tags:
                assert metadata["expect"].partition("…")[0] in errors, name
                expectations += 1
    assert expectations > 60


TUTORIALS = sorted(path.stem for path in (ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_reader_meets_the_story_before_the_proof(pages, name):
    """A picture comes before the second section, and few open cells hold an assertion."""
    page = pages[f"tutorials/{name}"]
    places = page.select("article svg.drawing, article h2")
    first = next(i for i, place in enumerate(places) if place.name == "svg")
    assert first <= 1, "no picture above the first heading or right below it"
    shown = [
        c.get_text() for c in page.select("article .cell_input") if not c.find_parent("details")
    ]
    proving = [code for code in shown if "assert" in code]
    assert len(proving) <= len(shown) / 3, proving


def test_every_check_is_listed_and_counted(pages):
    """The list holds as many checks as the sources, and every page says so at its foot."""
    counted = 0
    for name in pages:
        for tags, _, source in code_cells(name):
            counted += 1 if "raises-exception" in tags else len(kinds_of(source))
    assert counted >= 483
    listed = pages["checked"].select("article tbody tr")
    assert [cell.get_text(strip=True) for cell in listed[0].select("td")][1] == f"{counted:,}"
    for name, page in pages.items():
        assert f"{counted:,} checks passed in this build" in page.get_text(), name
    lists = [page for name, page in pages.items() if name.startswith("checked/")]
    sums = [fold.summary.get_text() for page in lists for fold in page.select("details.ledger")]
    found = [re.match(r"([\d,]+) check", text) for text in sums]
    assert sum(int(each[1].replace(",", "")) for each in found if each) == counted
    assert f"{counted:,}" in pages["index"].select_one("article").get_text()


def test_a_check_is_one_quiet_line_with_a_name(pages):
    """It needs no script: a native element, closed, whose summary says what is checked."""
    folds = [fold for page in pages.values() for fold in page.select("details.fold.check")]
    assert len(folds) > 200
    for fold in folds:
        assert not fold.has_attr("open")
        words = fold.summary.get_text(" ", strip=True).removeprefix("✓").strip()
        assert re.fullmatch(r"((equal [a-z ]+|holds|raises \w+)(, )?)+", words), words
        assert fold.select_one(".cell_input")


def test_cited_sentences_are_marked_and_counted_apart(pages):
    """Each shows its mark, names a source, and stands in the list."""
    cited = [(n, mark) for n, page in pages.items() for mark in page.select("article .cited")]
    for name, sentence in cited:
        assert sentence.select_one(".cited-mark"), name
    rows = {
        cells[0]: cells[1]
        for row in pages["checked"].select("tr")
        if len(cells := [cell.get_text(strip=True) for cell in row.select("td")]) == 2
    }
    assert rows["sentences that only cite a source"] == f"{len(cited):,}"


def test_numbers_in_the_prose_come_from_cells(pages):
    """Each glued number is filled in: none of MyST-NB's places is left empty."""
    for name, page in pages.items():
        for place in page.select("article .pasted-inline, article .glue"):
            assert place.get_text(strip=True), name
    text = pages[TUTORIAL].get_text(" ", strip=True)
    assert re.search(r"5 columns, 60 multiplications\s?\.\sIn 45 of them", text)
    assert "There the share is 99.9980%" in text
    costs = pages["appendix/cost-of-the-check"].get_text(" ", strip=True)
    assert re.search(r"took \d+ µs with the check and \d+ µs without it: \d+\.\d\d times", costs)


def test_build_page_lists_every_executed_page_and_the_versions(pages):
    """Each page that has code stands in the table with its time, beside the torch that ran it."""
    executed = {name for name, page in pages.items() if page.select("div.cell")}
    rows = [
        [cell.get_text(strip=True) for cell in row.select("td")]
        for row in pages["build"].select("tr")
    ]
    times = {row[0]: float(row[3]) for row in rows if len(row) == 5}
    assert set(times) == executed >= {"index", "build", TUTORIAL}
    assert all(time > 0 for time in times.values())
    assert ["torch", torch.__version__] in rows


def test_every_link_inside_the_site_leads_somewhere(pages, site):
    """Files exist, and so do the places inside them."""
    followed = 0
    for name, page in pages.items():
        for link in page.select("a[href]"):
            target = urlsplit(link["href"])
            if target.scheme or not (target.path or target.fragment):
                continue
            file = (
                ((site / f"{name}.html").parent / unquote(target.path))
                if target.path
                else site / f"{name}.html"
            )
            assert file.exists(), f"{name}: {link['href']}"
            followed += 1
            if target.fragment:
                assert f'id="{unquote(target.fragment)}"' in file.read_text("utf-8"), (
                    f"{name}: {link['href']}"
                )
    assert followed > 50


def test_names_lead_to_the_documentation_of_their_libraries(pages):
    """Types in signatures and names in prose are links, though no network was used."""
    reference = [page for name, page in pages.items() if name.startswith("reference/")]
    links = {link["href"] for page in reference for link in page.select("dt a[href]")}
    base = "https://docs.pytorch.org/docs/stable/"
    assert f"{base}tensors.html#torch.Tensor" in links
    assert f"{base}generated/torch.nn.Linear.html#torch.nn.Linear" in links
    assert "https://docs.python.org/3/library/functions.html#bool" in links
    numpy = "https://numpy.org/doc/stable/reference/generated/numpy.take.html#numpy.take"
    proof = {link["href"] for link in pages["appendix/floating-point-proof"].select("a[href]")}
    assert numpy in proof
    prose = {link["href"] for link in pages[TUTORIAL].select("a[href]")}
    assert any(url.endswith("scipy.sparse.csr_array.html#scipy.sparse.csr_array") for url in prose)


def test_nothing_is_loaded_from_elsewhere(pages):
    """Scripts, styles, fonts and pictures come with the site; a canonical link loads nothing."""
    for name, page in pages.items():
        for node in page.select("script[src], link[href]:not([rel=canonical]), [src]"):
            source = node.get("src") or node["href"]
            assert not urlsplit(source).netloc, f"{name} loads {source}"


def test_no_page_names_a_folder_of_the_machine(pages):
    """Outputs and error texts hold no path of where they were made."""
    for name, page in pages.items():
        text = str(page)
        assert str(ROOT) not in text, name
        assert "site-packages" not in text, name


def test_pages_have_a_description_and_a_language(pages):
    """What search engines and screen readers ask for."""
    for page in pages.values():
        assert page.html["lang"] == "en"
        assert len(page.select("article h1")) == 1
    described = [name for name, page in pages.items() if page.select('meta[name="description"]')]
    assert {"index", "build", TUTORIAL} <= set(described)


@pytest.mark.parametrize("project", ["torch", "numpy", "scipy", "python"])
def test_inventories_name_things_that_exist(project):
    """Every name in a plain-text inventory can be imported, so that no link leads to a phantom."""
    lines = (ROOT / "docs" / "inventories" / f"{project}.txt").read_text("utf-8").splitlines()
    assert lines[0] == "# Sphinx inventory version 1"
    names = [line.split()[0] for line in lines[3:]]
    assert names
    for name in names:
        builtin = project == "python" and hasattr(builtins, name)
        path = ["builtins", name] if builtin else name.split(".")
        found = importlib.import_module(path[0])
        for part in path[1:]:
            if not hasattr(found, part):
                importlib.import_module(f"{found.__name__}.{part}")
            found = getattr(found, part)
