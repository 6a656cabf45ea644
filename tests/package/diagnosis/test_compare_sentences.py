"""Each sentence of a report is true of the numbers that it is about, by NumPy's account."""

import random
import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import compare, to_linear

pytestmark = pytest.mark.usefixtures("one_thread")

DTYPES = torch.float32, torch.bfloat16, torch.float16, torch.float64
NUMBERS = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 2.5, 300.0, 0.1, -1.3]
PLAIN = [-2.0, -0.7, 0.0, 1.0, 1.3, 2.0, 3.1]


def tables(seed):
    """Draw two small tables of special or plain numbers, alike in some way or in none."""
    draw = random.Random(seed)
    rows, dim = draw.randint(1, 5), draw.randint(1, 4)
    numbers = draw.choice([NUMBERS, PLAIN, PLAIN])
    first, other = (
        torch.tensor(draw.choices(numbers, k=rows * dim)).reshape(rows, dim) for _ in "ab"
    )
    kinds = draw.choices(DTYPES, k=2)
    change = [
        lambda t: t, lambda _: other, lambda t: -t, lambda t: 3 * t, lambda t: t + 1,
        F.normalize, lambda t: t.roll(1, 0), lambda t: t.masked_fill(other == 1, 0.5),
        lambda t: t.reshape(dim, rows).T, lambda t: t.repeat(1, 2),
    ][seed % 10]  # fmt: skip
    first = first.to(kinds[0])
    return first, change(first).to(kinds[draw.random() < 0.2])


def true_of_outputs(sentence, a, b):
    """Judge a sentence about two outputs by the plain definition of its words."""
    x, y = a.double().numpy(), b.double().numpy()
    if found := re.fullmatch(r"(dtype|shape) (.*) in a, (.*) in b", sentence):
        kind = {"dtype": lambda t: t.dtype, "shape": lambda t: tuple(t.shape)}[found[1]]
        return kind(a) != kind(b) and found.group(2, 3) == (str(kind(a)), str(kind(b)))
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    if sentence in ("all numbers are equal in value", "only signs of zeros or bits of NaN"):
        return same.all()
    with np.errstate(invalid="ignore"):
        gaps = np.where(same, 0, abs(x - y))
    if found := re.fullmatch(r"the largest difference is (\S+)", sentence):
        return float(found[1]) == pytest.approx(gaps.max(), rel=1e-2)
    differ = ~same
    if same.all() and a.dtype == b.dtype:
        bits = (t.contiguous().view(torch.uint8).numpy() for t in (a, b))
        differ = np.not_equal(*bits).reshape(*x.shape, -1).any(-1)
    if found := re.fullmatch(r"equal in every bit, all (\d+) numbers", sentence):
        return int(found[1]) == x.size and a.dtype == b.dtype and not differ.any()
    pattern = r"(\d+) of (\d+) numbers(?: differ)?, the first at \[(.*)\]: (\S+) in a, (\S+) in b"
    found = re.fullmatch(pattern, sentence)
    assert found, sentence
    place = tuple(np.argwhere(differ)[0])
    shown = [float(found[4]), float(found[5])]
    assert str(shown[0]) != str(shown[1]) or np.isnan(shown).all()
    return (int(found[1]), int(found[2]), found[3]) == (
        differ.sum(),
        x.size,
        ", ".join(map(str, place)),
    ) and shown == pytest.approx([x[place], y[place]], rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("seed", range(80))
def test_what_is_said_of_two_outputs_is_so(seed):
    """Whatever dtypes, shapes and special numbers meet; the verdict goes with it."""
    ids = random.Random(seed).choices(range(4), k=1 + seed % 4)
    a, b = (table[torch.tensor(ids) % len(table)] for table in tables(seed))
    report = compare(lambda _: a, lambda _: b, torch.tensor(ids))
    verdict, _, rest = repr(report.before).partition(": ")
    for sentence in rest.split("; ") if rest else [verdict]:
        assert true_of_outputs(sentence, a, b), (sentence, a, b)
    alike = a.shape == b.shape and a.dtype == b.dtype
    x, y = a.double().numpy(), b.double().numpy()
    assert report.agrees is (alike and np.array_equal(x, y, equal_nan=True))
    assert (verdict == "different") is not report.agrees
    for note in report.notes[2:]:
        if found := re.fullmatch(r"b is (\S+) times a", note):
            assert y == pytest.approx(float(found[1]) * x, rel=5e-2)
        else:
            assert note == "b minus a is the same in each row, as where a bias is added"
            assert np.ptp(y - x, axis=0) == pytest.approx(0, abs=0.1 * np.abs(y).max())


@pytest.mark.parametrize("seed", range(80))
def test_what_is_said_of_two_tables_is_so(seed):
    """The evidence of a cause that is the only one, of a table that is looked up and a product."""
    first, second = tables(seed)
    linear = to_linear(nn.Embedding.from_pretrained(second, freeze=False), share=False)
    ids = torch.arange(min(len(first), len(second)))
    causes = compare(first, linear, ids).causes
    if len(causes) != 1:
        return
    (cause,), a, b = causes, first.double().numpy(), second.double().numpy()
    for rows, side in re.findall(r"rows? ([\d, ]+) of (a|b)", cause.evidence):
        rows, table = [int(row) for row in rows.split(",")], {"a": a, "b": b}[side]
        if cause.name == "NaN or infinity":
            assert rows == np.flatnonzero(~np.isfinite(table).all(1)).tolist()
        elif cause.name == "negative zero":
            assert rows == np.flatnonzero(((table == 0) & np.signbit(table)).any(1)).tolist()
    if cause.name == "order of the rows":
        pairs = re.findall(r"rows ([\d, ]+) of", cause.evidence)
        here, there = ([int(row) for row in rows.split(",")] for rows in pairs)
        np.testing.assert_array_equal(a[here], b[there])
    elif found := re.search(r"holds (\S+) times", cause.evidence):
        assert b == pytest.approx(float(found[1]) * a, rel=5e-2, nan_ok=True)
    elif found := re.search(r"lengths are (.*) in a .* and (.*) in b", cause.evidence):
        for ends, rows in zip(found.groups(), (a, b), strict=True):
            sizes = np.linalg.norm(rows[ids][rows[ids].any(1)], axis=1)
            shown = [float(end) for end in ends.split(" to ")]
            assert (shown[0], shown[-1]) == pytest.approx((sizes.min(), sizes.max()), rel=1e-2)
    elif cause.name == "reshaped weight":
        assert (a == b.reshape(a.T.shape).T).all() or (b == a.reshape(a.T.shape).T).all()
    elif cause.name == "weights":
        one, two = a[: len(ids)], b[: len(ids)]
        differ = ~(
            (one == two) & (np.signbit(one) == np.signbit(two)) | np.isnan(one) & np.isnan(two)
        )
        found = re.search(
            r"(\d+) of (\d+) numbers of the tables differ, in rows? (.*?);", cause.evidence
        )
        rows = ", ".join(map(str, np.flatnonzero(differ.any(1))))
        assert (int(found[1]), int(found[2]), found[3]) == (differ.sum(), one.size, rows)
    elif cause.name == "dtype":
        assert cause.evidence == f"a (table) is {first.dtype}, b (Linear) is {second.dtype}"
