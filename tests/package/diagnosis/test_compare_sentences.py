"""Each sentence of a report is true of the numbers that it is about, according to NumPy."""

import random
import re

import numpy as np
import pytest
import torch
from planted import make_linear
from torch.nn import functional as F  # noqa: N812

from lookup_matmul import compare

DTYPES = torch.float32, torch.bfloat16, torch.float16, torch.float64
NUMBERS = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 2.5, 300.0, 0.1, -1.3]
PLAIN = [-2.0, -0.7, 0.0, 1.0, 1.3, 2.0, 3.1]


def make_tables(seed):
    """Return two small tables of special or plain numbers, often related."""
    draw = random.Random(seed)
    rows, dim = draw.randint(1, 5), draw.randint(1, 4)
    numbers = draw.choice([NUMBERS, PLAIN, PLAIN])
    first, unrelated = (
        torch.tensor(draw.choices(numbers, k=rows * dim)).reshape(rows, dim) for _ in "ab"
    )
    dtypes = draw.choices(DTYPES, k=2)
    change = [
        lambda t: t, lambda _: unrelated, lambda t: -t, lambda t: 3 * t, lambda t: t + 1,
        F.normalize, lambda t: t.roll(1, 0), lambda t: t.masked_fill(unrelated == 1, 0.5),
        lambda t: t.reshape(dim, rows).T, lambda t: t.repeat(1, 2),
    ][seed % 10]  # fmt: skip
    first = first.to(dtypes[0])
    return first, change(first).to(dtypes[draw.random() < 0.2])


def is_true_of_outputs(sentence, a, b):
    """Return whether a sentence about two outputs is true by the definition of its words."""
    x, y = a.double().numpy(), b.double().numpy()
    if match := re.fullmatch(r"(dtype|shape) (.*) in a, (.*) in b", sentence):
        texts = [str(t.dtype if match[1] == "dtype" else tuple(t.shape)) for t in (a, b)]
        return texts[0] != texts[1] and [*match.group(2, 3)] == texts
    equal = (x == y) | (np.isnan(x) & np.isnan(y))
    if sentence in ("all numbers are equal in value", "only signs of zeros or bits of NaN"):
        return equal.all()
    with np.errstate(invalid="ignore"):
        gaps = np.where(equal, 0, abs(x - y))
    if match := re.fullmatch(r"the largest difference is (\S+)", sentence):
        return float(match[1]) == pytest.approx(gaps.max(), rel=1e-2)
    differs = ~equal
    if equal.all() and a.dtype == b.dtype:
        bits = (t.contiguous().view(torch.uint8).numpy() for t in (a, b))
        differs = np.not_equal(*bits).reshape(*x.shape, -1).any(-1)
    if match := re.fullmatch(r"equal in every bit, all (\d+) numbers", sentence):
        return int(match[1]) == x.size and a.dtype == b.dtype and not differs.any()
    pattern = r"(\d+) of (\d+) numbers(?: differ)?, the first at \[(.*)\]: (\S+) in a, (\S+) in b"
    match = re.fullmatch(pattern, sentence)
    assert match, sentence
    index = tuple(np.argwhere(differs)[0])
    values = [float(match[4]), float(match[5])]
    assert str(values[0]) != str(values[1]) or np.isnan(values).all()
    counts = int(match[1]), int(match[2]), match[3]
    return counts == (
        differs.sum(),
        x.size,
        ", ".join(map(str, index)),
    ) and values == pytest.approx([x[index], y[index]], rel=1e-5, nan_ok=True)


@pytest.mark.parametrize("seed", range(80))
def test_sentences_about_two_outputs_are_true(seed):
    """For all dtypes, shapes and special numbers; the verdict matches them."""
    ids = torch.tensor(random.Random(seed).choices(range(4), k=1 + seed % 4))
    a, b = (table[ids % len(table)] for table in make_tables(seed))
    report = compare(lambda _: a, lambda _: b, ids)
    verdict, _, sentences = repr(report.before).partition(": ")
    for sentence in sentences.split("; ") if sentences else [verdict]:
        assert is_true_of_outputs(sentence, a, b), (sentence, a, b)
    x, y = a.double().numpy(), b.double().numpy()
    equal = a.dtype == b.dtype and np.array_equal(x, y, equal_nan=True)
    assert report.agrees is (a.shape == b.shape and equal)
    assert (verdict == "different") is not report.agrees
    for note in report.notes[2:]:
        if match := re.fullmatch(r"b is (\S+) times a", note):
            assert y == pytest.approx(float(match[1]) * x, rel=5e-2)
        else:
            assert note == "b minus a is the same in each row, as where a bias is added"
            assert np.ptp(y - x, axis=0) == pytest.approx(0, abs=0.1 * np.abs(y).max())


@pytest.mark.parametrize("seed", range(80))
def test_sentences_about_two_tables_are_true(seed):
    """The evidence of a single cause, for a table that is looked up and one that is multiplied."""
    first, second = make_tables(seed)
    linear = make_linear(second)
    ids = torch.arange(min(len(first), len(second)))
    causes = compare(first, linear, ids).causes
    if len(causes) != 1:
        return
    (cause,), a, b = causes, first.double().numpy(), second.double().numpy()
    for listing, side in re.findall(r"rows? ([\d, ]+) of (a|b)", cause.evidence):
        rows, table = [int(row) for row in listing.split(",")], {"a": a, "b": b}[side]
        if cause.name == "NaN or infinity":
            assert rows == np.flatnonzero(~np.isfinite(table).all(1)).tolist()
        elif cause.name == "negative zero":
            assert rows == np.flatnonzero(((table == 0) & np.signbit(table)).any(1)).tolist()
    if cause.name == "order of the rows":
        listings = re.findall(r"rows ([\d, ]+) of", cause.evidence)
        a_rows, b_rows = ([int(row) for row in listing.split(",")] for listing in listings)
        np.testing.assert_array_equal(a[a_rows], b[b_rows])
    elif match := re.search(r"holds (\S+) times", cause.evidence):
        assert b == pytest.approx(float(match[1]) * a, rel=5e-2, nan_ok=True)
    elif match := re.search(r"lengths are (.*) in a .* and (.*) in b", cause.evidence):
        for limits, table in zip(match.groups(), (a, b), strict=True):
            lengths = np.linalg.norm(table[ids][table[ids].any(1)], axis=1)
            range_ends = [float(limit) for limit in limits.split(" to ")]
            expected = lengths.min(), lengths.max()
            assert (range_ends[0], range_ends[-1]) == pytest.approx(expected, rel=1e-2)
    elif cause.name == "reshaped weight":
        assert (a == b.reshape(a.T.shape).T).all() or (b == a.reshape(a.T.shape).T).all()
    elif cause.name == "weights":
        x, y = a[: len(ids)], b[: len(ids)]
        equal = (x == y) & (np.signbit(x) == np.signbit(y)) | np.isnan(x) & np.isnan(y)
        pattern = r"(\d+) of (\d+) numbers of the tables differ, in rows? (.*?);"
        match = re.search(pattern, cause.evidence)
        rows = ", ".join(map(str, np.flatnonzero(~equal.all(1))))
        assert (int(match[1]), int(match[2]), match[3]) == ((~equal).sum(), x.size, rows)
    elif cause.name == "dtype":
        assert cause.evidence == f"a (table) is {first.dtype}, b (Linear) is {second.dtype}"
