"""Planted causes are named, alone and in pairs, and no other cause is."""

import re
from itertools import combinations

import numpy as np
import planted
import pytest
import torch
from planted import BAG_CAUSES, ID_CAUSES, VALUE_CAUSES, PlantedPair, make_linear, plant
from scipy import sparse
from torch import nn
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import compare, one_hot

ORDER = "order of the rows"
BITS, ROUNDING = "equal in every bit", "equal within the bound of rounding"
SIZES = (0, 4, 4), (1, 9, 5)  # seed, vocabulary size, embedding dimension
TABLE = torch.randn(7, 3, generator=torch.Generator().manual_seed(0))
IDS = torch.tensor([2, 0])
MOVED_NAN = TABLE.roll(-1, 0).index_put((torch.tensor(6), torch.tensor(1)), torch.tensor(torch.nan))


def make_tables(sizes, names):
    """Return a table twice: square to be transposed, not square to be reshaped."""
    seed, rows, dim = sizes
    torch.manual_seed(seed)
    dim += dim == rows and "reshaped weight" in names
    table = torch.randn(rows, rows if "transposed weight" in names else dim)
    return table, table.clone()


def id_pair(sizes, names=()):
    """Return a pair with ids 2, 0, 3 and others except 1."""
    tables = make_tables(sizes, names)
    ids = torch.randint(2, len(tables[0]), (2,))
    return PlantedPair(*tables, torch.cat([torch.tensor([2, 0, 3]), ids]))


def bag_pair(sizes, names=()):
    """Return a pair with three bags, the second of them empty."""
    tables = make_tables(sizes, names)
    ids = torch.cat([torch.tensor([0, 2, 2]), torch.randint(2, len(tables[0]) - 1, (2,))])
    options = {"mode": "sum", "include_last_offset": True}
    return PlantedPair(*tables, (ids, torch.tensor([0, 3, 3, 5])), nn.EmbeddingBag, options)


def compare_pair(pair, **options):
    """Compare the layers of a planted pair."""
    with pair.context:
        return compare(*pair.layers(), pair.ids_or_rows, **options)


def assert_causes(report, *names):
    """Assert that exactly these causes are named, and that their remedies suffice."""
    assert {cause.name for cause in report.causes} == set(names), (
        f"expected {names}; if one hides another, name the pair in HIDDEN of planted.py: {report}"
    )
    assert report.verdict not in (BITS, ROUNDING)
    assert report.agrees is (report.verdict == "equal in value")
    assert report.after.verdict in (BITS, ROUNDING), report
    assert all(cause.verified and cause.evidence and cause.remedy for cause in report.causes)


def with_pairs(make_pair, causes, new_causes):
    """Return test cases: every cause alone, and every pair with a new cause that hides none."""
    pairs = [set(pair) for pair in combinations(causes, 2) if set(pair) & set(new_causes)]
    return [
        pytest.param(make_pair, names, causes, id=" and ".join(sorted(names)))
        for names in [*({name} for name in causes), *pairs]
        if names not in planted.HIDDEN
    ]


@pytest.mark.parametrize(
    ("make_pair", "names", "causes"),
    [
        *with_pairs(id_pair, ID_CAUSES, ID_CAUSES),
        *with_pairs(bag_pair, BAG_CAUSES, set(BAG_CAUSES) - set(ID_CAUSES) | {"padding_idx"}),
        *(
            (bag_pair, {name, "values ignored"}, VALUE_CAUSES)
            for name in VALUE_CAUSES
            if name != "ids out of range"
        ),
        (id_pair, {"bias", "dtype", "NaN or infinity", "ids out of range"}, ID_CAUSES),
        (bag_pair, {"bias", "mode", "offsets", "padding_idx", "weights"}, BAG_CAUSES),
        (bag_pair, {"bias", "mode", "scaled rows"}, BAG_CAUSES),
    ],
)
def test_planted_causes_are_named(make_pair, names, causes):
    """One to five causes at once are named, and no other."""
    for sizes in SIZES:
        assert_causes(compare_pair(plant(make_pair(sizes, names), names, causes)), *names)


@pytest.mark.parametrize("names", [(), ("bias",), ("weights",)])
def test_flushed_subnormals_are_named(names):
    """If the processor flushes subnormal numbers to zero, a product does, and a lookup does not."""
    pair = plant(id_pair((0, 5, 4)), names, ID_CAUSES)
    planted.subnormal(pair)
    layers = pair.layers()
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor cannot be told to flush")
    try:
        product = one_hot(torch.tensor([2]), 5) @ layers[0].weight.detach()
        if product[0, 1].view(torch.int32) != 0:
            pytest.skip("the product of this build does not flush")
        report = compare(*layers, pair.ids_or_rows)
        flushed = torch.tensor([1e-40]) * 1.0
        assert flushed.view(torch.int32) == 0  # the caller's setting is restored
    finally:
        torch.set_flush_denormal(False)
    assert_causes(report, "subnormal numbers", *names)


@pytest.mark.parametrize(
    ("names", "columns"),
    [((), 0), ({"bias"}, 0), ({"weights"}, 0), ({"NaN or infinity"}, 0), ({"bias"}, 30)],
)
def test_reduced_matmul_precision_is_named(names, columns, monkeypatch):
    """As with TF32, also if only a long product is short: here float32 is rounded to bfloat16."""
    linear = F.linear

    def linear_in_bfloat16(rows, weight, bias=None):
        is_short = weight.dtype == torch.float32 and rows.shape[-1] >= columns
        return linear(rows, weight.bfloat16().float() if is_short else weight, bias)

    monkeypatch.setattr(F, "linear", linear_in_bfloat16)
    pair = plant(id_pair((1, max(columns, 6), 4)), names, ID_CAUSES)
    assert_causes(compare_pair(pair), "reduced matmul precision", *names)


@pytest.mark.parametrize("max_norm", [0.003, 0.1, 100.0])
@pytest.mark.parametrize("calls", range(4))
def test_a_table_renormalized_before_is_recognized(max_norm, calls):
    """The tables agree once the rows of the other are renormalized, too, after any reads."""
    table = 20 * max_norm * torch.randn(5, 4, generator=torch.Generator().manual_seed(calls))
    layer, ids = nn.Embedding.from_pretrained(table.clone(), max_norm=max_norm), IDS + 1
    for _ in range(calls):
        layer(ids)
    assert_causes(compare(layer, table, ids), "max_norm")


@pytest.mark.parametrize(
    ("max_norm", "names"), [(100.0, {"scaled rows"}), (1.0, {"scaled rows", "max_norm"})]
)
def test_a_limit_that_no_row_reaches_is_not_named(max_norm, names):
    """Beside another cause; rows of length 2 and 8 are renormalized to 1."""
    table = F.normalize(torch.randn(5, 4, generator=torch.Generator().manual_seed(0)))
    layer = nn.Embedding.from_pretrained(2 * table, max_norm=max_norm)
    assert_causes(compare(layer, 8 * table, IDS), *names)


@pytest.mark.parametrize(
    ("name", "change", "evidence"),
    [
        (ORDER, lambda t: t.flip(0), "are rows"),
        (ORDER, lambda t: torch.cat([t[1:], t[:1] + 1]), "rows 1, 2, 3, "),
        (ORDER, lambda t: t[1:], "are rows 0, 1, 2, "),
        (ORDER, lambda t: torch.cat([t[[2, 1, 4, 3, 6, 5]], t[:1] + 1]), "2, 4, 6 "),
        ("scaled rows", lambda t: t * 11**0.5, "which is the square root of the embedding"),
        ("scaled rows", lambda t: t / 11**0.5, "which is one over the square root of the"),
        ("scaled rows", lambda t: t * -0.3, "b (Linear) holds -0.3 times the numbers of a ("),
        ("scaled rows", lambda t: F.normalize(t), " and 1 in b (Linear)"),
        ("reshaped weight", lambda t: t.reshape(t.T.shape).T, "as a reshape leaves them"),
    ],
)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_another_order_scale_or_shape_of_a_table_is_named(name, change, evidence, dtype):
    """The cause is named for either side, and together with a bias."""
    torch.manual_seed(0)
    table = torch.randn(7, 11).to(dtype)
    pair = PlantedPair(table, change(table), torch.arange(1, 6))
    report = compare_pair(pair)
    assert_causes(report, name)
    assert evidence in report.causes[0].evidence
    pair.bias = torch.arange(1.0, 12)
    assert_causes(compare_pair(pair), name, "bias")
    assert_causes(compare(change(table), table, pair.ids_or_rows), name)


@pytest.mark.parametrize(
    ("second", "ids", "names", "evidence"),
    [
        (TABLE[1:], [2, 0, 3], {ORDER, "weights"}, "1, 2, 3, 4, 5, 6 of a are rows 0, 1, 2, 3, 4, 5"),
        (TABLE[2:], [2, 0, 3], {ORDER, "weights"}, "2, 3, 4, 5, 6 of a are rows 0, 1, 2, 3, 4"),
        (TABLE[1:5], [2, 0, 6], {ORDER, "weights", "ids out of range"}, "1, 2, 3, 4 of a are rows 0, 1, 2, 3"),
        (TABLE[[1, 2, 0, 3, 4, 5, 6]].index_fill(0, IDS[:1], 0.0), [2, 0, 1], {ORDER, "weights"}, "1, 2 of a are rows 0, 1"),
        (make_linear(MOVED_NAN), [2, 3, 1], {ORDER, "NaN or infinity"}, "1, 2, 3, 4, 5, 6 of a are rows 0, 1, 2, 3, 4, 5"),
        (-TABLE[[1, 0, 4, 2, 3, 5, 6]], range(7), {ORDER, "scaled rows"}, "0, 1, 2, 3, 4 of a are multiples of rows 1, 0, 3, 4, 2"),
        (torch.cat([TABLE[[1, 0, 2, 3, 4]], TABLE[5:] + 1]), [0, 1, 2], {"weights"}, None),
        (torch.cat([TABLE[:2], 3 * TABLE[2:]]), [2], {"weights"}, None),
        (torch.cat([TABLE[:2], 3 * TABLE[2:]]), [2, 2, 2], {"weights"}, None),
    ],
    ids=["shifted", "shifted by two", "shifted, id out of range", "padding row", "repaired", "negated", "two rows without a match", "one row", "one row repeated"],
)  # fmt: skip
def test_the_order_is_named_beside_other_differences_of_the_tables(second, ids, names, evidence):
    """Even if copying the table would be enough; no order or factor of too few rows is named."""
    report = compare(TABLE, second, torch.tensor([*ids]))
    assert_causes(report, *names)
    orders = [cause.evidence for cause in report.causes if cause.name == ORDER]
    for order in orders:
        assert re.sub(r" \(\w+\)", "", order) == f"rows {evidence} of b"
    if orders and "weights" in names:  # only those of the rows that are nowhere in b
        assert re.search(r"\b[36] of \d+ numbers of the tables differ", report.causes[-1].evidence)


@pytest.mark.parametrize(("changed", "name"), [(2, ORDER), (3, "weights")])
@pytest.mark.parametrize("factor", [1, 3])
def test_an_order_is_named_if_one_row_in_a_hundred_is_nowhere(changed, name, factor):
    """Of 250 rows, 2 may be new, but not 3."""
    table = torch.randn(250, 5, generator=torch.Generator().manual_seed(0))
    second = factor * table.roll(3, 0)
    second[100 : 100 + changed] += 1
    names = {name, "scaled rows"} if (name, factor) == (ORDER, 3) else {name}
    assert_causes(compare(table, second, IDS), *names)


def test_different_embedding_dimensions_are_a_note():
    """No remedy is tried, and no gradient compared."""
    report = compare(nn.Embedding(4, 3), nn.Embedding(4, 5), IDS, gradients=True)
    assert report.causes == ()
    assert "the embedding dimensions differ" in report.notes[0]
    assert report.gradients is None
    assert "the gradients were not compared" in report.notes[1]


def test_a_batch_without_a_valid_id_has_an_unverified_cause():
    """No row remains with which a remedy could be tried."""
    (cause,) = compare(nn.Embedding(4, 3), nn.Linear(4, 3), torch.tensor([9, -1])).causes
    assert (cause.name, cause.verified) == ("ids out of range", False)
    assert "2 of 2 ids have no row, the first is 9" in cause.evidence


NAN = TABLE.index_fill(0, torch.tensor([1]), torch.nan)
SQUARE = TABLE[:3]


@pytest.mark.parametrize(
    ("function", "table", "ids", "name"),
    [
        (lambda ids: TABLE.half()[ids], TABLE, IDS, "dtype"),
        (lambda ids: one_hot(ids, 7) @ NAN, NAN, IDS, "NaN or infinity"),
        (lambda ids: NAN[ids], make_linear(NAN), IDS, "NaN or infinity"),
        (lambda ids: SQUARE.T[ids], SQUARE, IDS, "transposed weight"),
        (lambda ids: one_hot(ids.where(ids < 7, 0), 7) @ TABLE, TABLE, IDS * 5, "ids out of range"),
    ],
)
def test_causes_of_a_function_that_the_other_side_can_show(function, table, ids, name):
    """A remedy that changes only the other side can make it agree with a function."""
    report = compare(function, table, ids)
    assert_causes(report, name)
    assert "cannot be looked into" in report.notes[0]


def test_a_function_may_have_some_of_the_options_of_the_layer():
    """Only the others are named: one, all but one, or all of them."""
    bags = torch.tensor([0, 2, 2, 3, 4]), torch.tensor([0, 3, 3, 5])
    options = {"mode": "mean", "padding_idx": 2, "max_norm": 0.5}
    for count in range(3):
        for shared in combinations(options, count):
            changes = {"mode": "sum"} | {name: options[name] for name in shared}
            bag, layer = (
                nn.EmbeddingBag.from_pretrained(TABLE.clone(), include_last_offset=True, **chosen)
                for chosen in (changes, options)
            )
            report = compare(lambda rows, bag=bag: bag(*rows), layer, bags)
            assert_causes(report, *(set(options) - set(shared)))


def test_a_function_without_a_cause_has_candidates():
    """Its table is out of reach."""
    report = compare(lambda ids: TABLE[ids] + 1, TABLE[:3], IDS)
    assert report.causes == ()
    assert report.before == report.after
    assert "transposed weight" in report.candidates
    assert "no cause found: tried " in repr(report)
    assert compare(lambda ids: TABLE[ids], lambda ids: TABLE[ids] + 1, IDS).candidates == ()


def test_a_function_that_draws_random_numbers_is_named():
    """Its second output differs from the first."""
    torch.manual_seed(0)
    report = compare(lambda ids: TABLE[ids] + torch.rand(2, 3), TABLE, IDS)
    assert [(cause.name, cause.verified) for cause in report.causes] == [("not repeatable", False)]
    evidence = "a (callable) gives another output when called again, in 6 of 6 numbers"
    assert report.causes[0].evidence == evidence
    assert "remedy, not tried" in repr(report)


def test_all_notations_of_rows_are_read():
    """Dense, SciPy, torch and float8 rows agree; values that are all 1 are no values."""
    dense = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    layer = nn.Linear(3, 2, bias=False)
    lookup = nn.Embedding.from_pretrained(layer.weight.T)
    float8 = dense.to(torch.float8_e5m2)
    for rows in (dense, sparse.csr_array(dense.numpy()), dense.to_sparse_csr(), float8):
        assert compare(layer.weight.T, layer, rows).verdict in (BITS, ROUNDING)
        assert_causes(compare(lookup, layer, rows), "values ignored")
    assert compare(lookup, layer, (dense > 0).float()).verdict in (BITS, ROUNDING)


def test_a_matrix_of_ids_is_bags_for_an_embedding_bag():
    """For the other kinds, each id is a row of its own."""
    ids = torch.tensor([[0, 1], [2, 2]])
    bag = nn.EmbeddingBag(3, 2, mode="sum")
    linear = make_linear(bag.weight)
    report = compare(bag, linear, ids)
    assert (report.before.total, report.verdict in (BITS, ROUNDING)) == (4, True)
    assert compare(bag.weight, linear, ids).before.total == 8
    mean = nn.EmbeddingBag(3, 2)
    mean.load_state_dict(bag.state_dict())
    assert_causes(compare(mean, linear, ids), "mode")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_bound_holds_and_is_not_wide(dtype):
    """Sums are within it of NumPy's in float64; a table that differs by 0.01 is not."""
    torch.manual_seed(0)
    table = torch.randn(20, 3).to(dtype)
    rows = torch.randint(20, (60,)), torch.tensor([0, 20, 40, 60]), torch.rand(60).double()
    linear = make_linear(table)
    report = compare(table, linear, rows)
    assert report.causes == ()
    matrix = sparse.csr_array((rows[2], rows[0], rows[1]), shape=(3, 20))
    options = {"mode": "sum", "per_sample_weights": rows[2].to(dtype), "include_last_offset": True}
    sums = F.embedding_bag(rows[0], table, rows[1], **options).double().numpy()
    assert np.abs(sums - matrix @ table.double().numpy()).max() <= report.before.bound
    if dtype.itemsize > 2:
        linear.weight.data += 0.01
        assert_causes(compare(table, linear, rows), "weights")


ONES, MEAN = torch.ones(2, 1), {"mode": "mean", "include_last_offset": True}
WITH_BIAS, SMALLEST = nn.Linear(2, 1), 2.0**-149
WITH_BIAS.load_state_dict({"weight": ONES.T, "bias": ONES[0]})


@pytest.mark.parametrize(
    ("layer", "rows", "output", "agrees"),
    [
        (WITH_BIAS, ([0], [0, 1], [2.0]), 3 + 2.0**-21, True),
        (nn.EmbeddingBag.from_pretrained(ONES, **MEAN), ([0, 1], [0, 2]), 1 + 3 * 2.0**-23, True),
        (ONES, ([0], [0, 1], [2.0]), 2 + 2.0**-22, True),
        (ONES * 3 * SMALLEST, ([0], [0, 1], [0.5]), SMALLEST, True),
        (ONES.double() * 1.7e308, ([0, 1], [0, 2]), 0.0, False),
    ],
    ids=["bias", "mean", "product", "underflow", "overflow of the bound"],
)
def test_every_rounding_is_in_the_bound(layer, rows, output, agrees):
    """So is underflow; a bound that overflows allows no infinity."""
    dtype = layer.dtype if isinstance(layer, torch.Tensor) else torch.float32
    outputs = torch.tensor([[output]], dtype=dtype)
    report = compare(lambda _: outputs, layer, [*map(torch.tensor, rows)])
    assert report.verdict == (ROUNDING if agrees else "different")


OPTIONS = {
    "scale_grad_by_freq": {"scale_grad_by_freq": True},
    "sparse gradient": {"sparse": True},
    "padding_idx": {"padding_idx": 0},
}


@pytest.mark.parametrize("names", [*combinations(OPTIONS, 1), *combinations(OPTIONS, 2)])
@pytest.mark.parametrize("frozen", [False, True])
def test_causes_of_gradients_are_named(names, frozen):
    """Once the outputs agree: alone, in pairs, and with a frozen table."""
    pair = id_pair(SIZES[0])
    pair.ids_or_rows = torch.cat([pair.ids_or_rows, torch.tensor([2])])
    for name in names:
        pair.options |= OPTIONS[name]
    layers = pair.layers()
    layers[1].weight.requires_grad_(not frozen)
    report = compare(*layers, pair.ids_or_rows, gradients=True)
    assert (report.verdict, report.causes) == (BITS, ())
    assert_causes(report.gradients, *names, *(["frozen"] if frozen else []))
    assert not report.agrees


def test_gradients_of_repeated_ids_have_a_bound():
    """The layers may add the terms of a repeated id in different orders."""
    layer = nn.Embedding(3, 4)
    ids = torch.randint(3, (500,))
    report = compare(layer, make_linear(layer.weight), ids, gradients=True).gradients
    assert report.causes == ()
    assert 0 < report.before.bound < 0.1


def test_every_rounding_is_in_the_bound_of_a_gradient(monkeypatch):
    """A value is converted and multiplied once per side; here a product is off by one unit."""
    linear, eps = F.linear, torch.finfo(torch.float32).eps
    monkeypatch.setattr(F, "linear", lambda rows, *args: linear(rows * (1 + eps), *args))
    table = torch.zeros(200, 8)
    rows = torch.arange(200), torch.arange(201), torch.full((200,), 2.0).double()
    bag = nn.EmbeddingBag.from_pretrained(table, False, mode="sum", include_last_offset=True)
    assert compare(bag, make_linear(table), rows, gradients=True).gradients.verdict == ROUNDING


def test_tables_of_different_sizes():
    """Gradients are compared for shared rows, and sums without columns hold no number."""
    for rows in (5, 7):
        tables = TABLE[:rows].clone(), TABLE[: 12 - rows].clone()
        report = compare(*(table.requires_grad_() for table in tables), IDS, gradients=True)
        assert (report.gradients.verdict, report.gradients.before.total) == (BITS, 15)
    rows = torch.tensor([0, 1]), torch.tensor([0, 2])
    assert compare(TABLE[:, :0], TABLE[:, :0], rows).verdict == BITS
