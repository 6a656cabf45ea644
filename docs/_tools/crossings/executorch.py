# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "executorch==1.5.1"]
# ///
"""Which of a lookup, a product and a bag ExecuTorch runs; no id outside is asked."""

import torch
from crossing_questions import SumOfRows, Tied, attempt, make_bags, size_of, time_beside
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torch import nn
from torch.nn import functional

torch.manual_seed(123)
layer = nn.Embedding(50, 8).requires_grad_(False)
table, bags = make_bags()
bag = nn.EmbeddingBag.from_pretrained(table, mode="sum")


class Product(nn.Module):
    """The one-hot rows of the ids times the table."""

    def forward(self, ids):
        """Return rows for ids."""
        return functional.one_hot(ids, 50).float() @ layer.weight


def export(module, ids):
    """Return the exported program as bytes."""
    program = to_edge_transform_and_lower(torch.export.export(module, (ids,)))
    return bytes(program.to_executorch().buffer)


def load(content):
    """Return the function of an exported program, whose bytes have to stay in memory."""
    method = Runtime.get().load_program(content).load_method("forward")
    return lambda ids, _=content: method.execute([ids])[0]


def run(module, ids):
    """Return the largest difference from torch, or the first line of the error."""
    try:
        return float((load(export(module, ids))(ids) - module(ids)).abs().max())
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return f"{type(error).__name__}: {lines[0]}"


ids, rows = torch.tensor([3, 4]), SumOfRows(table)
recipe = load(export(rows, bags))
results = {
    "lookup": run(layer, ids),
    "product": run(Product(), ids),
    "bag": run(bag, bags),
    "lookup, then sum": run(rows, bags),
    "time over that of torch's bag": time_beside(
        lambda: bag(bags), {"recipe": lambda: recipe(bags)}
    ),
    "lookup of ids of int32": attempt(lambda: load(export(layer, ids))(ids.int())),
    "tied": size_of(len(export(Tied(), ids))),
}
