"""Causes that are planted are named, alone and in pairs, and nothing else is."""

from itertools import combinations

import numpy as np
import pytest
import torch
from planted import HIDDEN, OF_BAGS, OF_IDS, OF_VALUES, Case, plant, subnormal
from scipy import sparse
from torch import nn
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import compare, one_hot, to_linear

pytestmark = pytest.mark.usefixtures("one_thread")

BITS, ROUNDING = "equal in every bit", "equal within the bound of rounding"
DRAWN = (0, 4, 4), (1, 9, 5)  # a seed, a vocabulary size and an embedding dimension


def tables(drawn, names):
    """Make a table twice, square if it is to be turned, and not if it is to be reshaped."""
    seed, count, dim = drawn
    torch.manual_seed(seed)
    dim += dim == count and "reshaped weight" in names
    table = torch.randn(count, count if "transposed weight" in names else dim)
    return table, table.clone()


def case_of_ids(drawn, names=()):
    """Make a case whose ids ask for rows 0, 2 and 3, perhaps others, and never for row 1."""
    first, second = tables(drawn, names)
    others = torch.randint(2, len(first), (2,))
    return Case(first, second, torch.cat([torch.tensor([2, 0, 3]), others]))


def case_of_bags(drawn, names=()):
    """Make a case of bags with rows 0, 2 and 3 in the first, none in the second."""
    first, second = tables(drawn, names)
    ids = torch.cat([torch.tensor([0, 2, 2]), torch.randint(2, len(first) - 1, (2,))])
    options = {"mode": "sum", "include_last_offset": True}
    return Case(first, second, (ids, torch.tensor([0, 3, 3, 5])), nn.EmbeddingBag, options)


def found(case, **options):
    """Compare the layers of a case."""
    with case.context:
        return compare(*case.layers(), case.given, **options)


def assert_named(report, names):
    """Check that these causes are named, that nothing else is, and that the remedies help."""
    assert {cause.name for cause in report.causes} == set(names), report
    assert report.verdict not in (BITS, ROUNDING)
    assert report.agrees is (report.verdict == "equal in value")
    assert report.after.verdict in (BITS, ROUNDING), report
    assert all(cause.verified and cause.evidence and cause.remedy for cause in report.causes)


def pairs(plants, own):
    """List the causes alone, and in pairs of which one is its own, without those that hide."""
    chosen = [{name} for name in plants] + [
        set(pair) for pair in combinations(plants, 2) if own & set(pair)
    ]
    return [
        pytest.param(names, id=" and ".join(sorted(names)))
        for names in chosen
        if names not in HIDDEN
    ]


@pytest.mark.parametrize("drawn", [(seed, 4 + seed % 6, 4 + seed % 4) for seed in range(10)])
def test_equal_layers_get_no_cause(drawn):
    """Whatever the sizes, nothing is named where nothing is wrong."""
    for case, verdicts in ((case_of_ids(drawn), [BITS]), (case_of_bags(drawn), [BITS, ROUNDING])):
        report = found(case, gradients=True)
        assert report.agrees
        assert report.causes == report.gradients.causes == ()
        assert report.verdict in verdicts
        assert report.gradients.verdict in (BITS, ROUNDING)


@pytest.mark.parametrize("names", pairs(OF_IDS, set(OF_IDS)))
def test_causes_among_ids_are_named(names):
    """An Embedding and a Linear of the same ids."""
    for drawn in DRAWN:
        assert_named(found(plant(case_of_ids(drawn, names), names, OF_IDS)), names)


@pytest.mark.parametrize("names", pairs(OF_BAGS, set(OF_BAGS) - set(OF_IDS) | {"padding_idx"}))
def test_causes_among_bags_are_named(names):
    """An EmbeddingBag and a Linear of the same rows."""
    for drawn in DRAWN:
        assert_named(found(plant(case_of_bags(drawn, names), names, OF_BAGS)), names)


@pytest.mark.parametrize(
    "name", [n for n in OF_VALUES if n not in ("values ignored", "ids out of range")]
)
def test_ignored_values_are_named_beside_others(name):
    """An Embedding adds up the rows that a row names, whatever its values are."""
    names = {name, "values ignored"}
    for drawn in DRAWN:
        assert_named(found(plant(case_of_bags(drawn, names), names, OF_VALUES)), names)


@pytest.mark.parametrize("drawn", DRAWN)
def test_four_and_five_causes_at_once_are_named(drawn):
    """More than are tried in every combination."""
    names = {"bias", "dtype", "NaN or infinity", "ids out of range"}
    assert_named(found(plant(case_of_ids(drawn, names), names, OF_IDS)), names)
    names = {"bias", "mode", "offsets", "padding_idx", "weights"}
    assert_named(found(plant(case_of_bags(drawn, names), names, OF_BAGS)), names)


@pytest.mark.parametrize("other", [None, "bias", "weights"])
def test_flushed_subnormals_are_named(other):
    """Where the processor can be told to take them for zero, the product does and the copy not."""
    case = plant(case_of_ids((0, 5, 4)), {other}, OF_IDS)
    subnormal(case)
    layers = case.layers()
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot be told to flush")
    try:
        product = one_hot(torch.tensor([2]), 5) @ layers[0].weight.detach()
        if product[0, 1].view(torch.int32) != 0:
            pytest.skip("the product of this build does not flush")
        report = compare(*layers, case.given)
        flushed = torch.tensor([1e-40]) * 1.0
        assert flushed.view(torch.int32) == 0  # still as the caller has set it
    finally:
        torch.set_flush_denormal(False)
    assert_named(report, {"subnormal numbers"} | ({other} if other else set()))


@pytest.mark.parametrize("other", [None, "bias", "weights", "NaN or infinity"])
def test_a_product_of_shortened_weights_is_named(other, monkeypatch):
    """As with TF32; here the product is replaced by one that rounds float32 to bfloat16."""
    linear = F.linear

    def shortened(rows, weight, bias=None):
        weight = weight.bfloat16().float() if weight.dtype == torch.float32 else weight
        return linear(rows, weight, bias)

    monkeypatch.setattr(F, "linear", shortened)
    names = {other} - {None}
    case = plant(case_of_ids((1, 6, 4)), names, OF_IDS)
    assert_named(found(case), names | {"reduced matmul precision"})


@pytest.mark.parametrize("limit", [0.003, 0.1, 100.0])
@pytest.mark.parametrize("readings", range(4))
def test_a_table_that_was_shortened_before_is_known_by_its_norm(limit, readings):
    """The other one gets the same once its rows are shortened, too, however often it was read."""
    table = 20 * limit * torch.randn(5, 4, generator=torch.Generator().manual_seed(readings))
    layer, ids = nn.Embedding.from_pretrained(table.clone(), max_norm=limit), torch.tensor([2, 3])
    for _ in range(readings):
        layer(ids)
    assert_named(compare(layer, table, ids), {"max_norm"})


# Each with how the second table comes from the first, and what the evidence says of it.
ROWS = [
    ("order of the rows", lambda t: t.flip(0), "are rows"),
    ("order of the rows", lambda t: torch.cat([t[1:], t[:1] + 1]), "rows 1, 2, 3, "),
    ("order of the rows", lambda t: t[1:], "are rows 0, 1, 2, "),
    ("order of the rows", lambda t: torch.cat([t[[2, 1, 4, 3, 6, 5]], t[:1] + 1]), "2, 4, 6 "),
    ("scaled rows", lambda t: t * t.shape[1] ** 0.5, "which is the square root of the embedding"),
    ("scaled rows", lambda t: t / t.shape[1] ** 0.5, "which is one over the square root of the"),
    ("scaled rows", lambda t: t * -0.3, "b (Linear) holds -0.3 times the numbers of a (Embedding)"),
    ("scaled rows", lambda t: F.normalize(t), " and 1 in b (Linear)"),
    ("reshaped weight", lambda t: t.reshape(t.T.shape).T, "as a reshape leaves them"),
]


@pytest.mark.parametrize(("name", "change", "evidence"), ROWS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_another_order_scale_or_shape_of_a_table_is_named(name, change, evidence, dtype):
    """Whichever of the two has it, and beside a bias."""
    torch.manual_seed(0)
    first = torch.randn(7, 11).to(dtype)
    case = Case(first, change(first), torch.arange(1, 6))
    report = found(case)
    assert_named(report, {name})
    assert evidence in report.causes[0].evidence
    case.bias = torch.arange(1.0, 12)
    assert_named(found(case), {name, "bias"})
    assert_named(compare(change(first), first, case.given), {name})


def test_the_words_for_an_order_name_rows_that_were_repaired_too():
    """Zeros in place of a NaN go with no row of the other table."""
    first = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    second = first.clone()
    second[0, 1] = torch.nan
    report = found(Case(first, second[[1, 2, 3, 4, 0]], torch.tensor([2, 3, 1])))
    assert_named(report, {"order of the rows", "NaN or infinity"})
    said = "rows 1, 2, 3, 4 of a (Embedding) are rows 0, 1, 2, 3 of b (Linear)"
    assert said in [cause.evidence for cause in report.causes]


def test_an_order_that_leaves_two_rows_out_is_none():
    """Of a table with two rows of its own nobody can say that its rows were moved."""
    first = torch.randn(7, 11)
    second = first[[1, 0, 2, 3, 4, 5, 6]]
    second[5:] += 1
    assert_named(compare(first, second, torch.tensor([0, 1, 2])), {"weights"})


def test_a_transposed_table_of_any_shape():
    """Its shape shows it unless it is square; either side can be the one."""
    layer = nn.Embedding(5, 3)
    ids = torch.tensor([2, 0])
    for sides in ((layer, layer.weight.detach().T), (layer.weight.detach().T, layer)):
        assert_named(compare(*sides, ids), {"transposed weight"})


def test_sizes_that_cannot_agree_are_a_note():
    """No remedy mends two embedding dimensions."""
    report = compare(nn.Embedding(4, 3), nn.Embedding(4, 5), torch.tensor([1]), gradients=True)
    assert report.causes == ()
    assert "the embedding dimensions differ" in report.notes[0]
    assert report.gradients is None
    assert "the gradients were not compared" in report.notes[1]


def test_ids_that_are_all_out_of_range_are_named_without_a_trial():
    """Nothing is left that could be compared."""
    (cause,) = compare(nn.Embedding(4, 3), nn.Linear(4, 3), torch.tensor([9, -1])).causes
    assert (cause.name, cause.verified) == ("ids out of range", False)
    assert "2 of 2 ids have no row, the first is 9" in cause.evidence


def test_a_sum_without_a_bound_is_refused():
    """Of so many terms in so short a dtype the theorem says nothing."""
    table = torch.randn(4, 3).bfloat16()
    rows = torch.zeros(300, dtype=torch.long), torch.tensor([0, 300])
    with pytest.raises(ValueError, match=r"terms is 300, .* for torch\.bfloat16; sum in a wider"):
        compare(table, table, rows)


TABLE = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
NAN = TABLE.index_fill(0, torch.tensor([1]), torch.nan)


@pytest.mark.parametrize(
    ("function", "table", "ids", "name"),
    [
        (lambda ids: F.embedding(ids, TABLE.half()), TABLE, torch.tensor([2, 0]), "dtype"),
        (lambda ids: F.one_hot(ids, 4).float() @ NAN, NAN, torch.tensor([2, 0]), "NaN or infinity"),
        (lambda ids: F.embedding(ids, TABLE.T.contiguous()), TABLE, torch.tensor([2, 0]), "transposed weight"),
        (lambda ids: one_hot(ids.where(ids < 4, 0), 4) @ TABLE, TABLE, torch.tensor([2, 9]), "ids out of range"),
    ],
)  # fmt: skip
def test_causes_of_callables_that_show_from_outside(function, table, ids, name):
    """A function cannot be looked into, but the other side can do as it does."""
    report = compare(function, table, ids)
    assert_named(report, {name})
    assert "cannot be looked into" in report.notes[0]


def test_a_function_without_a_cause_says_what_was_tried():
    """Its table is out of reach."""
    report = compare(lambda ids: F.embedding(ids, TABLE + 1), TABLE, torch.tensor([2, 0]))
    assert report.causes == ()
    assert report.before == report.after
    assert "transposed weight" in report.tried
    assert "no cause found" in repr(report)
    both = compare(lambda ids: TABLE[ids], lambda ids: TABLE[ids] + 1, torch.tensor([2, 0]))
    assert both.tried == ()


def test_a_function_that_draws_random_numbers_is_named():
    """Called twice, it gives two outputs."""
    torch.manual_seed(0)
    report = compare(lambda ids: TABLE[ids] + torch.rand(4, 3), TABLE, torch.arange(4))
    assert [(cause.name, cause.verified) for cause in report.causes] == [("not repeatable", False)]
    again = "a (callable) gives another output when called again, in 12 of 12 numbers"
    assert report.causes[0].evidence == again
    assert "remedy, not tried" in repr(report)


def test_all_notations_of_rows_are_read():
    """SciPy's, torch's, and the dense matrix, in float8, too; values of one count as none."""
    dense = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    layer = nn.Linear(3, 2, bias=False)
    looking = nn.Embedding.from_pretrained(layer.weight.T)
    short = dense.to(torch.float8_e5m2)
    for rows in (dense, sparse.csr_array(dense.numpy()), dense.to_sparse_csr(), short):
        assert compare(layer.weight.T, layer, rows).verdict in (BITS, ROUNDING)
        assert_named(compare(looking, layer, rows), {"values ignored"})
    assert compare(looking, layer, (dense > 0).float()).verdict in (BITS, ROUNDING)


def test_a_matrix_of_ids_is_bags_for_an_embedding_bag():
    """As the layer itself reads it; for the others each id is a row of its own."""
    ids = torch.tensor([[0, 1], [2, 2]])
    bag = nn.EmbeddingBag(3, 2, mode="sum")
    linear = to_linear(nn.Embedding.from_pretrained(bag.weight, freeze=False), share=False)
    report = compare(bag, linear, ids)
    assert (report.before.total, report.verdict in (BITS, ROUNDING)) == (4, True)
    assert compare(bag.weight, linear, ids).before.total == 8
    mean = nn.EmbeddingBag(3, 2)
    mean.load_state_dict(bag.state_dict())
    assert_named(compare(mean, linear, ids), {"mode"})


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_bound_holds_and_is_not_wide(dtype):
    """Both sides are within it of the sum in float64, and a change of a hundredth is not."""
    torch.manual_seed(0)
    table = torch.randn(20, 3).to(dtype)
    rows = torch.randint(20, (60,)), torch.tensor([0, 20, 40, 60]), torch.rand(60).double()
    linear = to_linear(nn.Embedding.from_pretrained(table, freeze=False), share=False)
    report = compare(table, linear, rows)
    assert report.causes == ()
    exact = np.zeros((3, 3))
    for k, (i, value) in enumerate(zip(rows[0].tolist(), rows[2].tolist(), strict=True)):
        exact[k // 20] += value * table[i].double().numpy()
    options = {"mode": "sum", "per_sample_weights": rows[2].to(dtype), "include_last_offset": True}
    summed = F.embedding_bag(rows[0], table, rows[1], **options).double().numpy()
    assert np.abs(summed - exact).max() <= report.before.bound
    if dtype.itemsize > 2:
        linear.weight.data += 0.01
        assert_named(compare(table, linear, rows), {"weights"})


ONES, MEAN = torch.ones(2, 1), {"mode": "mean", "include_last_offset": True}
ADDING, SMALLEST = nn.Linear(2, 1), 2.0**-149
ADDING.load_state_dict({"weight": ONES.T, "bias": ONES[0]})


@pytest.mark.parametrize(
    ("layer", "rows", "near"),
    [
        (ADDING, ([0], [0, 1], [2.0]), 3 + 2.0**-21),
        (nn.EmbeddingBag.from_pretrained(ONES, **MEAN), ([0, 1], [0, 2]), 1 + 3 * 2.0**-23),
        (ONES * 3 * SMALLEST, ([0], [0, 1], [0.5]), SMALLEST),
    ],
    ids=["bias", "mean", "underflow"],
)
def test_every_rounding_is_in_the_bound(layer, rows, near):
    """That of a bias, of the division of a mean, and of a product that is nearly zero."""
    rows = tuple(map(torch.tensor, rows))
    assert compare(lambda _: torch.tensor([[near]]), layer, rows).verdict == ROUNDING


def test_a_bound_that_overflows_allows_no_infinity():
    """Else the sum of two large numbers would agree with anything."""
    table = torch.full((2, 1), 1.7e308, dtype=torch.float64)
    rows = torch.tensor([0, 1]), torch.tensor([0, 2])
    assert compare(lambda _: table[:1] * 0, table, rows).verdict == "different"


OPTIONS = {
    "scale_grad_by_freq": {"scale_grad_by_freq": True},
    "sparse gradient": {"sparse": True},
    "padding_idx": {"padding_idx": 0},
}


@pytest.mark.parametrize("names", [*combinations(OPTIONS, 1), *combinations(OPTIONS, 2)])
@pytest.mark.parametrize("frozen", [False, True])
def test_causes_of_gradients_are_named(names, frozen):
    """Once the outputs agree, alone, in pairs, and with a frozen table."""
    case = case_of_ids(DRAWN[0])
    case.given = torch.cat([case.given, torch.tensor([2])])
    for name in names:
        case.options |= OPTIONS[name]
    layers = case.layers()
    layers[1].weight.requires_grad_(not frozen)
    report = compare(*layers, case.given, gradients=True)
    assert (report.verdict, report.causes) == (BITS, ())
    assert_named(report.gradients, {*names, *(["frozen"] if frozen else [])})
    assert not report.agrees


def test_gradients_of_repeated_ids_have_a_bound():
    """An id that comes often adds up many terms, in an order of the layer's own."""
    ids = torch.randint(3, (500,))
    layer = nn.Embedding(3, 4)
    linear = to_linear(layer, share=False)
    report = compare(layer, linear, ids, gradients=True).gradients
    assert report.causes == ()
    assert 0 < report.before.bound < 0.1
