"""Bytes and operations against counts by hand, allocated bytes against torch."""

import pytest
from made_up_recording import every_form

from lookup_matmul.costs import Case, kernels, sample_ids
from lookup_matmul.costs.cases import sample_inputs
from lookup_matmul.costs.contenders import contender
from lookup_matmul.costs.memory import recorded_events, sizes_of
from lookup_matmul.costs.predict import key_of

# 9 ids, 4 of them distinct, of 8 bytes; a table of 7 rows of 5 numbers; bags of 3 ids.
# Kernels by form: name, bytes of ids, numbers read and written, operations.
IDS, FOUND, RESULT, TABLE, ONE_HOT = 9 * 8, 4 * 5, 9 * 5, 7 * 5, 9 * 7
PRODUCT = ("product", 0, ONE_HOT + TABLE + RESULT, 2 * 9 * 7 * 5)
ENCODED = [("zeros", 0, ONE_HOT, 0), ("ones", IDS, 0, 0)]  # ones into the same zeros
FORWARD = {
    "lookup": [("rows", IDS, FOUND + RESULT, 0)],
    "one-hot built": ENCODED,
    "one-hot built and multiplied": [*ENCODED, PRODUCT],
    "multiplication alone": [PRODUCT],
    "compiled one-hot": [("comparison", IDS, ONE_HOT, ONE_HOT), PRODUCT],
    "sparse product": [  # indices of 4 bytes: a start for each row and the end, and the ids
        ("zeros", 0, RESULT, 0),
        ("sum", 4 * 10 + 4 * 9, 9 + FOUND + RESULT, 2 * RESULT),
    ],
}
SUMS, NOTED = 3 * 5, 3 * 8 + 3 * 16  # of each bag its start, and two notes of torch
BAGS = {
    "embedding bag": [("sum", IDS + NOTED, 9 + FOUND + SUMS, 2 * RESULT)],
    "embedding bag, without weights": [("sum", IDS + NOTED, FOUND + SUMS, RESULT)],
    "sparse product": [
        ("zeros", 0, SUMS, 0),
        ("sum", 4 * 4 + 4 * 9, 9 + FOUND + SUMS, 2 * RESULT),
    ],
    "multiplication alone": [("product", 0, 3 * 7 + TABLE + SUMS, 2 * 3 * 7 * 5)],
}
ADDED = [("zeros", 0, TABLE, 0), ("sum", IDS, RESULT, RESULT)]
BACKWARD = {
    "lookup": ADDED,
    "lookup, deterministic": ADDED,
    "lookup, sparse gradient": [],
    "lookup, sparse and coalesced": [  # 9 ids are sorted in 4 rounds of merging
        ("sort", 3 * IDS, 0, 9 * 4),
        ("sum", 2 * IDS + 4 * 8, RESULT + FOUND, (9 - 4) * 5),
    ],
    "index_add": ADDED,
    "multiplication alone": [PRODUCT],
}
LOOKUP = Case("lookup", "forward", 7, 5, 9, "uniform", "float32", "hot")
each_form = pytest.mark.parametrize("case", every_form(LOOKUP, 3), ids=key_of)


@each_form
@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("tf32", 4), ("bfloat16", 2)])
def test_every_form_is_counted_as_by_hand(case, dtype, size):
    """Each distinct address read counts once, each written once, zeros added into no more."""
    counted = [(p.name, p.bytes, p.operations) for p in kernels(case._replace(dtype=dtype), 4)]
    expected = BAGS if case.bags else FORWARD if case.direction == "forward" else BACKWARD
    assert counted == [(name, ids + size * n, *rest) for name, ids, n, *rest in expected[case.form]]
    if case.form == "lookup, sparse and coalesced":
        assert kernels(case._replace(ids=8), 4)[0].operations == 8 * 3


@each_form
def test_allocated_bytes_against_the_allocator(case):
    """Torch asks for these arrays and, beyond them, for less than the smallest of them."""
    if case.form == "compiled one-hot":
        pytest.skip("compiling takes seconds, and what a compiler writes is its own choice")
    case = case._replace(vocab_size=300, dim=64, ids=512, bags=case.bags and 8)
    ids = sample_ids("uniform", 512, 300)
    call = contender(case, sample_inputs(case, ids, "cpu"))
    call()
    seen = sum(size for size in sizes_of(recorded_events(call)) if size > 0)
    counted = sum(part.allocated_bytes for part in kernels(case, ids.unique().numel()))
    # Some versions of torch note the bag of each entry.
    extra = 8 * 512 * bool(case.bags)
    assert counted <= seen <= counted + extra
    assert extra < 300 * 64 * 4


def test_the_working_set_holds_each_tensor_of_the_call_once():
    """By hand, 3 ids over 4 rows of 5 numbers: ids 24, table 80, encoding 48, result 60 bytes."""
    case = LOOKUP._replace(vocab_size=4, ids=3)
    expected = {
        "lookup": 24 + 2 * 20 + 60,
        "one-hot built": 24 + 48,
        "one-hot built and multiplied": 24 + 80 + 48 + 60,
        "multiplication alone": 48 + 80 + 60,
    }
    for form, size in expected.items():
        assert {part.working_set for part in kernels(case._replace(form=form), 2)} == {size}
    gradient = case._replace(direction="backward")
    assert kernels(gradient, 2)[0].working_set == 24 + 60 + 80
