"""Tables on several processes: the rows of one process, gradients and bytes included."""

import re
import sys

import cloudpickle
import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from oldest import LOWEST
from torch import distributed
from torch.nn import functional

from lookup_matmul import assert_bitwise_equal
from lookup_matmul.sharded import (
    Collective,
    add_up,
    collectives,
    column_lookup,
    cut,
    exchanged_lookup,
    masked_lookup,
    run_on_processes,
    scattered_lookup,
)

# Functions travel by value, or each process would import this module and all that it imports.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

# Starting processes costs more than running an example: each start takes a whole list of them.
FEW = settings(max_examples=4, deadline=None, phases=[Phase.explicit, Phase.generate])


@st.composite
def cases(draw, count=1):
    """Make a table and ids for each process: of any size, down to tables of one row."""
    vocab_size, dim = draw(st.integers(1, 9)), draw(st.integers(1, 3)) * count
    ids_each = draw(st.integers(0, 6))
    size = count * ids_each
    ids = draw(st.lists(st.integers(0, vocab_size - 1), min_size=size, max_size=size))
    seed = draw(st.integers(0, 2**20))
    weight = torch.randn(vocab_size, dim, generator=torch.Generator().manual_seed(seed))
    return weight, torch.tensor(ids, dtype=torch.int64).view(count, ids_each)


def batches(count):
    """Make a list of cases for one start of ``count`` processes."""
    return st.tuples(st.just(count), st.lists(cases(count), min_size=12, max_size=12))


def each_way(batch):
    """Look up in every way, on one of the processes."""
    rank, size = distributed.get_rank(), distributed.get_world_size()
    found = []
    for weight, ids in batch:
        vocab_size, dim = weight.shape
        part, every = cut(vocab_size, size)[rank], ids.flatten()
        hot = functional.one_hot(every, vocab_size).float()
        found.append(
            {
                "product": add_up(hot[:, part] @ weight[part]),
                "lookup": add_up(masked_lookup(every, weight[part], part.start)),
                "columns": column_lookup(every, weight[:, cut(dim, size)[rank]]),
                "all-to-all": exchanged_lookup(ids[rank], weight[part], vocab_size),
                "distinct": exchanged_lookup(ids[rank], weight[part], vocab_size, distinct=True),
            }
        )
        if not LOWEST:  # whose gloo has no reduce-scatter
            found[-1]["reduce-scatter"] = scattered_lookup(ids[rank], weight[part], vocab_size)
    return found


@FEW
@given(st.sampled_from([1, 2, 3, 4]).flatmap(batches))
def test_every_way_gives_the_rows_of_one_process(made):
    """Whatever the sizes, the cuts and the ids: bitwise the rows that the whole table has."""
    count, batch = made
    for rank, results in enumerate(run_on_processes(each_way, count, batch, timeout_s=300)):
        for (weight, ids), result in zip(batch, results, strict=True):
            rows = torch.from_numpy(weight.numpy()[ids.numpy()])
            for way in ("product", "lookup", "columns"):
                assert_bitwise_equal(result[way], rows.flatten(0, 1))
            own = {"all-to-all", "distinct"} | (set() if LOWEST else {"reduce-scatter"})
            assert own < set(result)
            for way in own:
                assert_bitwise_equal(result[way], rows[rank])


def gradients(batch):
    """Return the gradient of this process's part, for a batch that all share and for one's own."""
    rank, size = distributed.get_rank(), distributed.get_world_size()
    found = []
    for weight, ids in batch:
        part = cut(len(weight), size)[rank]
        arriving = torch.arange(ids.numel() * weight.shape[1]) % 7 - 3.0
        arriving = arriving.view(*ids.shape, weight.shape[1])
        shard = weight[part].clone().requires_grad_()
        shared = add_up(masked_lookup(ids.flatten(), shard, part.start))
        loss = (shared * arriving.flatten(0, 1)).sum()
        got = [torch.autograd.grad(loss, shard)[0]]
        for distinct in (False, True):
            own = exchanged_lookup(ids[rank], shard, len(weight), distinct=distinct)
            got.append(torch.autograd.grad((own * arriving[rank]).sum(), shard)[0])
        found.append(got)
    return found


@FEW
@given(st.sampled_from([1, 2, 3, 4]).flatmap(batches))
def test_gradients_are_the_parts_of_one_process_gradient(made):
    """Arriving gradients are whole numbers, so the sums are exact in any order."""
    count, batch = made
    for rank, results in enumerate(run_on_processes(gradients, count, batch, timeout_s=300)):
        for (weight, ids), got in zip(batch, results, strict=True):
            arriving = np.arange(ids.numel() * weight.shape[1]) % 7 - 3.0
            arriving = arriving.reshape(-1, weight.shape[1])
            whole = np.zeros(tuple(weight.shape))
            np.add.at(whole, ids.flatten().numpy(), arriving)
            part = cut(len(weight), count)[rank]
            for gradient in got:
                assert gradient.shape == weight[part].shape
                assert gradient.numpy().astype(np.float64).tolist() == whole[part].tolist()


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_cuts_are_those_of_torch(parts):
    """Parts follow each other without a gap, and are torch's chunks, then empty ones."""
    for size in range(9):
        whole = torch.arange(size)
        got = [whole[part] for part in cut(size, parts)]
        assert len(got) == parts
        assert torch.cat(got).tolist() == whole.tolist()
        chunks = [chunk.tolist() for chunk in whole.chunk(parts)] if size else []
        assert [part.tolist() for part in got if len(part)] == chunks


def test_ids_that_exist_nowhere_give_zeros():
    """Also where, in 32 bits, the difference to the first row here would be a row again."""
    ids = torch.tensor([[-1, 7], [2, 0]])
    assert masked_lookup(ids, torch.ones(3, 1), 0).squeeze(-1).tolist() == [[0, 0], [1, 1]]
    ids = torch.tensor([-(2**31), 2**31 - 1], dtype=torch.int32)
    assert masked_lookup(ids, torch.ones(2, 1), 2**31 - 1).tolist() == [[0.0], [1.0]]


def counted(ids, weight):
    """Return the collectives of each way."""
    rank, size = distributed.get_rank(), distributed.get_world_size()
    part = cut(len(weight), size)[rank]
    ways = {
        "sum": lambda: add_up(masked_lookup(ids.flatten(), weight[part], part.start)),
        "columns": lambda: column_lookup(ids.flatten(), weight[:, cut(4, size)[rank]]),
        "exchanged": lambda: exchanged_lookup(ids[rank], weight[part], len(weight)),
        "distinct": lambda: exchanged_lookup(ids[rank], weight[part], len(weight), distinct=True),
    }
    if not LOWEST:
        ways["scattered"] = lambda: scattered_lookup(ids[rank], weight[part], len(weight))
    found = {}
    for way, call in ways.items():
        with collectives() as calls:
            call()
        found[way] = calls
    return found


def test_bytes_are_those_of_the_shapes():
    """Two processes, tables of 6 rows of 4 numbers: each count made by hand."""
    ids = torch.tensor([[0, 0, 0, 5], [1, 5, 5, 5]])  # process 0 holds rows 0 to 2
    row = 4 * 4
    first, second = run_on_processes(counted, 2, ids, torch.randn(6, 4))
    assert first["sum"] == [Collective("all-reduce", 8 * row, 8 * row)]
    gathered = Collective("all-gather", 4 * 8, 4 * 8)
    scattered = [gathered, Collective("reduce-scatter", 8 * row, 4 * row)]
    assert first.get("scattered") == (None if LOWEST else scattered)
    assert first["columns"] == [Collective("all-gather", 4 * row, 4 * row)]
    counts = Collective("all-to-all", 2 * 8, 8)
    # Process 0 asks for three rows of its own and one of process 1, which asks it for one.
    asked, answered = (Collective("all-to-all", 4 * n, n) for n in (8, row))
    assert first["exchanged"] == [counts, asked, answered]
    assert second["exchanged"] == [counts, asked, answered]
    # Asked for once: 0 and 5 by process 0, 1 and 5 by process 1.
    asked, answered = (Collective("all-to-all", 2 * n, n) for n in (8, row))
    assert first["distinct"] == second["distinct"] == [counts, asked, answered]


SHARD, BYTES = torch.zeros(2, 3), torch.tensor([1, 0], dtype=torch.uint8)
AMISS = {
    "mask": (masked_lookup, (BYTES, SHARD, 0), TypeError, "ids has dtype torch.uint8"),
    "cube": (masked_lookup, (torch.tensor([1]), SHARD[None], 0), ValueError, "shard has shape (1, 2, 3), expected two dimensions"),
    "from the end": (column_lookup, (torch.tensor([-1]), SHARD), IndexError, "ids[0] is -1, but a table of 2 rows"),
    "vector of columns": (column_lookup, (torch.tensor([1]), SHARD[0]), ValueError, "columns has shape (3,), expected two dimensions"),
}  # fmt: skip


@pytest.mark.parametrize(("way", "given", "error", "message"), AMISS.values(), ids=AMISS)
def test_bad_input_is_refused_before_anything_is_sent(way, given, error, message):
    """In the words of the other forms, and without a group."""
    with pytest.raises(error, match=re.escape(message)):
        way(*given)


def refused():
    """Return what is said to wrong ids and parts, and to a broadcast, on one of the processes."""
    ids, table = torch.tensor([1, 0]), torch.randn(3, 2)
    part = table[cut(3, 2)[distributed.get_rank()]]
    wrong = {
        "whole": (ids, table),
        "square": (ids[None], part),
        "int32": (ids.int(), part),
        "outside": (ids + 2, part),
    }
    tried = {
        (way.__name__, name): lambda way=way, taken=taken: way(*taken, 3)
        for way in (scattered_lookup, exchanged_lookup)
        for name, taken in wrong.items()
    }
    said = {}
    with collectives():
        for name, call in (tried | {"broadcast": lambda: distributed.broadcast(ids, 0)}).items():
            try:
                call()
            except (TypeError, ValueError, IndexError, NotImplementedError) as error:
                said[name] = f"{type(error).__name__}: {error}"
    return said


def test_a_part_is_that_of_its_process():
    """Another would give zeros, or the rows of other ids; a broadcast is not counted as nothing."""
    first, second = run_on_processes(refused, 2)
    for way in ("scattered_lookup", "exchanged_lookup"):
        assert first[way, "whole"] == (
            "ValueError: shard has 3 rows, expected 2, those from 0 to before 2 of the table's 3; "
            "pass weight[cut(3, 2)[0]]."
        )
        assert "expected 1, those from 2 to before 3" in second[way, "whole"]
        assert "ids has shape (1, 2) and dtype torch.int64, expected (n,)" in first[way, "square"]
        assert "ids has shape (2,) and dtype torch.int32, expected (n,)" in first[way, "int32"]
        assert first[way, "outside"].startswith("IndexError: ids[0] is 3")
    assert first["broadcast"].startswith("NotImplementedError: c10d.broadcast_")
