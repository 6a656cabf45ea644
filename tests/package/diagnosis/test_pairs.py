"""About a hundred pairs with one planted fault each: its cause is first, and no other is named."""

import re
from copy import deepcopy
from itertools import product

import numpy as np
import pytest
import torch
from planted import make_linear, snapshot
from torch import nn
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import compare

torch.manual_seed(0)
TABLE, WIDE, SQUARE = torch.randn(9, 5), torch.randn(40, 20), torch.randn(6, 6)
IDS, BAGS = torch.tensor([2, 0, 3, 7]), torch.tensor([[1, 2, 3], [4, 5, 6], [3, 3, 7]])
HIDDEN = torch.randn(12, 5)
COLUMNS, TOKENS = torch.tensor([1, 0, 2, 4, 3]), torch.tensor([1, 0, 2, 3, 4, 5, 7, 8, 6])
ADAPTER = torch.randn(40, 2) @ torch.randn(2, 20)


def embed(table, **options):
    """Return an Embedding with a copy of a table."""
    return nn.Embedding.from_pretrained(table.clone(), freeze=False, **options)


def bag(table, mode="sum", **options):
    """Return an EmbeddingBag with a copy of a table."""
    options.setdefault("include_last_offset", True)
    return nn.EmbeddingBag.from_pretrained(table.clone(), mode=mode, **options)


def head(weight, bias=None):
    """Return a Linear with a copy of a weight, as a head has it."""
    layer = nn.Linear(*weight.shape[::-1], bias=bias is not None, dtype=weight.dtype)
    layer.weight.data = weight.clone()
    if bias is not None:
        layer.bias.data = bias.clone()
    return layer


def tie(weight):
    """Return an Embedding and a head with one Parameter."""
    embedding, tied = embed(weight), head(weight)
    tied.weight = embedding.weight
    return embedding, tied


def write(table, place, number):
    """Return a copy of a table with another number or row at a place."""
    table = table.clone()
    table[place] = number
    return table


def average(table, omitted=-1):
    """Return a function that averages the rows of ids, without those of one id."""

    def mean(ids):
        used = (ids != omitted)[..., None]
        return (table[ids] * used).sum(1) / used.sum(1)

    return mean


KINDS = {
    "Embedding and Linear": (embed, make_linear),
    "two Embeddings": (embed, embed),
    "bag and table": (bag, torch.Tensor.clone),
    "table and Linear": (torch.Tensor.clone, make_linear),
}
# Of the table of b: the fault, and its cause.
TABLE_FAULTS = {
    "drawn anew": (torch.randn_like, "weights"),
    "one row is another": (lambda t: write(t, 3, 1.0), "weights"),
    "one number is another": (lambda t: write(t, (3, 1), 1.0), "weights"),
    "rows shifted": (lambda t: t.roll(1, 0), "order of the rows"),
    "rows upside down": (lambda t: t.flip(0), "order of the rows"),
    "columns permuted": (lambda t: t[:, COLUMNS], "order of the columns"),
    "times the root": (lambda t: t * 5**0.5, "scaled rows"),
    "a third": (lambda t: t / 3, "scaled rows"),
    "normalized": (F.normalize, "scaled rows"),
    "float16": (torch.Tensor.half, "dtype"),
    "float64": (torch.Tensor.double, "dtype"),
    "rounded to int8": (lambda t: (t * 40).round() / 40, "weights"),
}
# Both layers, the input and the causes; the last names a note or a part of the evidence.
LAYERS = {
    "bias": (embed(TABLE), head(TABLE.T, torch.ones(5)), IDS, "bias"),
    "square, not transposed": (embed(SQUARE), head(SQUARE), IDS[:3], "transposed weight"),
    "reshaped": (embed(TABLE), head(TABLE.reshape(5, 9)), IDS, "reshaped weight"),
    "transposed table": (TABLE, TABLE.T, IDS[:3], "transposed weight"),
    "NaN that no id reads": (embed(NAN := write(TABLE, (8, 1), torch.nan)), make_linear(NAN), IDS, "NaN or infinity"),
    "padding row": (embed(write(TABLE, 0, 0.0), padding_idx=0), make_linear(TABLE), IDS, "padding_idx"),
    "max_norm": (embed(TABLE, max_norm=0.5), make_linear(TABLE), IDS, "max_norm"),
    "id out of range": (embed(TABLE), embed(TABLE[:7]), IDS, "ids out of range"),
    "adapter in a table": (embed(WIDE), embed(WIDE + ADAPTER), torch.arange(40), "weights", "b minus a has rank 2"),
    "adapter beyond the ids": (embed(WIDE), make_linear(WIDE + ADAPTER), IDS, "weights", "b minus a has rank 2"),
    "compiled, scaled": (torch.compile(embed(TABLE), backend="eager"), embed(2 * TABLE), IDS, "scaled rows"),
}  # fmt: skip
HEADS = {
    "a dimension permuted": (head(TABLE), head(TABLE[:, COLUMNS]), HIDDEN, "order of the columns"),
    "two biases, one head scaled": (head(TABLE, torch.ones(9)), head(TABLE * 3, torch.ones(9)), HIDDEN, "scaled rows"),
    "longer, drawn anew, by ids": (embed(TABLE), head(torch.randn(12, 5)), IDS, "weights"),
    "other tokens": (head(TABLE), head(TABLE[TOKENS]), HIDDEN, "order of the rows"),
    "other tokens, with bias": (head(TABLE, torch.arange(9.0)), head(TABLE[TOKENS], torch.arange(9.0)[TOKENS]), HIDDEN, "order of the rows"),
    "bias of other tokens": (head(TABLE, torch.arange(9.0)), head(TABLE, torch.arange(2.0, 11)), HIDDEN, "bias", "and 7 of those in b are elsewhere in a"),
    "bias permuted": (head(TABLE, torch.arange(9.0)), head(TABLE, TOKENS.float()), HIDDEN, "bias", "5 of 9 numbers of the biases differ, and 5 of"),
    "bias drawn anew": (head(TABLE, torch.zeros(9)), head(TABLE, torch.rand(9)), HIDDEN, "bias"),
    "bias in one": (head(TABLE), head(TABLE, torch.ones(9)), HIDDEN, "bias"),
    "scaled": (head(TABLE), head(TABLE * 3), HIDDEN, "scaled rows"),
    "drawn anew": (head(TABLE), head(TABLE + TABLE.roll(1)), HIDDEN, "weights"),
    "float16": (head(TABLE), head(TABLE.half()), HIDDEN, "dtype"),
    "square, transposed": (head(SQUARE), head(SQUARE.T), torch.randn(12, 6), "transposed weight"),
    "another tie, by ids": (embed(TABLE), head(TABLE + TABLE.roll(1)), IDS, "weights"),
    "other tokens, by ids": (embed(TABLE), head(TABLE[TOKENS]), IDS, "order of the rows"),
    "scaled, by ids": (embed(TABLE), head(TABLE * 3), IDS, "scaled rows"),
    "scaled, by hidden rows": (embed(TABLE), head(TABLE * 3), HIDDEN, "scaled rows"),
    "other tokens, by hidden rows": (TABLE, head(TABLE[TOKENS]), HIDDEN, "order of the rows"),
    "bias, by hidden rows": (embed(TABLE), head(TABLE, torch.ones(9)), HIDDEN, "bias"),
}  # fmt: skip
COUNTS = (torch.tensor([1, 2, 3, 2]), torch.tensor([0, 2, 2, 4]), torch.tensor([2.0, 1, 1, 3]))
SUMS = {
    "mean": (bag(TABLE, "mean"), bag(TABLE), BAGS, "mode"),
    "maximum": (bag(TABLE, "max"), bag(TABLE), BAGS, "mode"),
    "mean of products": (bag(TABLE, "mean"), make_linear(TABLE), BAGS, "mode"),
    "last offset": (bag(TABLE, include_last_offset=False), bag(TABLE), COUNTS[:2], "offsets"),
    "padding in one": (bag(TABLE, padding_idx=3), bag(TABLE), BAGS, "padding_idx"),
    "values": (embed(TABLE), make_linear(TABLE), COUNTS, "values ignored"),
    "unknown left out": (average(TABLE, 3), bag(TABLE, "mean"), BAGS, "padding_idx", "(callable) leaves out the id 3, which all bags"),
    "unknown left out of a sum": (lambda ids: bag(TABLE, padding_idx=3)(ids), bag(TABLE), BAGS, "padding_idx"),
    "unknown in a mean": (average(TABLE), bag(TABLE, "mean", padding_idx=3), BAGS, "padding_idx"),
    "padding left out": (average(TABLE, 0), bag(TABLE, "mean"), torch.tensor([[8, 1, 0, 0], [4, 5, 6, 7]]), "padding_idx"),
    "padding of the last id": (average(TABLE, 8), bag(TABLE, "mean"), torch.tensor([[1, 2, 8], [4, 5, 6], [1, 3, 8]]), "padding_idx"),
    "a function's sum": (lambda ids: TABLE[ids].sum(1), bag(TABLE, "mean"), BAGS, "mode"),
}  # fmt: skip
NUMPY = TABLE.numpy()
FUNCTIONS = {
    "NumPy, bias": (lambda ids: NUMPY[ids.numpy()] + np.arange(5, dtype="float32"), TABLE, IDS, None, "b minus a is the same in each row"),
    "session, factor": (lambda ids: [NUMPY[ids.numpy()] * 3], lambda ids: TABLE[ids], IDS, None, "b is 0.333333 times a"),
    "NumPy, float64": (lambda ids: NUMPY.astype("float64")[ids.numpy()], TABLE, IDS, "dtype"),
    "unknown id": (average(TABLE, 3), average(TABLE), BAGS, None, "the rows that differ, 2 of 3, hold the id 3, and no"),
    "padding": (average(TABLE, 0), average(TABLE), torch.tensor([[1, 2, 0, 0], [4, 5, 6, 7]]), None, "the rows that differ, 1 of 2, hold the id 0 or"),
    "one row": (lambda ids: TABLE[ids], lambda ids: write(TABLE, 3, 1.0)[ids], IDS, None, "the rows that differ, 1 of 4, hold the id 3, and no"),
    "mean or sum": (lambda ids: TABLE[ids].mean(1), lambda ids: TABLE[ids].sum(1), BAGS, None, "b is 3 times a"),
    "normalized": (lambda ids: TABLE[ids], lambda ids: F.normalize(TABLE)[ids], IDS, None, "each row of b is a multiple of that of a"),
    "columns": (lambda x: x @ TABLE.T, lambda x: x.numpy() @ NUMPY[TOKENS].T, HIDDEN, None, "the columns of b, in the order [1, 0, 2, 3, 4, 5, 8, 6, 7], are"),
    "adapter": (lambda x: x @ WIDE + x @ ADAPTER, WIDE, torch.randn(16, 40), None, "b minus a has rank 2"),
    "session of a head with an adapter": (lambda x: x @ (WIDE + ADAPTER), lambda x: [x.numpy() @ WIDE.numpy()], torch.randn(16, 40), None, "b minus a has rank 2"),
    "ids off by one": (lambda ids: TABLE[ids + 1], TABLE, IDS, None, "a has for each id the row of b after it"),
    "positions": (lambda ids: TABLE[ids], lambda ids: TABLE[ids] + HIDDEN[:3], BAGS, None, "b minus a is the same at each place"),
    "codes": (lambda ids: (WIDE * 30).round()[ids], WIDE, torch.arange(9), None, "nearly a multiple of that of a, by 0.03"),
    "all bags padded": (average(WIDE, 0), average(WIDE), torch.tensor([[1, 2, 0], [3, 0, 0], [4, 5, 0]]), None, "each row holds the id 0, which one side may"),
    "counts ignored": (lambda rows: TABLE[rows[0]].reshape(2, 2, 5).sum(1), TABLE, (IDS, torch.tensor([0, 2, 4]), torch.tensor([1.0, 1, 2, 1])), "values ignored"),
    "mean of sums": (average(TABLE), bag(TABLE), BAGS, "mode"),
    "bias of a head": (head(TABLE, torch.ones(9)), lambda rows: rows.numpy() @ NUMPY.T, HIDDEN, "bias"),
    "a factor, and a row of zeros": (lambda ids: write(TABLE, 0, 0.0)[ids], lambda ids: 3 * write(TABLE, 0, 0.0)[ids], IDS, None, "b is 3 times a"),
    "dropout": (lambda ids: F.dropout(TABLE[ids]), TABLE, IDS, "not repeatable"),
    "not transposed": (lambda ids: SQUARE.T[ids], SQUARE, IDS[:3], "transposed weight"),
    "float16": (lambda ids: TABLE.half()[ids], TABLE, IDS, "dtype"),
}  # fmt: skip
EQUAL = {
    "tied, by ids": (*tie(TABLE), torch.tensor([1, 8])),
    "tied, by hidden rows": (*tie(TABLE), HIDDEN),
    "tied and square": (*tie(SQUARE), IDS[:3]),
    "head of the same numbers": (head(TABLE), TABLE, torch.tensor([1, 8])),
    "head with a bias": (embed(TABLE), head(TABLE, torch.ones(9)), IDS),
    "function of a head": (lambda ids: TABLE[ids], head(TABLE), IDS),
    "head and function": (head(TABLE), lambda rows: rows @ TABLE.T, HIDDEN),
    "two tables as heads": (TABLE, embed(TABLE), HIDDEN),
    "transposed copy": (embed(SQUARE), make_linear(SQUARE), IDS[:3]),
    "compiled": (torch.compile(embed(TABLE), backend="eager"), make_linear(TABLE), IDS),
    "NumPy": (lambda ids: NUMPY[ids.numpy()], embed(TABLE), IDS),
    "bags": (average(TABLE, 3), bag(TABLE, "mean", padding_idx=3), BAGS),
}
PAIRS = {
    **{
        f"{kind}: {fault}": (make_a(TABLE), make_b(change(TABLE)), IDS if "bag" not in kind else IDS[:, None], cause)
        for (kind, (make_a, make_b)), (fault, (change, cause)) in product(KINDS.items(), TABLE_FAULTS.items())
    },
    **{f"head: {name}": pair for name, pair in HEADS.items()},
    **{f"bag: {name}": pair for name, pair in SUMS.items()},
    **{f"function: {name}": pair for name, pair in FUNCTIONS.items()},
    **LAYERS,
}  # fmt: skip


def test_there_are_about_a_hundred_pairs():
    """Beside those that are equal."""
    assert len(PAIRS) > 100


def modules(*layers):
    """Return the layers that are modules."""
    return [layer for layer in layers if isinstance(layer, nn.Module)]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_planted_cause_is_first_and_its_remedy_works(pair):
    """No other cause is named; code in a remedy makes the layers equal, and nothing else changes."""
    a, b, rows, cause, *texts = PAIRS[pair]
    tensors = [t for t in (a, b, rows) if isinstance(t, torch.Tensor)]
    before = snapshot(modules(a, b), tensors)
    report = compare(a, b, rows)
    if cause != "not repeatable":
        assert snapshot(modules(a, b), tensors) == before
    assert [c.name for c in report.causes] == ([] if cause is None else [cause]), report
    assert not report.agrees
    for text in texts:
        assert text in str(report)
    if cause and report.causes[0].verified:
        assert compare_after(report, a, b, rows)


def compare_after(report, a, b, rows):
    """Return whether the sides agree once the code of the remedy has run on copies."""
    if not (code := re.search(r"(with torch|[ab](\.weight)? = ).*", report.causes[0].remedy)):
        return report.after.verdict.startswith("equal")
    a, b = (
        deepcopy(side) if not callable(side) or isinstance(side, nn.Module) else side
        for side in (a, b)
    )
    namespace = {"torch": torch, "a": a, "b": b}
    exec(code[0], namespace)
    return compare(namespace["a"], namespace["b"], rows).agrees


@pytest.mark.parametrize("pair", EQUAL)
def test_right_layers_are_equal_and_get_no_advice(pair):
    """A tied head above all."""
    report = compare(*EQUAL[pair])
    assert report.agrees
    assert report.causes == ()
