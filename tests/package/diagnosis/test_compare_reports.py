"""The code in remedies does what it says, and the texts of a report are true."""

from functools import partial

import pytest
import torch
from planted import make_linear
from torch import nn
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import assert_within, compare, one_hot

BITS, TOLERANCE = "equal in every bit", "equal within the tolerance"
IDS = torch.tensor([2, 0, 3, 2])
TABLE = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
MAKERS = {
    "Embedding": lambda rows: nn.Embedding(rows, 3),
    "EmbeddingBag": lambda rows: nn.EmbeddingBag(rows, 3, mode="sum"),
    "Linear": lambda rows: nn.Linear(rows, 3, bias=False),
    "table": lambda rows: torch.randn(rows, 3),
}


def assert_remedy_works(report, name, a, b, ids=IDS):
    """Assert that the code after the colon of this only remedy makes a and b equal."""
    assert [cause.name for cause in report.causes] == [name]
    namespace = {"torch": torch, "a": a, "b": b}
    exec(report.causes[0].remedy.split(": ", 1)[1], namespace)
    assert compare(namespace["a"], namespace["b"], ids).verdict == BITS


@pytest.mark.parametrize("rows", [(5, 5), (5, 7), (7, 5)])
@pytest.mark.parametrize("second", MAKERS)
@pytest.mark.parametrize("first", MAKERS)
def test_the_code_that_copies_a_table_copies_it(first, second, rows):
    """From every kind into every other, and into a longer or a shorter table."""
    a, b = MAKERS[first](rows[0]), MAKERS[second](rows[1])
    report = compare(a, b, IDS)
    sizes = f"a has {rows[0]} rows and b has {rows[1]}"
    assert (sizes in report.causes[0].evidence) is (rows[0] != rows[1])
    assert_remedy_works(report, "weights", a, b)


@pytest.mark.parametrize("kind", MAKERS)
def test_the_code_that_transposes_a_table_does_so(kind):
    """For a tensor, and for the Parameter of each layer."""
    b = MAKERS[kind](5)
    if kind == "table":
        b = TABLE.T.contiguous()
    else:
        b.weight = nn.Parameter(TABLE.clone() if kind == "Linear" else TABLE.T.contiguous())
    ids = torch.tensor([2, 0, 1, 2])
    report = compare(lambda ids: F.embedding(ids, TABLE), b, ids)
    assert_remedy_works(report, "transposed weight", TABLE, b, ids)


def test_the_code_that_undoes_a_reshape_does_so():
    """In the layer whose weight was reshaped."""
    a, b = nn.Embedding.from_pretrained(TABLE), nn.Linear(5, 3, bias=False)
    b.weight.data = TABLE.reshape(3, 5)
    assert_remedy_works(compare(a, b, IDS), "reshaped weight", a, b)


def test_the_table_without_bad_numbers_is_copied():
    """Copying the other would leave NaN in the product."""
    bad = TABLE.index_fill(0, torch.tensor([1]), torch.nan)
    (cause,) = compare(bad, nn.Linear(5, 3, bias=False), IDS).causes
    assert cause.remedy.endswith(": a.copy_(b.weight.T)")


ROWS = torch.tensor([[3.0, 4.0], [5.0, 12.0], [8.0, 6.0]])  # of lengths 5, 13 and 10
ENDS, COPY = torch.eye(3, 2).bool(), nn.Embedding.from_pretrained(ROWS)
WITH_NAN, SIGNED = ROWS.masked_fill(ENDS, torch.nan), ROWS.masked_fill(ENDS, -0.0)
STORAGE = torch.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("a", "b", "name", "evidence"),
    [
        (ROWS, make_linear(F.normalize(ROWS)), "scaled rows", "in the rows that were read, the lengths are 5 to 13 in a (table) and 1 in b (Linear)"),
        (ROWS, make_linear(3 * ROWS), "scaled rows", "in the rows that were read, b (Linear) holds 3 times the numbers of a (table)"),
        (ROWS, ROWS.flip(0), "order of the rows", "rows 0, 2 of a (table) are rows 2, 0 of b (table)"),
        (ROWS, ROWS.T, "transposed weight", "the table of b (2 × 3) has its rows as columns"),
        (COPY, ROWS.T, "transposed weight", "the table of b (2 × 3) has its rows as columns"),
        (ROWS.T, COPY, "transposed weight", "the table of a (2 × 3) has its rows as columns"),
        (ROWS, make_linear(ROWS.half()), "dtype", "a (table) is torch.float32, b (Linear) is torch.float16"),
        (SIGNED, make_linear(ROWS.masked_fill(ENDS, 0.0)), "negative zero", "rows 0, 1 of a (table) hold -0, whose sign"),
        (SIGNED, make_linear(SIGNED), "negative zero", "rows 0, 1 of a (table) and rows 0, 1 of b (Linear) hold -0"),
        (ROWS, make_linear(ROWS.masked_fill(ENDS[:, :1], torch.inf)), "NaN or infinity", "row 0 of b (Linear) holds NaN or infinity"),
        (make_linear(WITH_NAN), ROWS, "NaN or infinity", "rows 0, 1 of a (Linear) hold NaN or infinity"),
        (WITH_NAN, ROWS, "weights", "2 of 6 numbers of the tables differ, in rows 0, 1; the standard deviation is nan in a and 3 in b"),
        (ROWS, make_linear(SIGNED[:2]), "weights", "a has 3 rows and b has 2; 2 of 4 numbers of the tables differ, in rows 0, 1; "),
        (STORAGE[:3], STORAGE[3:], "weights", "; they share storage"),
        (nn.Embedding(3, 2), COPY, "weights", "; they share no storage; b requires no gradient, so training moves the other alone"),
        (nn.EmbeddingBag.from_pretrained(ROWS, mode="sum", padding_idx=1), ROWS, "padding_idx", "a (EmbeddingBag) leaves out every entry with the id 1"),
    ],
)  # fmt: skip
def test_evidence_is_true_of_the_tables(a, b, name, evidence):
    """It names rows, sides, counts and lengths; NaN only where a product multiplies it."""
    (cause,) = compare(a, b, torch.arange(2)).causes
    assert cause.name == name
    assert evidence in cause.evidence


@pytest.mark.parametrize("a", [nn.Embedding.from_pretrained(TABLE), TABLE])
def test_advice_for_a_bias_contains_the_table_with_the_bias_added(a):
    """If the other side looks up; else the bias is to be added to its output."""
    b = nn.Linear(5, 3)
    with torch.no_grad():
        b.weight.copy_(TABLE.T)
    (cause,) = compare(a, b, IDS).causes
    table = eval(cause.remedy.split("look up in ")[1], {"a": a, "b": b})
    assert_within(table[IDS], b(one_hot(IDS, 5)), 1e-6)
    (cause,) = compare(make_linear(TABLE), b, IDS).causes
    assert "add the same to the output of the other" in cause.remedy


def test_integers_that_look_like_rows_are_a_note():
    """They are read as ids, so two equal layers agree."""
    rows, counts = F.one_hot(IDS, 5), torch.tensor([[0, 3, 0, 0, 1]])
    for second in (nn.Embedding.from_pretrained(TABLE), TABLE):
        report = compare(TABLE, second, rows)
        (note,) = report.notes
        assert (report.agrees, note in repr(report), ".float()" in note) == (True, True, True)
        assert "the 20 whole numbers are read as ids" in note
    bag = nn.EmbeddingBag.from_pretrained(TABLE)
    assert "the 5 whole numbers are read as ids" in compare(bag, TABLE, counts).notes[0]
    assert "the 4 whole numbers" in compare(TABLE[:2], TABLE[:2], torch.eye(2).long()).notes[0]
    for ids in (IDS, counts[0], rows[:, :4], torch.tensor([[1, 2, 3, 4, 0]]), rows.float()):
        assert compare(TABLE, TABLE, ids).notes == ()


def test_a_function_that_multiplies_ids_gets_advice():
    """It is to write rows itself, and agrees or differs once it does."""
    layer = nn.Sequential(nn.Linear(5, 3))
    report = compare(TABLE, lambda ids: layer(ids), IDS)
    assert report.verdict == "not to be compared"
    assert "b (callable) got the ids as you passed them; if it multiplies" in report.notes[1]
    corrected = compare(TABLE, lambda ids: layer(F.one_hot(ids, 5).float()), IDS)
    assert corrected.verdict == "different"
    assert len(corrected.notes) == 1


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_pattern_of_the_outputs_is_a_note(dtype):
    """One row of differences or one factor is noted, if there are two rows that show it."""
    table = TABLE.to(dtype)
    added = table + torch.tensor([0.5, -1.3, 2.1], dtype=dtype)
    notes = "b minus a is the same in each row, as where a bias is added", "b is 1.75 times a"
    for note, changed in zip(notes, (added, table * 1.75), strict=True):
        report, one_row, equal_rows = (
            compare(table, partial(F.embedding, weight=changed), IDS[rows])
            for rows in ([0, 1, 2, 3], [0], [0, 3])
        )
        assert (report.causes, report.notes[1:]) == ((), (note,))
        assert one_row.notes == equal_rows.notes == report.notes[:1]
    for function in (lambda ids: table[ids] ** 2, lambda ids: table[ids] + table[ids, :1]):
        assert len(compare(table, function, IDS).notes) == 1
    vectors = compare(lambda ids: table[ids, 0], lambda ids: table[ids, 0] * 2, IDS)
    assert len(vectors.notes) == 2  # that neither function can be looked into


def test_advice_for_autocast_names_the_layer_that_multiplies():
    """A function that multiplies differs in its dtype."""
    b = make_linear(TABLE)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (cause,) = compare(TABLE, b, IDS).causes
        assert cause.remedy == "compute b under torch.autocast('cpu', enabled=False)"
        (cause,) = compare(TABLE, lambda ids: b(one_hot(ids, 5)), IDS).causes
        assert cause.name == "dtype"


def test_a_report_has_a_text_and_a_table():
    """The table shows markup in the error of a function as text."""

    def fail(_):
        raise ValueError("<script>alert(1)</script>")

    report = compare(fail, nn.Linear(4, 3), IDS)
    assert report.verdict == "not to be compared"
    assert report.before.reason == "a raises ValueError: <script>alert(1)</script>"
    table = report._repr_html_()
    assert "<script>" in repr(report)
    assert "<script>" not in table
    assert "&lt;script&gt;" in table
    assert table.count("<tr>") == table.count("</tr>") == len(repr(report).splitlines())
    assert str(report) == repr(report)


A = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
ONE_OFF = torch.tensor([[0.0, 0.0], [0.5, 0.0]])


@pytest.mark.parametrize(
    ("a", "b", "sentences"),
    [
        (A, A.clone(), "equal in every bit, all 4 numbers"),
        (A, A + 3 * ONE_OFF + ONE_OFF.T, "different: 2 of 4 numbers, the first at [0, 1]: 2.0 in a, 2.5 in b; the largest difference is 1.5"),
        (A, A.nextafter(A + ONE_OFF), "different: 1 of 4 numbers, the first at [1, 0]: 3.0 in a, 3.00000024 in b; the largest difference is 2.38e-07"),
        (A.bfloat16(), (A + ONE_OFF).half(), "different: dtype torch.bfloat16 in a, torch.float16 in b; 1 of 4 numbers, the first at [1, 0]: 3.0 in a, 3.5 in b; the largest difference is 0.5"),
        (A, A.double(), "different: dtype torch.float32 in a, torch.float64 in b; all numbers are equal in value"),
        (A, A[:, :1], "different: shape (2, 2) in a, (2, 1) in b"),
        (0 * A, -0.0 * A, "equal in value: 4 of 4 numbers differ, the first at [0, 0]: 0.0 in a, -0.0 in b; only signs of zeros or bits of NaN"),
        (A / 0, A * torch.nan, "different: 4 of 4 numbers, the first at [0, 0]: inf in a, nan in b"),
        (A * torch.nan, A * torch.nan, "equal in every bit, all 4 numbers"),
    ],
)  # fmt: skip
def test_sentences_about_two_outputs_are_true(a, b, sentences):
    """Numbers have as many digits as tell them apart."""
    report = compare(lambda _: a, lambda _: b, torch.arange(2))
    assert repr(report.before) == sentences
    assert report.agrees is sentences.startswith("equal")


def test_sums_of_two_dtypes_may_be_rounded():
    """Their terms are, so the bound is named beside the dtypes."""
    report = compare(TABLE, TABLE.double(), (IDS, torch.tensor([0, 4])))
    assert "; all numbers are equal within the bound of rounding" in repr(report)


SCALE = float(TABLE.abs().max()) / 127
INT8 = (TABLE / SCALE).round().to(torch.int8).float() * SCALE
GAP = (INT8[IDS].double() - TABLE[IDS]).abs()
LARGEST = float(GAP.max())


@pytest.mark.parametrize(("atol", "rtol"), [(LARGEST, 0.0), (0.0, 1.0), (LARGEST / 2, 1.0)])
def test_an_int8_copy_agrees_within_a_tolerance(atol, rtol):
    """No cause is sought, the largest difference is reported, and the gradients are compared."""
    sides = nn.Embedding.from_pretrained(TABLE, freeze=False), make_linear(INT8)
    report = compare(*sides, IDS, gradients=True, atol=atol, rtol=rtol)
    assert (report.verdict, report.agrees) == (TOLERANCE, True)
    assert report.causes == report.candidates == ()
    assert (report.gradients.verdict, report.before.largest) == (BITS, LARGEST)
    count = int((GAP > 0).sum())
    assert f"equal within atol={atol}, rtol={rtol}: {count} of 12 numbers differ" in repr(report)
    assert f"; the largest difference is {LARGEST:.3g}\n" in repr(report)


def test_beyond_a_tolerance_causes_are_named():
    """Only numbers beyond it count, and it is relative to b: 1 is half of 2, and all of 1."""
    report = compare(TABLE, INT8, IDS, atol=LARGEST / 2)
    assert [cause.name for cause in report.causes] == ["weights"]
    assert report.before.differing == int((GAP > LARGEST / 2).sum()) < 12
    assert repr(report.before).endswith(f"; the tolerance is atol={LARGEST / 2}, rtol=0.0")
    with_bias = nn.Linear(5, 3)
    with_bias.weight.data = INT8.T.clone()
    report = compare(TABLE, with_bias, IDS, atol=LARGEST)
    assert [cause.name for cause in report.causes] == ["bias"]
    assert report.after.verdict == TOLERANCE
    ones = torch.ones(2, 1)
    assert compare(ones, 2 * ones, torch.tensor([0]), rtol=0.5).agrees
    assert not compare(2 * ones, ones, torch.tensor([0]), rtol=0.5).agrees


def test_a_tolerance_covers_dtypes_and_repeated_calls():
    """A function may be off by as much in each call, in another dtype, with any pattern."""
    generator = torch.Generator().manual_seed(0)

    def add_noise(ids):
        return TABLE.double()[ids] + 0.01 * torch.rand(len(ids), 1, generator=generator)

    report = compare(TABLE, add_noise, IDS, atol=0.01)
    assert (report.agrees, report.causes, report.notes) == (True, (), ())
    assert "dtype torch.float32 in a, torch.float64 in b; 12 of 12 numbers differ" in repr(report)
    equal = compare(TABLE, TABLE.double(), IDS, atol=0.01)
    assert repr(equal).endswith("torch.float64 in b; all numbers are equal in value")


@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_a_tolerance_covers_no_nan_or_infinity_of_one_side(number):
    """Equal ones agree."""
    changed = TABLE.index_fill(0, IDS[:1], number)
    for sides in ((TABLE, changed), (changed, TABLE)):
        assert compare(*sides, IDS, atol=1e30, rtol=1.0).verdict == "different"
    assert compare(changed, changed.clone(), IDS, rtol=1.0).verdict == BITS
    assert compare(changed, changed + 0.01, IDS, atol=0.02, rtol=1.0).verdict == TOLERANCE


def test_a_tolerance_covers_gradients_but_not_their_layout():
    """A sparse gradient is named with its cause, one divided by a count of 2 is close enough."""
    options = {"scale_grad_by_freq": True}, {"sparse": True}
    a, b = (nn.Embedding.from_pretrained(TABLE, freeze=False, **o) for o in options)
    report = compare(a, b, IDS, gradients=True, atol=10).gradients
    assert [cause.name for cause in report.causes] == ["sparse gradient"]
    assert "; all numbers are equal within atol=10.0, rtol=0.0;" in repr(report.before)
    assert report.after.verdict == TOLERANCE
