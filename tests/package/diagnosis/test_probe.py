"""Planted lookups get the answer that their definition implies, and errors stop nothing."""

import numpy as np
import pytest
import torch
from torch import nn

from lookup_matmul import probe_lookup

TABLE = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
SPECIAL = torch.tensor([[1.0, 2.0], [float("nan"), 1.0], [float("inf"), 4.0], [-0.0, 5.0]])
VALID = ["ids of int64", "ids of int32", "first id", "last id", "one id twice", "no id"]
VALID += ["ids of two dimensions"]
EQUAL, RAISES = "equal in every bit", "raises ValueError: no"


def refuse(ids):
    """Refuse the ids that the plain definition has no row for, by NumPy alone."""
    if ids.numel() and not 0 <= ids.min() <= ids.max() < 4:
        raise ValueError("no\nsecond line")
    return TABLE.numpy()[ids.numpy()]


def only_int32(ids):
    """Refuse int64, as an exported model with int32 ids does."""
    assert ids.dtype == torch.int32, "int32 only"
    return TABLE[ids]


def write_to_ids(ids):
    """Return the right rows, and change the ids."""
    rows = TABLE[ids % 4]
    ids.zero_()
    return rows


# Name: a lookup, its answer to valid questions, and its answers to -1 and 4.
LOOKUPS = {
    "refuses": (refuse, EQUAL, RAISES, RAISES),
    "wraps": (lambda ids: np.take(TABLE.numpy(), ids.numpy(), 0, mode="wrap"), EQUAL, "row 3", "row 0"),
    "clamps": (lambda ids: TABLE[ids.clamp(0, 3)], EQUAL, "row 0", "row 3"),
    "zeros": (lambda ids: (ids[..., None] == torch.arange(4)).float() @ TABLE, EQUAL, "zeros", "zeros"),
    "fills": (lambda ids: torch.cat([TABLE, torch.full((1, 2), torch.nan)])[torch.where((ids < 0) | (ids > 3), 4, ids)], EQUAL, "NaN", "NaN"),
    "extends": (lambda ids: 2 * ids[..., None] + torch.tensor([1.0, 2.0]), EQUAL, "other numbers", "other numbers"),
    "read-only": (lambda ids: np.broadcast_to(refuse(ids), (*ids.shape, 2)), EQUAL, RAISES, RAISES),
    "needs a gradient": (lambda ids: nn.functional.embedding(ids.clamp(0, 3), TABLE.clone().requires_grad_()), EQUAL, "row 0", "row 3"),
    "writes to ids": (write_to_ids, EQUAL, "row 3", "row 0"),
    "float64": (lambda ids: refuse(ids).astype(np.float64), "equal in value, as torch.float64", RAISES, RAISES),
}  # fmt: skip


@pytest.mark.parametrize("name", LOOKUPS)
def test_answers_are_those_of_the_definition(name):
    """Valid ids, and -1 and the number of rows."""
    lookup, valid, negative, beyond = LOOKUPS[name]
    expected = dict.fromkeys(VALID, valid) | {"id -1": negative, "id 4": beyond}
    assert probe_lookup(lookup, TABLE, outside=True) == expected


def test_ids_outside_are_asked_only_on_request():
    """By default none is, and the caller can name them."""
    ids = []
    probe_lookup(lambda batch: ids.extend(batch.flatten().tolist()) or TABLE[batch], TABLE)
    assert {*ids} == {0, 3}
    assert [*probe_lookup(lambda ids: TABLE[ids], TABLE, outside=[-4])] == [*VALID, "id -4"]


def test_other_questions_are_asked_in_int32_where_int64_is_refused():
    """An exported model has one dtype of ids; a failed question stops none."""
    answers = probe_lookup(only_int32, TABLE, outside=True)
    assert answers.pop("ids of int64") == "raises AssertionError: int32 only"
    assert answers.pop("id -1") == "row 3"
    assert answers.pop("id 4").startswith("raises IndexError: ")
    assert {*answers.values()} == {EQUAL}
    assert {*probe_lookup((1).__truediv__, TABLE).values()} != {EQUAL}


@pytest.mark.parametrize(
    ("lookup", "answer"),
    [
        (lambda ids: TABLE.roll(1, 0)[ids], "different: id 0 has row 3"),
        (lambda ids: TABLE[ids] + 0.25, "different: id 0 has other numbers, off by up to 0.25"),
        (lambda ids: TABLE[ids] * 0, "different: id 0 has zeros"),
        (lambda ids: TABLE[ids].T, "different: shape (2, 1), expected (1, 2)"),
        (lambda ids: (TABLE[ids] + 0.25).half(), "different: id 0 has other numbers, off by up to 0.25, as torch.float16"),
        (lambda _: "rows", "raises TypeError: "),
    ],
)  # fmt: skip
def test_wrong_rows_are_named(lookup, answer):
    """Another row, a difference, zeros, a shape, and no numbers at all."""
    assert probe_lookup(lookup, TABLE)["first id"].startswith(answer)


def test_special_values_are_asked_for():
    """A lookup copies their bits; a product spoils each row of the columns with NaN or infinity."""
    special = [f"row with {name}" for name in ("NaN", "infinity", "-0.0", "none of them")]
    expected = dict.fromkeys([*VALID, *special], EQUAL)
    assert probe_lookup(lambda ids: nn.functional.embedding(ids, SPECIAL), SPECIAL) == expected
    product = probe_lookup(lambda ids: torch.eye(4)[ids] @ SPECIAL, SPECIAL)
    spoilt = "NaN in 1 of 2 numbers"
    assert [product[name] for name in special] == [
        EQUAL, *(f"different: id {i} has {spoilt}" for i in (2, 3, 0)),
    ]  # fmt: skip
    signs = probe_lookup(
        lambda ids: torch.eye(4)[ids] @ SPECIAL[[0, 0, 3, 3]], SPECIAL[[0, 0, 3, 3]]
    )
    assert signs["row with -0.0"] == "equal in value"
    negated = probe_lookup(lambda ids: SPECIAL.where(~SPECIAL.isnan(), -SPECIAL)[ids], SPECIAL)
    assert negated["row with NaN"] == "equal in value"  # with the other sign


def test_rows_that_cannot_be_told_apart_are_all_named():
    """Equal rows, and a row of zeros."""
    table = torch.tensor([[0.0], [1.0], [1.0]])
    assert probe_lookup(lambda ids: table[ids], table, outside=True)["id -1"] == "row 1 or row 2"
    zeros = probe_lookup(lambda ids: table[ids.clamp(0)], table, outside=[-1])
    assert zeros["id -1"] == "row 0 or zeros"


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_rounded_rows_are_told_from_exact_ones(dtype):
    """A table of bfloat16 that comes back as float32 has equal values; a rounded one has not."""
    torch.manual_seed(123)
    table = torch.randn(5, 3, dtype=torch.float64).to(dtype)
    answers = probe_lookup(lambda ids: table.float()[ids], table)
    exact = dtype.itemsize == 2
    beginning = "equal in value, as" if exact else "different: id 0 has other numbers, off by"
    assert answers["first id"].startswith(beginning)


@pytest.mark.parametrize(
    ("lookup", "weight", "error", "message"),
    [
        (TABLE, TABLE, TypeError, "lookup has type torch.Tensor, expected a function from ids to rows"),
        (refuse, TABLE.long(), TypeError, "weight has dtype torch.int64"),
        (refuse, TABLE[0], ValueError, "weight has shape"),
        (refuse, TABLE[:0], ValueError, r"weight has shape \(0, 2\), expected a row and a column"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(lookup, weight, error, message):
    """Unlike errors of the lookup, these are raised."""
    with pytest.raises(error, match=message):
        probe_lookup(lookup, weight)
