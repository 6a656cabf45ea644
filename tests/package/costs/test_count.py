"""Bytes and operations against counts by hand, allocated bytes against torch."""

import pytest
import torch

from lookup_matmul.costs import Case, kernels, sample_ids
from lookup_matmul.costs.cases import sample_inputs
from lookup_matmul.costs.contenders import contender, forms_of
from lookup_matmul.costs.memory import recorded_events, sizes_of

# 9 ids, 4 of them distinct, of 8 bytes; a table of 7 rows of 5 numbers; bags of 3 ids.
# Kernels by form: name, bytes of ids, numbers read and written, operations, divisions.
IDS, FOUND, RESULT, TABLE, ONE_HOT = 9 * 8, 4 * 5, 9 * 5, 7 * 5, 9 * 7
PRODUCT = ("product", 0, ONE_HOT + TABLE + RESULT, 2 * 9 * 7 * 5, 0)
ENCODED = [("zeros", 0, ONE_HOT, 0, 0), ("ones", IDS, 0, 0, 0)]  # ones into the same zeros
FORWARD = {
    "lookup": [("rows", IDS, FOUND + RESULT, 0, 0)],
    "one-hot built": ENCODED,
    "one-hot built and multiplied": [*ENCODED, PRODUCT],
    "multiplication alone": [PRODUCT],
    "compiled one-hot": [("comparison", IDS, ONE_HOT, ONE_HOT, 0), PRODUCT],
    "sparse product": [  # indices of 4 bytes: a start for each row and the end, and the ids
        ("zeros", 0, RESULT, 0, 0),
        ("sum", 4 * 10 + 4 * 9, 9 + FOUND + RESULT, 2 * RESULT, 0),
    ],
}
SUMS, NOTED = 3 * 5, 3 * 8 + 3 * 16  # of each bag its start, and two notes of torch
BAGS = {
    "embedding bag": [("sum", IDS + NOTED, 9 + FOUND + SUMS, 2 * RESULT, 0)],
    "embedding bag, without weights": [("sum", IDS + NOTED, FOUND + SUMS, RESULT, 0)],
    "sparse product": [
        ("zeros", 0, SUMS, 0, 0),
        ("sum", 4 * 4 + 4 * 9, 9 + FOUND + SUMS, 2 * RESULT, 0),
    ],
    "multiplication alone": [("product", 0, 3 * 7 + TABLE + SUMS, 2 * 3 * 7 * 5, 0)],
}
ADDED = [("zeros", 0, TABLE, 0, 0), ("sum", IDS, RESULT, RESULT, 0)]
BACKWARD = {
    "lookup": ADDED,
    "lookup, deterministic": ADDED,
    "lookup, sparse gradient": [],
    "lookup, sparse and coalesced": [  # 9 ids are sorted in 4 rounds of merging
        ("sort", 3 * IDS, 0, 9 * 4, 0),
        ("sum", 2 * IDS + 4 * 8, RESULT + FOUND, (9 - 4) * 5, 0),
    ],
    "index_add": ADDED,
    "multiplication alone": [PRODUCT],
}
# Kernels of optimizers: name, arrays read and written, operations and divisions for each number.
ADAM = [
    ("average", "mg", "m", 3, 0), ("decay", "v", "v", 1, 0), ("square", "vg", "v", 3, 0),
    ("root", "v", "s", 0, 1), ("correct", "s", "t", 0, 1), ("epsilon", "t", "t", 1, 0),
    ("update", "pmt", "p", 2, 1),
]  # fmt: skip
SPARSE_ADAM = [
    ("pick", "m", "a", 0, 0), ("mask", "a", "b", 1, 0), ("difference", "gb", "c", 1, 0),
    ("scale", "c", "c", 1, 0), ("add", "cm", "m", 1, 0),
    ("pick", "v", "d", 0, 0), ("mask", "d", "e", 1, 0), ("square", "g", "f", 1, 0),
    ("difference", "fe", "f", 1, 0), ("scale", "f", "f", 1, 0), ("add", "fv", "v", 1, 0),
    ("average", "cb", "c", 1, 0), ("average", "fe", "f", 1, 0), ("root", "f", "f", 0, 1),
    ("epsilon", "f", "f", 1, 0), ("divide", "cf", "c", 0, 1), ("scale", "c", "h", 1, 0),
    ("update", "hp", "p", 1, 0),
]  # fmt: skip
OPTIMISERS = {"SGD": [("update", "pg", "p", 2, 0)], "Adam": ADAM, "SparseAdam": SPARSE_ADAM}
PARTS = [
    (direction, bags, form)
    for direction, bags in [("forward", 0), ("forward", 3), ("backward", 0), ("step", 0)]
    for form in forms_of(direction, bags)
]


def by_hand(direction, bags, form):
    """Look a form up above; of a step multiply each array by its numbers."""
    if direction != "step":
        return (BAGS if bags else FORWARD if direction == "forward" else BACKWARD)[form]
    numbers = TABLE if (dense := form.endswith("dense")) else FOUND
    return [
        (name, 4 * 8 * (not dense and name in ("pick", "add", "update")),
         len(reads + writes) * numbers, operations * numbers, divisions * numbers)
        for name, reads, writes, operations, divisions in OPTIMISERS[form.split(",")[0]]
    ]  # fmt: skip


@pytest.mark.parametrize(("direction", "bags", "form"), PARTS)
@pytest.mark.parametrize(("dtype", "size"), [("float32", 4), ("tf32", 4), ("bfloat16", 2)])
def test_every_form_is_counted_as_by_hand(direction, bags, form, dtype, size):
    """Each distinct address read counts once, each written once, zeros added into no more."""
    case = Case(form, direction, 7, 5, 9, "uniform", dtype, "hot", bags)
    counted = [(p.name, p.bytes, p.operations, p.divisions) for p in kernels(case, 4)]
    expected = by_hand(direction, bags, form)
    assert counted == [(name, ids + size * n, *rest) for name, ids, n, *rest in expected]
    if form == "lookup, sparse and coalesced":
        assert kernels(case._replace(ids=8), 4)[0].operations == 8 * 3


@pytest.mark.parametrize(("direction", "bags", "form"), PARTS)
def test_allocated_bytes_against_the_allocator(direction, bags, form):
    """Torch asks for these arrays and, beyond them, for less than the smallest of them."""
    if form == "compiled one-hot":
        pytest.skip("compiling takes seconds, and what a compiler writes is its own choice")
    case = Case(form, direction, 300, 64, 512, "uniform", "float32", "hot", bags and 8)
    ids = sample_ids("uniform", 512, 300)
    call = contender(case, sample_inputs(case, ids, "cpu"))
    call()
    seen = sum(size for size in sizes_of(recorded_events(call)) if size > 0)
    counted = sum(part.allocated_bytes for part in kernels(case, ids.unique().numel()))
    # An optimizer counts its steps in tensors of one number, and names rows by int64 ids;
    # some versions of torch note the bag of each entry.
    extra = 100 if "dense" in form else 8 * 8 * 512 if direction == "step" else 8 * 512 * bool(bags)
    assert counted <= seen <= counted + extra
    assert extra < 300 * 64 * 4


def test_the_working_set_holds_each_tensor_of_the_call_once():
    """By hand, 3 ids over 4 rows of 5 numbers: ids 24, table 80, encoding 48, result 60 bytes."""
    case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
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
    step = case._replace(form="SGD, dense", direction="step")
    assert kernels(step, 2)[0].working_set == 80 + 80
    # Parameter, gradient and two averages are there; the root and its quotient are new.
    assert kernels(step._replace(form="Adam, dense"), 2)[0].working_set == 6 * 80


def test_the_optimizers_of_torch_run_the_kernels_that_are_counted():
    """As many calls on whole arrays as are counted, as torch's dispatcher sees them."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Kernels(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.seen = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            name, first = func.overloadpacket.__name__, args[0] if args else None
            array = isinstance(first, torch.Tensor) and first.numel() > 1
            looks = name.startswith(("_", "is_", "detach", "clone", "profiler"))
            self.seen += (array and not looks) * (2 if name == "sparse_mask" else 1)
            return result

    for form in forms_of("step", 0):
        case = Case(form, "step", 30, 4, 20, "uniform", "float32", "hot")
        ids = sample_ids("uniform", 20, 30)
        call = contender(case, sample_inputs(case, ids, "cpu"))
        with Kernels() as seen:
            call()
        assert seen.seen == len(kernels(case, ids.unique().numel())), form
