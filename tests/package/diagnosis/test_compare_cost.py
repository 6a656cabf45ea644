"""The whole tables are read a few times, in parts, and only the rows of the ids are copied."""

import pytest
import torch
from planted import BAG_CAUSES, ID_CAUSES, PlantedPair, make_linear, options, plant
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lookup_matmul import compare, peak_bytes

ROWS, DIM = 5000, 256  # several chunks, and wide rows beside the numbers of one column
WHOLE = {"weights", "order of the rows", "reshaped weight"}  # causes for which tables are searched
ATEN = torch.ops.aten
PARTIAL = [ATEN.index.Tensor, ATEN.embedding.default, ATEN.new_zeros.default]


class Reads(TorchDispatchMode):
    """Counts the numbers that operators read, except those that read a part of an argument."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Call the operator and add up the sizes of its arguments."""
        if not func.is_view and func not in PARTIAL:
            leaves = tree_leaves((args, kwargs))
            self.numbers += sum(t.numel() for t in leaves if isinstance(t, torch.Tensor))
        return func(*args, **(kwargs or {}))


def measure(*arguments, **options):
    """Return the report, and the numbers read and the peak of the memory, in whole tables."""
    reports, reads = [], Reads()
    with reads:
        peak = peak_bytes(lambda: reports.append(compare(*arguments, **options)))
    return reports[0], reads.numbers / (ROWS * DIM), peak / (4 * ROWS * DIM)


@pytest.mark.parametrize(
    ("cause", "causes"),
    [
        *((cause, ID_CAUSES) for cause in ID_CAUSES if cause != "transposed weight"),
        *((cause, BAG_CAUSES) for cause in BAG_CAUSES if cause not in ID_CAUSES),
    ],
)
def test_a_planted_cause_costs_little_more_than_the_outputs(cause, causes):
    """A table is read by two or three products and two sums; autocast copies it as bfloat16."""
    table = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0))
    pair = PlantedPair(table, table.clone(), torch.tensor([2, 0, 3, 70]))
    if causes is BAG_CAUSES:
        pair.lookup_type = nn.EmbeddingBag
        pair.options = {"mode": "sum", "include_last_offset": True}
        pair.ids_or_rows = pair.ids_or_rows, torch.tensor([0, 2, 2, 4])
    layers = plant(pair, [cause], causes).layers()
    with pair.context:
        report, reads, peak = measure(*layers, pair.ids_or_rows)
    assert [found.name for found in report.causes] == [cause]
    assert reads < (25 if cause in WHOLE else 7 if cause == "autocast" else 6)
    assert peak < (0.5 if cause in WHOLE else 0.6 if cause == "autocast" else 0.1)


def test_several_causes_cost_as_little():
    """Sums of 25 numbers, which a product of fewer rows may round in another way."""
    table = torch.randn(ROWS, DIM, generator=torch.Generator().manual_seed(0))
    rows = torch.arange(2, 4002, 40), torch.arange(0, 101, 25)
    names = ["offsets", "mode", "padding_idx", "bias", "max_norm", "scaled rows"]
    pair = PlantedPair(table, table.clone(), rows, nn.EmbeddingBag, {"include_last_offset": True})
    layers = plant(pair, names, BAG_CAUSES | {"padding_idx": options(padding_idx=42)}).layers()
    report, reads, peak = measure(*layers, rows)
    assert [found.name for found in report.causes] == names
    assert reads < 15  # 12 measurements, each with a fiftieth of the table
    assert peak < 0.4


def test_a_transposed_table_is_read_in_place():
    """Its rows are gathered as columns."""
    table = torch.randn(ROWS, DIM)
    report, reads, peak = measure(table, table.T.contiguous(), torch.tensor([2, 0, 3, 70]))
    assert [cause.name for cause in report.causes] == ["transposed weight"]
    assert max(reads, peak) < 0.2


def test_gradients_are_computed_for_the_rows_that_were_read():
    """Those of all others are zero, and counted; a number is named by its place in the table."""
    table = torch.randn(ROWS, DIM)
    lookup = nn.Embedding.from_pretrained(table, freeze=False, padding_idx=70)
    ids = torch.tensor([2, 70])
    report, reads, peak = measure(lookup, make_linear(table), ids, gradients=True)
    before = report.gradients.before
    assert (before.total, before.differing, before.first) == (ROWS * DIM, DIM, (70, 0))
    assert [cause.name for cause in report.gradients.causes] == ["padding_idx"]
    assert reads < 5
    assert peak < 0.1
