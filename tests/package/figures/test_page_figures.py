"""What one page alone draws tells the numbers that it was given."""

import pytest
import torch
from drawings import assert_inside, assert_sound, bold, elements, lines
from scipy import sparse
from torch import nn

from lookup_matmul import OneHotLinear, to_linear
from lookup_matmul.figures import csr_is_an_embedding_bag, pages, points, two_layers
from lookup_matmul.figures import texts as words

torch.manual_seed(123)
WEIGHT, IDS = torch.randn(4, 5), torch.tensor([2, 3, 1])
BROKEN = WEIGHT.clone()
BROKEN[0, 0], BROKEN[0, 1] = float("nan"), -float("inf")
SMALL = torch.tensor([[0.1, 0.2, 0.3], [1.1, 1.2, 1.3], [2.1, 2.2, 2.3], [3.1, 3.2, 3.3]])
SUMMED = torch.tensor([[0.5, 1.0], [1.5, -2.0], [1.0, 1.0]])
VOTES = torch.tensor([[2.0, -1.0], [-1.0, 0.0], [0.25, 3.0]])
VOCABULARY = {"axis": 0, "dim": 1, "tensor": 2}
FIRST = nn.Parameter(SMALL)
SECOND = nn.Parameter(FIRST.detach())
EMBEDDING = nn.Embedding(12, 4)
MATRIX = sparse.csr_array([[0, 2, 0, 3], [0, 0, 0, 0], [1, 4, 0, 5]])
FAR = torch.tensor([[1.0, 0.0], [3.0, 1.0], [-1.0, 2.0], [0.0, -3.0]])
MOVED = torch.tensor([[True, False], [True, True]])
ZERO = torch.tensor([[1.0, -0.0], [2.0, 3.0]])
WHOLE = torch.tensor([[1.0, 0.0], [2.0, 3.5], [0.0, 0.0]])
SWAPPED = OneHotLinear(to_linear(EMBEDDING, share=False))
DRAWN = {
    "sum of rows": (
        pages.draw_sum_of_rows(torch.tensor([1, 2]), torch.tensor([2, 3]), SUMMED, list(VOCABULARY)),
        "Row 2 of the table is multiplied by 3: (1.0000, 1.0000). The other rows are not read. "
        "The sum is (6.0000, -1.0000).",
    ),
    "cuts": (
        pages.draw_cuts(2, 4),
        "By columns: machine 0 holds the first 2 columns of both, machine 1 the rest.",
    ),
    "hashes": (
        pages.draw_hashes({"user 1": 2, "user 2": 0, "user 3": 2}, 4),
        "3 keys go to 4 rows. user 1 to row 2. user 2 to row 0. user 3 to row 2. "
        "Shared: row 2 by 2 keys.",
    ),
    "reach of a NaN": (
        pages.draw_nan_reach(IDS, BROKEN),
        "Row 0 has NaN in column 0 and -Inf in column 1. "
        "The product for id 2 has NaN in column 0 and NaN in column 1. ",
    ),
    "moves": (pages.draw_moves(MOVED, ~MOVED, "3 of 4 cells."), "3 of 4 cells."),
    "bag of words": (
        words.draw_bag_of_words("a tensor dim of a tensor", VOCABULARY, VOTES, ["NumPy", "PyTorch"]),
        "Known words, with their rows: 2 × tensor (+0.25, +3), 1 × dim (-1, 0). "
        "The sum of the rows is NumPy -0.50, PyTorch +6; the largest is PyTorch.",
    ),
    "votes": (
        words.draw_column_votes(list(VOCABULARY), VOTES, ["NumPy", "PyTorch"]),
        "Votes for NumPy, PyTorch. axis (+2, -1): NumPy. dim (-1, 0): PyTorch. tensor (+0.25, +3): PyTorch.",
    ),
    "both ends": (
        words.draw_both_ends("byte", torch.tensor(list(b"byte")), 256),
        "b, y, t go in as ids 98, 121, 116. The lookup copies rows 98, 121, 116 of the table, the "
        "position rows 0, 1, 2 are added, and the rest of the model follows. At the other end each "
        "result is multiplied by all 256 rows of the same table, the 256 scores become probabilities, "
        "and the loss reads one: 121 at position 0, 116 at position 1, 101 at position 2.",
    ),
    "matrix": (
        csr_is_an_embedding_bag.draw_csr(MATRIX),
        "Row 1 is empty. Row 2 has the value 1 in column 0 and the value 4 in column 1 and "
        "the value 5 in column 3. The columns, 1, 3, 0, 1, 3, are CSR's indices",
    ),
    "two memories": (
        two_layers.draw_memory_order(SMALL[:2], SMALL[:2].T.contiguous()),
        "Memory of the Embedding: 0.1, 0.2, 0.3, 1.1, 1.2, 1.3. "
        "Memory of the Linear: 0.1, 1.1, 0.2, 1.2, 0.3, 1.3.",
    ),
    "tied": (
        two_layers.draw_names({"embedding.weight": FIRST, "head.weight": FIRST}),
        "2 names, 1 Parameter, 1 memory. embedding.weight is Parameter 1 on memory 1. "
        "head.weight is Parameter 1 on memory 1.",
    ),
    "one memory of two": (
        two_layers.draw_names({"a": FIRST, "b": SECOND, "c": nn.Parameter(SMALL.clone())}),
        "3 names, 3 Parameters, 2 memories. a is Parameter 1 on memory 1. "
        "b is Parameter 2 on memory 1. c is Parameter 3 on memory 2.",
    ),
    "swap": (
        two_layers.draw_swap(IDS, EMBEDDING, SWAPPED),
        "the ids 2, 3, 1 go into Embedding(12, 4), and 3 rows of 4 numbers come out. Right: they "
        "become 3 one-hot rows of 12 numbers, which go into Linear(12, 4); tools find this layer. "
        "3 rows of 4 numbers come out, equal to those on the left.",
    ),
    "differences": (
        two_layers.draw_differences({"Embedding": ZERO, "Linear": WHOLE}, labels=["id 7", "id 8", "id 9"]),
        "2 of 4 numbers differ. id 7: column 1 is -0.0000 in Embedding, 0.0000 in Linear. "
        "id 8: column 1 is 3.0000 in Embedding, 3.5000 in Linear. Linear has 3 rows, the other 2.",
    ),
    "no difference": (two_layers.draw_differences({"a": ZERO, "b": ZERO}), "0 of 4 numbers differ."),
    "path": (
        points.draw_path(FAR, 2, 1, torch.linspace(0, 1, 5), torch.tensor([2.0, -1.0])),
        "token 3 at (0, -3) with score 3. A straight path leads from token 2 to token 1 over mixtures at "
        "(-1, 2), (0, 1.75), (1, 1.5), (2, 1.25), (3, 1); along it the score goes from -4 to 5.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_is_sound_and_tells_its_numbers(name):
    """Its colors are the page's, a phone has room for it, and its label says what it shows."""
    drawing, told = DRAWN[name]
    assert_sound(drawing)
    assert told in drawing.alt
    if not elements(drawing.svg, "defs"):  # Matplotlib's shapes are placed elsewhere
        assert_inside(drawing)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("sum of rows", ["total", "6", "-1"]),
        ("reach of a NaN", ["id 3", "NaN", "NaN", *(f"{x:.2f}" for x in WEIGHT[3, 2:].tolist())]),
        ("bag of words", ["total", "-0.50", "+6"]),
        ("votes", ["tensor", "+0.25", "+3"]),
        ("matrix", ["row 2", "1", "4", "0", "5"]),
        ("matrix", ["0", "2, 2", "5"]),
        ("two memories", ["0.1", "1.1", "0.2", "1.2", "0.3", "1.3"]),
        ("both ends", ["scores", "256 scores", "256 scores", "256 scores"]),
        ("differences", ["id 8", "2.0000", "3.5000"]),
        ("swap", ["="]),
    ],
)  # fmt: skip
def test_the_numbers_stand_beside_each_other(name, shown):
    """As the tensors have them."""
    assert shown in lines(DRAWN[name][0].svg)


@pytest.mark.parametrize(
    ("name", "marked"),
    [
        ("reach of a NaN", ["row 1", "row 2", "row 3", "NaN", "-Inf"] + ["NaN"] * 6),
        ("bag of words", ["tensor", "dim", "tensor", "2 × tensor", "1 × dim", "total", "+6"]),
        ("votes", ["axis", "+2", "dim", "0", "tensor", "+3"]),
        ("differences", ["-0.0000", "3.0000", "0.0000", "3.5000", "0.0000", "0.0000"]),
        ("no difference", []),
        ("hashes", ["row 2", "2 keys"]),
    ],
)
def test_what_matters_is_bold(name, marked):
    """So that it is told without color; ids are besides."""
    assert sorted(t for t in bold(DRAWN[name][0].svg) if not t.startswith("id ")) == sorted(marked)


def test_cuts_say_who_has_each_number():
    """Both tables beside each other: whole, then by rows, then by columns."""
    zeros, ones, columns = ["0"] * 8, ["1"] * 8, ["0", "0", "1", "1"] * 2
    held = [line for line in lines(DRAWN["cuts"][0].svg) if {*line} <= {"0", "1"}]
    assert held == [["0"] * 4 + ["1"] * 4] * 2 + [zeros, ones] + [columns] * 2


def test_moves_have_a_dot_where_a_batch_used_a_row():
    """And a shade where it moved."""
    drawing, _ = DRAWN["moves"]
    assert len(elements(drawing.svg, "circle")) == int((~MOVED).sum())
    assert drawing.svg.count("fill: var(--figure-mark") == int(MOVED.sum())
