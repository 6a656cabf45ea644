"""Drawings of single pages contain the numbers of their tensors, and so does their alt text."""

import re

import numpy as np
import pytest
import torch
from drawings import assert_valid, attributes, bold_texts, elements, text_lines, texts
from scipy import sparse
from torch import nn

from lookup_matmul import OneHotLinear, to_linear
from lookup_matmul.figures.pages import (
    categories_in_tables,
    csr_is_an_embedding_bag,
    inside_a_language_model,
    lookup_is_matmul,
    on_many_machines,
    sparse_row_is_a_sum,
    swap_layers,
    text_both_ways,
    tied_weights,
    what_a_step_moves,
    where_equality_stops,
    which_should_i_use,
    why_layers_disagree,
)

torch.manual_seed(123)
WEIGHT, IDS = torch.randn(4, 5), torch.tensor([2, 3, 1])
NOT_FINITE = WEIGHT.clone()
NOT_FINITE[0, 0], NOT_FINITE[0, 1] = float("nan"), -float("inf")
TABLE = torch.tensor([[0.1, 0.2, 0.3], [1.1, 1.2, 1.3], [2.1, 2.2, 2.3], [3.1, 3.2, 3.3]])
TABLE_OF_TWO = torch.tensor([[0.5, 1.0], [1.5, -2.0], [1.0, 1.0]])
POINTS = torch.tensor([[1.0, 0.0], [3.0, 1.0], [-1.0, 2.0], [0.0, -3.0]])
VOTES = torch.tensor([[2.0, -1.0], [-1.0, 0.0], [0.25, 3.0]])
VOCABULARY, LIBRARIES = {"axis": 0, "dim": 1, "tensor": 2}, ["NumPy", "PyTorch"]
FIRST = nn.Parameter(TABLE)
SECOND = nn.Parameter(FIRST.detach())
EMBEDDING = nn.Embedding(12, 4)
MATRIX = sparse.csr_array([[0, 2, 0, 3], [0, 0, 0, 0], [1, 4, 0, 5]])
PREDICTED, TRUE = torch.tensor([[[0.0, -1.4], [2.4, 0.0]], [[0.0, 3.0], [7.6, 0.0]]])
MOVED = torch.tensor([[True, False], [True, True]])
SIGNED_ZERO = torch.tensor([[1.0, -0.0], [2.0, 3.0]])
CHANGED = torch.tensor([[1.0, 0.0], [2.0, 3.5], [0.0, 0.0]])
ONE_HOT_LINEAR = OneHotLinear(to_linear(EMBEDDING, share=False))
QUESTIONS = {
    "Which layer?": ([("One id?", "yes", "Embedding", "no"), ("Few\nnumbers?", "yes", "bag", "no")], "Linear"),
    "Which memory?": ([("Does it\ntrain?", "no", "int8,\nor 16 bits", "yes")], "float32"),
}  # fmt: skip
TEXT = "A dim, a DIM, qwertz"
WRITTEN = {0: {"lookup": 20 * "a<b", "product": 20 * "a<b"}, 9: {"lookup": "the", "product": "tho"}}
# Name: a drawing, and a part of its alternative text.
DRAWINGS = {
    "sum of rows": (sparse_row_is_a_sum.draw_sum_of_rows(torch.tensor([1, 2]), torch.tensor([2, 3]), TABLE_OF_TWO, list(VOCABULARY), ["$", "kg"]), "Row 2 of the table is multiplied by 3: (1.0000, 1.0000). The other rows are not read. The sum is (6.0000, -1.0000)."),
    "cuts": (on_many_machines.draw_cuts(2, 4), "By columns: machine 0 holds the first 2 columns of both, machine 1 the rest."),
    "hashes": (categories_in_tables.draw_hashes({"user 1": 2, "user 2": 0, "user 3": 2}, 4), "3 keys go to 4 rows. user 1 to row 2. user 2 to row 0. user 3 to row 2. Shared: row 2 by 2 keys."),
    "reach of a NaN": (where_equality_stops.draw_nan_reach(IDS, NOT_FINITE), "The product for id 1 has NaN in column 0 and NaN in column 1. The lookup for id 2 is finite."),
    "moves": (what_a_step_moves.draw_moves(MOVED, ~MOVED, "3 of 4 cells."), "3 of 4 cells."),
    "training": (lookup_is_matmul.draw_training({0: POINTS, 10: 2 * POINTS}, ["cat", "tea", "Rome", "dog"], [0, 1, 2, 0]), "4 points with names, at the steps 0, 10 of a training."),
    "votes of a message": (text_both_ways.draw_message_votes(TEXT, VOCABULARY, torch.tensor([1.0, 2.0, 3.0]), VOTES, LIBRARIES), f'The text "{TEXT}". Votes for NumPy, PyTorch. dim (-1, 0): PyTorch. total (-1, 0): PyTorch.'),
    "votes": (text_both_ways.draw_column_votes(list(VOCABULARY), VOTES, LIBRARIES), "Votes for NumPy, PyTorch. axis (+2, -1): NumPy. dim (-1, 0): PyTorch. tensor (+0.25, +3): PyTorch."),
    "offsets": (text_both_ways.draw_offsets(["axis", "dim", "sum"], [0, 2, 2, 3]), "Texts in one row: axis, dim; ; sum. Offsets: 0, 2, 2, 3."),
    "both ends": (inside_a_language_model.draw_both_ends("byte", torch.tensor(list(b"byte")), 256), "the 256 scores become probabilities, and the loss reads one: 121 at position 0, 116 at position 1, 101 at position 2."),
    "writing": (inside_a_language_model.draw_writing(WRITTEN), "a<ba<b”. Step 9, lookup: “the”; product: “tho”."),
    "matrix": (csr_is_an_embedding_bag.draw_csr(MATRIX), "Row 1 is empty. Row 2 has the value 1 in column 0 and the value 4 in column 1 and the value 5 in column 3. The columns, 1, 3, 0, 1, 3, are CSR's indices"),
    "two memories": (tied_weights.draw_memory_order(TABLE[:2], TABLE[:2].T.contiguous()), "Memory of the Embedding: 0.1, 0.2, 0.3, 1.1, 1.2, 1.3. Memory of the Linear: 0.1, 1.1, 0.2, 1.2, 0.3, 1.3."),
    "tied": (tied_weights.draw_names({"embedding.weight": FIRST, "head.weight": FIRST}), "2 names, 1 Parameter, 1 memory. embedding.weight is Parameter 1 on memory 1. head.weight is Parameter 1 on memory 1."),
    "one memory of two": (tied_weights.draw_names({"a": FIRST, "b": SECOND, "c": nn.Parameter(TABLE.clone())}), "3 names, 3 Parameters, 2 memories. a is Parameter 1 on memory 1. b is Parameter 2 on memory 1. c is Parameter 3 on memory 2."),
    "swap": (swap_layers.draw_swap(IDS, EMBEDDING, ONE_HOT_LINEAR), "the ids 2, 3, 1 go into Embedding(12, 4), and 3 rows of 4 numbers come out. Right: they become 3 one-hot rows of 12 numbers, which go into Linear(12, 4)"),
    "differences": (why_layers_disagree.draw_differences({"Embedding": SIGNED_ZERO, "Linear": CHANGED}, labels=["id 7", "id 8", "id 9"]), "2 of 4 numbers differ. id 7: column 1 is -0.0000 in Embedding, 0.0000 in Linear. id 8: column 1 is 3.0000 in Embedding, 3.5000 in Linear. Linear has 3 rows, the other 2."),
    "more rows first": (why_layers_disagree.draw_differences({"a": CHANGED, "b": SIGNED_ZERO}), "4 of 6 numbers differ."),
    "no difference": (why_layers_disagree.draw_differences({"a": SIGNED_ZERO, "b": SIGNED_ZERO}), "0 of 4 numbers differ."),
    "replacements": (swap_layers.draw_replacements(["not", "good"], ["not", "good"], PREDICTED, TRUE, 2.9), "Predicted, 0 replacements change it by more than 2.9, most of all not at place 2: +2.4. True, 2 replacements change it by more than 2.9, most of all not at place 2: +7.6."),
    "questions": (which_should_i_use.draw_questions(QUESTIONS), "1. One id? yes: Embedding; no: question 2. 2. Few numbers? yes: bag; no: Linear. 3. Does it train? no: int8, or 16 bits; yes: float32."),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_is_valid_and_its_alt_text_contains_the_numbers(name):
    """It fits a phone and has the colors of the page."""
    drawing, alt = DRAWINGS[name]
    assert_valid(drawing)
    assert alt in drawing.alt


@pytest.mark.parametrize(
    ("name", "line", "bold"),
    [
        ("sum of rows", ["total", "6", "-1"], ["2  × dim", "1.5", "-2", "3  × tensor", "1", "1"]),
        ("reach of a NaN", ["id 3", "NaN", "NaN", *(f"{x:.2f}" for x in WEIGHT[3, 2:].tolist())], ["row 1", "row 2", "row 3", "-Inf"] + ["NaN"] * 7),
        ("votes", ["tensor", "+0.25", "+3"], ["axis", "+2", "dim", "0", "tensor", "+3"]),
        ("offsets", ["offsets", "0", "2", "2", "3"], ["axis", "dim", "sum", "0", "2", "2", "3"]),
        ("matrix", ["0", "2, 2", "5"], ["CSR: indices", "bag: input", *"13013", "CSR: data", "bag: per_sample_weights", *2 * "23145", "CSR: indptr", "bag: offsets", "0", "2, 2", "5"]),
        ("matrix", ["row 1: empty"], None),
        ("matrix", ["row 0", "0", "2", "0", "3"], None),
        ("two memories", ["0.1", "1.1", "0.2", "1.2", "0.3", "1.3"], []),
        ("both ends", ["scores", "256 scores", "256 scores", "256 scores"], [*"byt", *2 * ["98", "121", "116"], "121", "116", "101", "one table,", "256 rows", "row 98", "row 101", "row 116", "row 121", "lookup: copies 3 rows", "product: all 256 rows"]),
        ("differences", ["id 8", "2.0000", "3.5000"], ["-0.0000", "3.0000", "0.0000", "3.5000", "0.0000", "0.0000"]),
        ("no difference", ["a"], []),
        ("hashes", ["row 2", "2 keys"], ["row 2", "2 keys"]),
        ("swap", ["="], None),
        ("replacements", ["not", "2", "8"], ["predicted", "true", "3", "8"]),
        ("replacements", ["good", "-1", "3"], None),
        ("questions", ["1. One id?", "Embedding"], ["Embedding", "bag", "Linear", "int8,", "or 16 bits", "float32"]),
        ("questions", ["train?", "or 16 bits"], None),
    ],
)  # fmt: skip
def test_texts_of_a_row_are_beside_each_other_and_some_are_bold(name, line, bold):
    """Color is not the only difference of highlighted texts."""
    svg = DRAWINGS[name][0].svg
    assert line in text_lines(svg)
    bold_labels = [text for text in bold_texts(svg) if not text.startswith("id ")]
    assert bold is None or sorted(bold_labels) == sorted(bold)


def test_writing_marks_letters_that_differ_and_shows_one_step():
    """Without scripts, the last step is visible."""
    svg = DRAWINGS["writing"][0].svg
    assert [span.text for span in elements(svg, "tspan")] == ["o"]
    groups = [g for g in elements(svg, "g") if g.get("data-frames")]
    shown = [("0", "opacity;1;0"), ("1", "opacity;0;1")]
    assert [(group.get("opacity"), group.get("data-frames")) for group in groups] == shown


def test_names_of_moving_points_cover_neither_names_nor_points():
    """Each is beside its point, in the drawing, and stays on its side until another is better."""
    points = np.array([[(100, 100), (126, 100)], [(10, 100), (320, 100)], [(200, 9), (250, 9)]])
    names = lookup_is_matmul.place_names(points.astype(float))
    assert np.abs(names - points).max() <= 25
    assert ((names > 0) & (names < 330)).all()
    for frame, (first, second) in zip(points, names, strict=True):
        assert (np.abs(first - second) >= (36, 14)).any()
        for name, other in ((first, frame[1]), (second, frame[0])):
            assert (np.abs(name - other) >= (23, 12)).any()
    frames = [[(100.0, 100.0), (126.0, 100.0)], [(100.0, 100.0), (250.0, 100.0)]]
    before, after = lookup_is_matmul.place_names(np.array(frames))[:, 0].tolist()
    assert before == after != [125, 100]


def test_points_move_from_their_first_to_their_last_place():
    """A unit has one length in both directions, and y points upward."""
    svg = DRAWINGS["training"][0].svg
    ends = [attributes(line, "x1", "y1", "x2", "y2") for line in elements(svg, "line")]
    places, rows = np.reshape(ends, (4, 2, 2)), np.stack([POINTS, 2 * POINTS], axis=1) * (1, -1)
    unit = np.ptp(places) / np.ptp(rows)
    assert places - places[0, 0] == pytest.approx((rows - rows[0, 0]) * unit, abs=0.2)
    moves = [re.findall(r"[\d.]+", path.get("transform")) for path in elements(svg, "path")]
    assert np.array(moves, dtype=float) == pytest.approx(places[:, 1])


def test_a_swap_is_not_drawn_if_the_outputs_differ():
    """The drawing says that they are equal."""
    with pytest.raises(AssertionError, match="not bitwise equal"):
        swap_layers.draw_swap(IDS, nn.Embedding.from_pretrained(torch.zeros(12, 4)), ONE_HOT_LINEAR)


def test_cuts_have_the_machine_of_each_number():
    """The tables are whole, then cut by rows, then by columns."""
    zeros, ones, columns = ["0"] * 8, ["1"] * 8, ["0", "0", "1", "1"] * 2
    machines = [line for line in text_lines(DRAWINGS["cuts"][0].svg) if {*line} <= {"0", "1"}]
    assert machines == [["0"] * 4 + ["1"] * 4] * 2 + [zeros, ones] + [columns] * 2


def test_names_with_markup_are_text():
    """Those of classes and of points; the script gets the data of the votes all the same."""
    names, idf = ["R&D", "<b>", "c", "d"], torch.ones(3)
    votes = text_both_ways.draw_message_votes("a dim", VOCABULARY, idf, VOTES, names[:2])
    training = lookup_is_matmul.draw_training({0: POINTS, 10: POINTS}, names, [0, 1, 2, 0])
    for drawing in (votes, training):
        assert_valid(drawing)
        assert {"R&D", "<b>"} <= {*texts(drawing.svg)}
    (root,) = elements(votes.svg, "svg")
    assert root.attrib["data-votes"].startswith("a dim|R&D,<b>|axis ")


@pytest.mark.parametrize(("name", "shaded"), [("moves", MOVED), ("votes", VOTES > 0)])
def test_cells_are_shaded_where_rows_moved_or_words_vote(name, shaded):
    """Dots for used rows can be in cells with and without shade."""
    svg = DRAWINGS[name][0].svg
    styles = [rect.get("style") or "" for rect in elements(svg, "rect")]
    assert ["fill: var(--figure-mark" in style for style in styles] == shaded.flatten().tolist()
    assert len(elements(svg, "circle")) == int((~MOVED).sum()) * (name == "moves")
