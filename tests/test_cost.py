"""The model counts what a hand counts, and what torch's own counters see."""

import itertools

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from lookup_matmul import Bags, allocated_bytes, lookup, one_hot, one_hot_matmul, sum_of_rows
from lookup_matmul.timings import (
    BACKWARD,
    BAGS,
    FORWARD,
    Cost,
    Sizes,
    bag_cost,
    case_cost,
    contender,
    draw_ids,
    draw_inputs,
    lookup_cost,
    one_hot_cost,
    predicted_s,
    product_cost,
    profiled,
    sectors_of_row,
    sweep,
)

# A table of 4 rows with 5 numbers of 4 bytes; three ids, two of them different.
SMALL = Sizes(vocab_size=4, dim=5, ids=3, distinct=2)


def test_lookup_by_hand():
    """Three ids of 8 bytes, three rows of 20 bytes in and out, or two if a row is kept."""
    cost = lookup_cost(SMALL)
    assert cost.operations == 0
    assert cost.logical_bytes == 24 + 60 + 60
    assert cost.compulsory_bytes == 24 + 40 + 60
    # Rows begin at 0, 20, 40, 60, ...: of eight beginnings four touch two sectors.
    assert cost.sector_bytes == 32 + round(3 * 1.5) * 32 + 64
    assert cost.allocated_bytes == 60


def test_gradient_of_a_lookup_by_hand():
    """80 bytes of zeros, then each arriving row is read and added: read, write."""
    cost = lookup_cost(SMALL, backward=True)
    assert cost.operations == 15
    assert cost.logical_bytes == 80 + 24 + 60 + 60 + 60
    assert cost.compulsory_bytes == 80 + 24 + 60 + 40 + 40
    assert cost.allocated_bytes == 80


def test_product_by_hand():
    """3 × 4 × 5 multiplications and as many additions; 48 bytes of encoding."""
    assert one_hot_cost(SMALL)[:3] == (0, 48 + 24 + 12, 48 + 24 + 12)
    forward, backward = product_cost(SMALL), product_cost(SMALL, backward=True)
    assert forward.operations == backward.operations == 120
    assert forward.compulsory_bytes == backward.compulsory_bytes == 48 + 80 + 60
    assert forward.logical_bytes == 48 + 3 * 80 + 60
    assert backward.logical_bytes == 48 + 4 * 60 + 80
    assert (forward.allocated_bytes, backward.allocated_bytes) == (60, 80)
    fused = product_cost(SMALL, fused=True)
    assert fused.operations == 120
    assert fused.compulsory_bytes == 24 + 80 + 60


def test_bag_by_hand():
    """Three entries in two bags: ids, values and three offsets are read."""
    cost = bag_cost(SMALL._replace(bags=2))
    read = 3 * 8 + 3 * 4 + 3 * 8
    assert cost.operations == 30
    assert cost.logical_bytes == read + 60 + 40
    assert cost.compulsory_bytes == read + 40 + 40
    assert bag_cost(SMALL._replace(bags=2), backward=True).allocated_bytes == 80
    unweighted = bag_cost(SMALL._replace(bags=2), weighted=False)
    assert unweighted.operations == 15
    assert unweighted.compulsory_bytes == cost.compulsory_bytes - 3 * 4


def test_costs_in_sequence_add_up():
    """Member by member, and with nothing else."""
    assert Cost(1, 2, 3, 4, 5) + Cost(10, 20, 30, 40, 50) == Cost(11, 22, 33, 44, 55)
    assert Cost(1, 2, 3, 4, 5).__add__((1,)) is NotImplemented


@pytest.mark.parametrize("row_bytes", [1, 4, 20, 31, 32, 33, 48, 64, 100, 512, 1028])
def test_sectors_against_a_walk_over_a_table(row_bytes):
    """Row after row, every byte asked for its sector."""
    rows = 32
    touched = [
        len({byte // 32 for byte in range(k * row_bytes, (k + 1) * row_bytes)}) for k in range(rows)
    ]
    assert sectors_of_row(row_bytes) == sum(touched) / rows


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bytes_against_the_allocator(dtype):
    """What is predicted is what torch allocates, forward and backward."""
    ids, weight = torch.randint(50, (64,)), torch.randn(50, 16).to(dtype)
    sizes = Sizes(50, 16, 64, ids.unique().numel(), dtype.itemsize)
    encoding, arriving = one_hot(ids, 50, dtype=dtype), torch.ones(64, 16, dtype=dtype)
    calls = {
        lookup_cost(sizes): lambda: lookup(ids, weight, check=False),
        one_hot_cost(sizes): lambda: one_hot(ids, 50, dtype=dtype, check=False),
        product_cost(sizes): lambda: encoding @ weight,
        one_hot_cost(sizes) + product_cost(sizes): lambda: one_hot_matmul(ids, weight, check=False),
        product_cost(sizes, backward=True): lambda: encoding.T @ arriving,
        lookup_cost(sizes, backward=True): lambda: torch.ops.aten.embedding_dense_backward(
            arriving, ids, 50, -1, False
        ),
    }
    for cost, call in calls.items():
        assert allocated_bytes(call) == cost.allocated_bytes


def test_bytes_of_a_bag_against_the_allocator():
    """The sum, and embedding_bag's own notes on each entry and bag."""
    bags = Bags(torch.randint(50, (64,)), torch.arange(0, 65, 8), torch.rand(64))
    cost = bag_cost(Sizes(50, 16, 64, bags.ids.unique().numel(), 4, bags=8))
    allocated = allocated_bytes(lambda: sum_of_rows(bags, torch.randn(50, 16), check=False))
    assert cost.allocated_bytes == 8 * 16 * 4
    assert (
        cost.allocated_bytes <= allocated - 50 * 16 * 4 <= cost.allocated_bytes + 64 * 8 + 3 * 9 * 8
    )


def test_operations_against_the_counter():
    """Torch counts a product's multiplications and additions as the model does."""
    ids, weight = torch.randint(50, (64,)), torch.randn(50, 16)
    sizes = Sizes(50, 16, 64, ids.unique().numel())
    with FlopCounterMode(display=False) as counted:
        one_hot_matmul(ids, weight)
    assert counted.get_total_flops() == (one_hot_cost(sizes) + product_cost(sizes)).operations
    with FlopCounterMode(display=False) as counted:
        lookup(ids, weight)
    assert counted.get_total_flops() == lookup_cost(sizes).operations == 0


def test_operations_and_bytes_against_the_profiler():
    """The other counter of torch, on every form that allocates nothing but results."""
    ids, weight = torch.randint(50, (64,)), torch.randn(50, 16)
    sizes, encoding = Sizes(50, 16, 64, ids.unique().numel()), one_hot(ids, 50)
    for cost, call in {
        lookup_cost(sizes): lambda: lookup(ids, weight, check=False),
        one_hot_cost(sizes): lambda: one_hot(ids, 50, check=False),
        product_cost(sizes): lambda: encoding @ weight,
        one_hot_cost(sizes) + product_cost(sizes): lambda: one_hot_matmul(ids, weight, check=False),
    }.items():
        assert profiled(call) == (cost.operations, cost.allocated_bytes)


def test_the_roofline_is_the_slower_of_two():
    """Moving 30 bytes at 10 a second, or computing 200 at 100 a second."""
    cost = Cost(200, 0, 30, 0, 0)
    assert predicted_s(cost, 10, 100) == 3
    assert predicted_s(cost, 1000, 100) == 2


@pytest.mark.parametrize("draw", ["uniform", "zipf", "equal"])
def test_ids_are_drawn_as_named(draw):
    """Within the table, the same for the same seed, and unequal as the law says."""
    ids = draw_ids(draw, 20_000, 50, seed=3)
    assert ids.dtype == torch.int64
    assert int(ids.min()) >= 0
    assert int(ids.max()) < 50
    assert torch.equal(ids, draw_ids(draw, 20_000, 50, seed=3))
    most = ids.bincount().max().item() / 20_000
    harmonic = sum(1 / k for k in range(1, 51))
    assert most == pytest.approx(
        {"uniform": 1 / 50, "zipf": 1 / harmonic, "equal": 1}[draw], rel=0.2
    )


def test_the_frequent_ids_of_zipf_are_not_neighbours():
    """Which id is the most frequent is drawn as well."""
    first = {int(draw_ids("zipf", 5_000, 50, seed=seed).bincount().argmax()) for seed in range(5)}
    assert len(first) > 1


def test_an_unknown_draw_is_named():
    """With those that are known."""
    with pytest.raises(ValueError, match="draw is 'normal', expected 'uniform', 'zipf' or 'equal'"):
        draw_ids("normal", 1, 1)


@pytest.mark.parametrize(("quick", "cuda"), list(itertools.product([False, True], repeat=2)))
def test_a_sweep_names_each_case_once(quick, cuda):
    """And cases of one input stand together, so that they are measured side by side."""
    cases = list(sweep(quick=quick, cuda=cuda))
    assert len(set(cases)) == len(cases)
    inputs = [key for key, _ in itertools.groupby(cases, key=lambda case: case[1:])]
    assert len(set(inputs)) == len(inputs)
    reduced = [case for case in cases if case.dtype in ("tf32", "float16")]
    assert {case.form for case in reduced} <= {"lookup", *(f for f in FORWARD if "mult" in f)}
    assert not [c for c in cases if (c.direction, c.cache) == ("backward", "cold")]
    compiled = [case for case in cases if case.form == "compiled one-hot"]
    assert all(case.vocab_size <= 4096 and case.cache == "hot" for case in compiled)
    if not quick:
        assert {case.draw for case in cases} == {"uniform", "zipf", "equal"}
        assert {case.cache for case in cases} == {"hot", "cold"}
        assert 50_257 in {case.vocab_size for case in cases}
        assert (100, 10_000) in {(case.vocab_size, case.ids) for case in cases}
        assert {case.form for case in cases} == {*FORWARD, *BACKWARD, *BAGS}


@pytest.mark.parametrize(
    "case",
    [
        *dict.fromkeys(
            c._replace(
                vocab_size=50, ids=64, dim=16, draw="uniform", cache="hot", bags=min(c.bags, 8)
            )
            for c in sweep(quick=True, cuda=False)
        )
    ],
    ids=str,
)
def test_each_case_allocates_what_it_costs(case):
    """The sparse gradient is made of its parts alone; all others allocate their results."""
    ids = draw_ids("uniform", 64, 50)
    cost = case_cost(case, ids.unique().numel())
    seen = allocated_bytes(contender(case, draw_inputs(case, ids, "cpu")))
    # The two products that come with a bag's notes on its entries, and with a result of zeros.
    notes = 64 * 8 + 3 * 9 * 8 if "bag" in case.form else 1024
    assert cost.allocated_bytes <= seen <= cost.allocated_bytes + notes
