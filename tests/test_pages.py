"""The built site: the seeds' tensors, the pictures, the links and what must not be in it."""

import importlib
import re
from urllib.parse import unquote, urlsplit

import pytest
import torch
from conftest import ROOT

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


EXPECTED_ERRORS = {
    "corrections": [
        "AssertionError: not bitwise equal: 20 of 20 elements differ.",
        "RuntimeError: Boolean value of Tensor with more than one value is ambiguous",
    ],
    "symptoms": [
        "IndexError: index out of range in self",
        "RuntimeError: Class values must be smaller than num_classes.",
        "RuntimeError: Class values must be non-negative.",
        "RuntimeError: one_hot is only applicable to index tensor of type LongTensor.",
        "RuntimeError: Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int;",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "RuntimeError: expected m1 and m2 to have the same dtype, but got: long int != float",
        "IndexError: ids[0, 1] is 9, but a table of 4 rows takes 0 <= id <= 3;",
        "RuntimeError: only Tensors of floating point dtype can require gradients",
        "RuntimeError: Adam does not support sparse gradients, please consider SparseAdam instead",
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
        "RuntimeError: SparseAdam does not support dense gradients, please consider Adam instead",
        "has been modified by an inplace operation",
        "RuntimeError: Boolean value of Tensor with more than one value is ambiguous",
        "NotImplementedError: embedding_bag: per_sample_weights was not None.",
        "RuntimeError: Expected tensor for argument #1 'weight' to have the same type as tensor",
        "AttributeError: 'csr_array' object has no attribute 'getrow'",
        "TypeError: linear(): argument 'input' (position 1) must be Tensor, not csr_array",
    ],
    "tutorials/categories-in-tables": [
        "IndexError: ids[0] is -1, but a table of 2 rows takes 0 <= id <= 1;",
    ],
    "tutorials/csr-is-an-embedding-bag": [
        "NotImplementedError: embedding_bag: per_sample_weights was not None.",
        "are sorted and distinct along the last dimension values` is not satisfied.",
        "ValueError: row 0 has id 3 before 1, expected ascending and distinct ids;",
        "ValueError: row 1 ends at offsets[2] = 2, expected 5, the number of entries;",
        "IndexError: row 2 names column 1000000, but a table of 4 rows takes 0 <= column <= 3;",
        "ValueError: row 1 begins at 3 and ends at 2, expected offsets that never fall;",
    ],
    "tutorials/gradient-of-the-choice": [
        "RuntimeError: only Tensors of floating point dtype can require gradients",
    ],
    "tutorials/how-we-measure": [
        "AssertionError: the contender 'the row below' is not to be timed: not within 0:",
        "ValueError: anonymous.json: data.provenance must contain",
    ],
    "tutorials/two-layers-one-table": ["AssertionError: not within 0.001:"],
    TUTORIAL: [
        "RuntimeError: expected m1 and m2 to have the same dtype",
        "IndexError: index out of range in self",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
    ],
    "appendix/floating-point-proof": [
        "AssertionError: not bitwise equal: 1 of 4 elements differ. First at [0, 0]: 0.0, expected -0.0.",
    ],
    "appendix/cost-of-the-check": [
        "IndexError: ids[1, 0] is 4, but a table of 4 rows takes 0 <= id <= 3;",
        "IndexError: ids[1, 0] is -1, but a table of 4 rows takes 0 <= id <= 3;",
    ],
    "tutorials/where-equality-stops": [
        "First at [0, 0]: nan, expected",
        "First at [0, 0]: -0.0, expected 0.0.",
        "AssertionError: not within 0:",
        "IndexError: index out of range in self",
        "RuntimeError: Class values must be smaller than num_classes.",
        "IndexError: ids[0] is 4, but a table of 4 rows takes 0 <= id <= 3; 2 of the 2 ids are outside.",
        "RuntimeError: one_hot is only applicable to index tensor of type LongTensor.",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)",
        "TypeError: vocab_size is tensor(4) of type Tensor, expected an int.",
    ],
    "tutorials/backward-is-scatter-add": [
        "RuntimeError: Adam does not support sparse gradients, please consider SparseAdam instead",
        "RuntimeError: SparseAdam does not support dense gradients, please consider Adam instead",
    ],
}


@pytest.mark.parametrize("name", EXPECTED_ERRORS)
def test_expected_errors_are_shown_by_their_message_alone(pages, name):
    """What a page breaks on purpose fails in the words expected, without a traceback through files."""
    errors = "\n".join(outputs(pages[name]))
    for message in EXPECTED_ERRORS[name]:
        assert message in errors
    assert "Traceback" not in errors


def test_numbers_in_the_prose_come_from_cells(pages):
    """Each glued number is filled in."""
    text = pages[TUTORIAL].get_text(" ", strip=True)
    assert re.search(r"5 columns, 60 multiplications\s?\.\sIn 45 of them", text)
    assert "There the share is 99.9980%" in text
    assert "takes 201,028 bytes where its id takes 8" in text
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
    assert all(0 < time < 60 for time in times.values())
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
    links = {link["href"] for link in pages["reference"].select("dt a[href]")}
    base = "https://docs.pytorch.org/docs/stable/"
    assert f"{base}tensors.html#torch.Tensor" in links
    assert f"{base}generated/torch.nn.Linear.html#torch.nn.Linear" in links
    assert "https://docs.python.org/3/library/functions.html#bool" in links
    prose = {link["href"] for link in pages[TUTORIAL].select("a[href]")}
    assert "https://numpy.org/doc/stable/reference/generated/numpy.take.html#numpy.take" in prose
    assert any(url.endswith("scipy.sparse.csr_array.html#scipy.sparse.csr_array") for url in prose)


def test_nothing_is_loaded_from_elsewhere(pages):
    """Scripts, styles, fonts and pictures come with the site, MathJax too."""
    for name, page in pages.items():
        for node in page.select("script[src], link[href], img[src], iframe[src]"):
            source = node.get("src") or node["href"]
            assert not urlsplit(source).netloc, f"{name} loads {source}"
    math = [s["src"] for s in pages[TUTORIAL].select("script[src]") if "mathjax" in s["src"]]
    assert len(math) == 1


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
        path = name.split(".") if "." in name or project != "python" else ["builtins", name]
        found = importlib.import_module(path[0])
        for part in path[1:]:
            if not hasattr(found, part):
                importlib.import_module(f"{found.__name__}.{part}")
            found = getattr(found, part)
