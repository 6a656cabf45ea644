"""What a report says: the code of its remedies does what it says, and its notes are true."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import assert_within, compare, one_hot, to_linear

pytestmark = pytest.mark.usefixtures("one_thread")

BITS = "equal in every bit"
IDS = torch.tensor([2, 0, 3, 2])
TABLE = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
MAKE = {
    "Embedding": lambda rows: nn.Embedding(rows, 3),
    "EmbeddingBag": lambda rows: nn.EmbeddingBag(rows, 3, mode="sum"),
    "Linear": lambda rows: nn.Linear(rows, 3, bias=False),
    "table": lambda rows: torch.randn(rows, 3),
}


def run_code(report, name, **layers):
    """Run the code that stands behind the colon of a remedy, on these names."""
    (remedy,) = (cause.remedy for cause in report.causes if cause.name == name)
    names = {"torch": torch, **layers}
    exec(remedy.split(": ", 1)[1], names)
    return names["a"], names["b"]


@pytest.mark.parametrize("rows", [(5, 5), (5, 7), (7, 5)])
@pytest.mark.parametrize("second", MAKE)
@pytest.mark.parametrize("first", MAKE)
def test_the_code_that_copies_a_table_copies_it(first, second, rows):
    """From every kind into every other, and into a longer or a shorter table."""
    a, b = MAKE[first](rows[0]), MAKE[second](rows[1])
    report = compare(a, b, IDS)
    assert [cause.name for cause in report.causes] == ["weights"]
    said = f"a has {rows[0]} rows and b has {rows[1]}" in report.causes[0].evidence
    assert said is (rows[0] != rows[1])
    assert compare(*run_code(report, "weights", a=a, b=b), IDS).verdict == BITS


@pytest.mark.parametrize("second", MAKE)
def test_the_code_that_transposes_does_so(second):
    """Of a table, and of the Parameter of each layer."""
    b = MAKE[second](5)
    if second == "table":
        b = TABLE.T.contiguous()
    else:
        b.weight = nn.Parameter(TABLE.clone() if second == "Linear" else TABLE.T.contiguous())
    a = nn.EmbeddingBag.from_pretrained(TABLE, mode="sum")
    given = torch.tensor([2, 0, 1, 2])
    report = compare(lambda ids: F.embedding(ids, TABLE), b, given)
    assert [cause.name for cause in report.causes] == ["transposed weight"]
    assert compare(*run_code(report, "transposed weight", a=a, b=b), given).verdict == BITS


def test_the_code_that_undoes_a_reshape_does_so():
    """In the layer that has it."""
    a, b = nn.Embedding.from_pretrained(TABLE), nn.Linear(5, 3, bias=False)
    b.weight.data = TABLE.reshape(3, 5)
    report = compare(a, b, IDS)
    assert compare(*run_code(report, "reshaped weight", a=a, b=b), IDS).verdict == BITS


def test_of_two_tables_the_one_without_bad_numbers_is_copied():
    """The other would leave them in the product."""
    bad = TABLE.index_fill(0, torch.tensor([1]), torch.nan)
    (cause,) = compare(bad, nn.Linear(5, 3, bias=False), IDS).causes
    assert cause.remedy.endswith(": a.copy_(b.weight.T)")


def test_what_is_seen_of_two_tables_and_of_a_padding_row():
    """Their memory, who trains, and which id is left out."""
    whole, trained = torch.randn(8, 3), nn.Embedding(5, 3)
    (apart,) = compare(trained, nn.Embedding.from_pretrained(TABLE), IDS).causes
    assert apart.evidence.endswith(
        "; they share no storage; b requires no gradient, so training moves the other alone"
    )
    (shared,) = compare(whole[:4], whole[4:], IDS).causes
    assert "; they share storage" in shared.evidence
    bag = nn.EmbeddingBag.from_pretrained(TABLE, mode="sum", padding_idx=2)
    (cause,) = compare(bag, TABLE, IDS).causes
    assert cause.evidence == "a (EmbeddingBag) leaves out every entry with the id 2"


@pytest.mark.parametrize("first", ["Embedding", "table"])
def test_the_table_with_the_bias_in_it_is_written_out(first):
    """Where the other side looks up; elsewhere the bias is to be added to its output."""
    b = nn.Linear(5, 3)
    a = {"Embedding": nn.Embedding.from_pretrained, "table": lambda table: table}[first](TABLE)
    with torch.no_grad():
        b.weight.copy_(TABLE.T)
    (cause,) = compare(a, b, IDS).causes
    folded = eval(cause.remedy.split("look up in ")[1], {"a": a, "b": b})
    assert_within(folded[IDS], b(one_hot(IDS, 5)), 1e-6)
    other = nn.Linear(5, 3, bias=False)
    other.weight.data = b.weight.data
    (cause,) = compare(other, b, IDS).causes
    assert "add the same to the output of the other" in cause.remedy


def test_whole_numbers_that_look_like_rows_are_a_note():
    """They are read as ids, so two equal layers agree, and the reader is told."""
    rows = F.one_hot(IDS, 5)
    report = compare(TABLE, nn.Embedding.from_pretrained(TABLE), rows)
    assert report.agrees
    (note,) = report.notes
    assert "the 20 whole numbers are read as ids" in note
    assert note in repr(report)
    assert ".float()" in note
    counts = compare(nn.EmbeddingBag.from_pretrained(TABLE), TABLE, torch.tensor([[0, 3, 0, 0, 1]]))
    assert "read as ids" in counts.notes[0]
    row = torch.tensor([0, 0, 3, 0, 1])  # of as many ids as there are rows: still a row of ids
    for ids in (IDS, row, rows[:, :4], torch.tensor([[1, 2, 3, 4, 0]]), rows.float()):
        assert compare(TABLE, TABLE, ids).notes == ()


def test_a_function_that_multiplies_ids_is_told_to_write_rows():
    """As where the advice to wrap a layer is taken."""
    layer = nn.Sequential(nn.Linear(5, 3))
    report = compare(TABLE, lambda given: layer(given), IDS)
    assert report.verdict == "not to be compared"
    assert "b (callable) got the ids as you passed them; if it multiplies" in report.notes[1]
    right = compare(TABLE, lambda ids: layer(F.one_hot(ids, 5).float()), IDS)
    assert right.verdict == "different"
    assert len(right.notes) == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_pattern_of_the_outputs_is_a_note(dtype):
    """One row of numbers, or one factor; neither where there is none, or a single row."""
    table = TABLE.to(dtype)
    bias = torch.tensor([0.5, -1.3, 2.1], dtype=dtype)
    patterns = {
        "b minus a is the same in each row, as where a bias is added": table + bias,
        "b is 1.75 times a": table * 1.75,
    }
    for note, other in patterns.items():
        function = partial(F.embedding, weight=other)
        report = compare(table, function, IDS)
        assert report.causes == ()
        assert report.notes[-1] == note
        assert len(compare(table, function, IDS[:1]).notes) == 1
        assert compare(table, function, IDS[[0, 3]]).notes == report.notes[:1]
    for function in (lambda ids: table[ids] ** 2, lambda ids: table[ids] + table[ids, :1]):
        assert len(compare(table, function, IDS).notes) == 1
    flat = compare(lambda ids: table[ids, 0], lambda ids: table[ids, 0] * 2, IDS)
    assert len(flat.notes) == 2  # neither can be looked into


def test_the_rows_of_bad_numbers_are_named_with_their_side():
    """Only that of the layer that holds them."""
    bad = to_linear(nn.Embedding.from_pretrained(TABLE, freeze=False), share=False)
    bad.weight.data[0, 1] = torch.nan
    for sides, evidence in (
        ((TABLE, bad), "row 1 of b (Linear) holds NaN or infinity"),
        ((bad, TABLE), "row 1 of a (Linear) holds NaN or infinity"),
        ((bad.weight.T, bad), "row 1 of a (table) and row 1 of b (Linear) hold NaN or infinity"),
    ):
        (cause,) = compare(*sides, IDS).causes
        assert cause.evidence.startswith(evidence)


def test_bad_numbers_that_are_copied_are_no_cause():
    """Of two lookups neither multiplies them, so the tables differ, and that is all."""
    bad = TABLE.index_fill(0, IDS[:1], torch.nan)
    assert [cause.name for cause in compare(bad, TABLE, IDS).causes] == ["weights"]
    (cause,) = compare(bad, lambda ids: one_hot(ids, 5) @ bad, IDS[1:3]).causes
    assert cause.name == "NaN or infinity"


def test_the_layer_to_be_kept_out_of_autocast_is_named():
    """The one that multiplies."""
    b = to_linear(nn.Embedding.from_pretrained(TABLE, freeze=False), share=False)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (cause,) = compare(TABLE, b, IDS).causes
    assert cause.remedy == "compute b under torch.autocast('cpu', enabled=False)"
    with torch.autocast("cpu", dtype=torch.bfloat16):  # a function repeats under it, too
        (cause,) = compare(TABLE, lambda ids: b(one_hot(ids, 5)), IDS).causes
    assert cause.name == "dtype"
