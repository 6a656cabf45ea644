"""The drawings of the built pages, and of what no page shows: refused numbers, names with markup."""

import re
import zipfile
from html import unescape

import numpy as np
import pytest
import torch
from _figures import (
    conditions_in_full,
    lookup_is_matmul,
    swap_layers,
    text_both_ways,
    where_equality_stops,
)
from _figures.table_of_a_language_model import draw_points
from _figures.which_should_i_use import draw_questions
from drawings import (
    assert_valid,
    attributes,
    bold_texts,
    elements,
    markers,
    near,
    text_lines,
    text_of,
    texts,
    values_at,
)
from served import DOCS, SOURCES
from torch import nn

from lookup_matmul import OneHotLinear, to_linear
from lookup_matmul.figures import Drawing, draw_lookup

SVG = re.compile(r'<svg [^>]*class="drawing".*?</svg>', re.DOTALL)
LABEL = re.compile(r'aria-label="([^"]*)"')
POINTS = torch.tensor([[1.0, 0.0], [3.0, 1.0], [-1.0, 2.0], [0.0, -3.0]])


@pytest.fixture(scope="module")
def drawings(site):
    """Return the drawings of all pages in English, with the names of their pages."""
    pages = {name: (site / f"{name}.html").read_text("utf-8") for name in SOURCES}
    return [(name, svg) for name, html in pages.items() for svg in SVG.findall(html)]


def test_every_drawing_of_the_site_is_valid(drawings):
    """Each fits a phone, and no text leaves its box or covers another."""
    faults = []
    for page, svg in drawings:
        try:
            assert_valid(Drawing(svg, unescape(LABEL.search(svg)[1])))
        except AssertionError as error:
            faults.append(f"{page}: {error}")
    assert not faults, "\n".join(faults)
    assert len(drawings) > 50


def test_a_module_of_drawings_has_the_name_of_its_page_and_is_not_in_the_wheel(site):
    """Readers of a notebook have its pictures instead."""
    modules = {path.stem for path in (DOCS / "_figures").glob("*.py")} - {"__init__"}
    assert modules <= {name.rpartition("/")[2].replace("-", "_") for name in SOURCES}
    (wheel,) = site.glob("*.whl")
    files = zipfile.ZipFile(wheel).namelist()
    assert [file for file in files if modules & {*re.split(r"[/.]", file)}] == []


def test_reach_of_numbers_that_are_not_finite():
    """A NaN and an infinity of row 0 are in the columns of the product, and not in the lookup."""
    torch.manual_seed(123)
    weight = torch.randn(4, 5)
    weight[0, 0], weight[0, 1] = float("nan"), -float("inf")
    drawing = where_equality_stops.draw_nan_reach(torch.tensor([2, 3, 1]), weight)
    assert_valid(drawing)
    assert "The product for id 1 has NaN in column 0 and NaN in column 1." in drawing.alt
    assert "The lookup for id 2 is finite." in drawing.alt
    finite = [f"{value:.2f}" for value in weight[3, 2:].tolist()]
    assert ["id 3", "NaN", "NaN", *finite] in text_lines(drawing.svg)
    bold = [text for text in bold_texts(drawing.svg) if not text.startswith(("id ", "row "))]
    assert sorted(bold) == ["-Inf", *["NaN"] * 7]


def test_names_with_markup_are_text():
    """Those of classes and of points; the script gets the data of the votes all the same."""
    names, idf = ["R&D", "<b>", "c", "d"], torch.ones(3)
    table = torch.tensor([[2.0, -1.0], [-1.0, 0.0], [0.25, 3.0]])
    vocabulary = {"axis": 0, "dim": 1, "tensor": 2}
    votes = text_both_ways.draw_message_votes("a dim", vocabulary, idf, table, names[:2])
    training = lookup_is_matmul.draw_training({0: POINTS, 10: POINTS}, names, [0, 1, 2, 0])
    for drawing in (votes, training):
        assert_valid(drawing)
        assert {"R&D", "<b>"} <= {*texts(drawing.svg)}
    (root,) = elements(votes.svg, "svg")
    assert root.attrib["data-votes"].startswith("a dim|R&D,<b>|axis ")


def test_a_drawing_that_would_be_false_raises():
    """Outputs that differ, and bits that a format lacks."""
    embedding = nn.Embedding.from_pretrained(torch.zeros(12, 4))
    layer = OneHotLinear(to_linear(nn.Embedding(12, 4), share=False))
    with pytest.raises(AssertionError, match="not bitwise equal"):
        swap_layers.draw_swap(torch.tensor([2, 3, 1]), embedding, layer)
    with pytest.raises(ValueError, match="expected none set after the first 10"):
        conditions_in_full.draw_bits({"a": (torch.tensor(0.1), 10)})


def test_bits_are_those_in_memory():
    """A dashed cell replaces each bit that a format lacks."""
    number = torch.tensor(-2.83999395)
    cut = (number.view(torch.int32) & ~0x1FFF).view(torch.float32)
    formats = {"float32": (number, 23), "TF32": (cut, 10), "bfloat16": (number.bfloat16(), 7)}
    svg = conditions_in_full.draw_bits(formats).svg
    stored = [(number, 32), (cut, 19), (number.bfloat16(), 16)]
    expected = [f"{x.float().view(torch.int32).item() & 0xFFFFFFFF:032b}"[:n] for x, n in stored]
    assert [text for text in texts(svg) if text in "01"] == [*"".join(expected)]
    assert svg.count("stroke-dasharray: 1 2") == 13 + 16


def test_names_of_moving_points_cover_neither_names_nor_points():
    """Each is beside its point, in the drawing, and stays on its side until another is better."""
    points = np.array([[(100, 100), (126, 100)], [(10, 100), (320, 100)], [(200, 9), (250, 9)]])
    names = lookup_is_matmul.place_names(points.astype(float), ["horse", "cow"])
    assert np.abs(names - points).max() <= 25
    assert ((names > 0) & (names < 330)).all()
    for frame, (first, second) in zip(points, names, strict=True):
        assert (np.abs(first - second) >= (26, 12)).any()
        for name, other, half in ((first, frame[1], 16), (second, frame[0], 10)):
            assert (np.abs(name - other) >= (half, 6)).any()
    frames = [[(100.0, 100.0), (126.0, 100.0)], [(100.0, 100.0), (250.0, 100.0)]]
    before, after = lookup_is_matmul.place_names(np.array(frames), ["horse", "cow"])[:, 0].tolist()
    assert before == after != [123, 100]  # where no other point is beside it


@pytest.mark.parametrize("page", ["index", "tutorials/lookup-is-matmul"])
def test_each_noun_is_nearest_to_its_own_point(drawings, page):
    """At the first and the last step, where the figure rests; no name covers another there."""
    (svg,) = (svg for name, svg in drawings if name == page and "data-steps" in svg)
    nodes, paths = elements(svg, "text"), elements(svg, "path")
    assert len(nodes) == len(paths) == 12
    frames = [
        [np.array(row.split(), dtype=float) for row in node.get("data-frames").split(";")[1:]]
        for node in (*nodes, *paths)
    ]
    halves = np.array([(3 * len(text_of(node)), 5.0) for node in nodes])
    faults = []
    for step in (0, -1):
        places = np.array(frames)[:, step]
        names, points = places[:12] - (0, 4), places[12:]  # from the line to the middle
        away = np.maximum(np.abs(names[:, None] - points) - halves[:, None], 0)  # from the edge
        nearest = np.linalg.norm(away, axis=2).argmin(axis=1)
        faults += [(step, text_of(nodes[k])) for k in range(12) if nearest[k] != k]
        covered = (np.abs(names[:, None] - names) < halves + halves[:, None]).all(axis=2)
        faults += [(step, "covered")] * (covered.sum() - 12)
    assert not faults


def test_points_move_from_their_first_to_their_last_place():
    """A unit has one length in both directions, and y points upward."""
    names = ["cat", "tea", "Rome", "dog"]
    frames = {0: POINTS, 10: 2 * POINTS}
    svg = lookup_is_matmul.draw_training(frames, names, [0, 1, 2, 0]).svg
    ends = [attributes(line, "x1", "y1", "x2", "y2") for line in elements(svg, "line")]
    places, rows = np.reshape(ends, (4, 2, 2)), np.stack([POINTS, 2 * POINTS], axis=1) * (1, -1)
    unit = np.ptp(places) / np.ptp(rows)
    assert places - places[0, 0] == pytest.approx((rows - rows[0, 0]) * unit, abs=0.2)
    moves = [re.findall(r"[\d.]+", path.get("transform")) for path in elements(svg, "path")]
    assert np.array(moves, dtype=float) == pytest.approx(places[:, 1])


def test_a_row_is_its_name_at_its_numbers_or_a_marker():
    """A unit has one length; the label of a group is above or below, farther from the middle."""
    rows = torch.tensor([[0.0, 0.0], [0.1, 0.0], [0.05, 0.01], [9.0, 9.0]])
    labels = ["vowels", "none", "digits"]
    drawing = draw_points(rows, ["a", "e", "", "7"], [0, 0, 1, 2], labels, alt="an alt text")
    assert_valid(drawing)
    svg = drawing.svg
    at = {text_of(node): np.array(attributes(node, "x", "y")) for node in elements(svg, "text")}
    ((x, y),) = markers(svg)
    points = np.array([at["a"], at["e"], at["7"]]) - (0, 2.85)  # from the line to the middle
    width, height = np.ptp(points, axis=0)
    assert 135 < width == near(height)  # more than half of the axes
    assert values_at([*points[:, 0], x], svg, 0) == near([0, 0.1, 9, 0.05])
    assert values_at([*points[:, 1], y], svg, 1) == near([0, 0, 9, 0.01])
    assert at["digits"][1] < at["7"][1] < y < at["a"][1] < at["vowels"][1]


def test_a_question_is_a_link_with_its_lines_and_their_area_and_its_drawing_is_no_image():
    """The texts in it name it; a drawing without links is one image."""
    question = ("Does it\nstill train?", "no", "quantize", "yes", "use-dtype")
    drawing = draw_questions({"Memory": ([question], "keep it", "use-keep")})
    assert_valid(drawing)
    links = elements(drawing.svg, "a")
    assert [link.get("href") for link in links] == ["#use-dtype", "#use-dtype", "#use-keep"]
    assert ["".join(part.itertext()) for part in links[0]] == ["", "1. Does it", "still train?"]
    assert 'role="group"' in drawing.svg
    assert 'role="img"' in draw_lookup(torch.tensor([1]), POINTS).svg
