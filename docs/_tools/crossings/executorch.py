# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "executorch==1.5.1"]
# ///
"""Which of a lookup, a one-hot product and a bag ExecuTorch exports and runs."""

import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from torch import nn
from torch.nn import functional

torch.manual_seed(123)
layer = nn.Embedding(50, 8).requires_grad_(False)
bag = nn.EmbeddingBag(50, 8, mode="sum").requires_grad_(False)


class Product(nn.Module):
    """The one-hot rows of the ids times the table."""

    def forward(self, ids):
        """Return rows for ids."""
        return functional.one_hot(ids, 50).float() @ layer.weight


class SumOfRows(nn.Module):
    """A lookup and a sum instead of a bag."""

    def forward(self, ids):
        """Return a sum for each row of ids."""
        return functional.embedding(ids, bag.weight).sum(1)


def run(module, ids):
    """Return the largest difference from torch, or the first line of the error."""
    try:
        program = to_edge_transform_and_lower(torch.export.export(module, (ids,))).to_executorch()
        method = Runtime.get().load_program(bytes(program.buffer)).load_method("forward")
        return float((method.execute([ids])[0] - module(ids)).abs().max())
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return f"{type(error).__name__}: {lines[0]}"


ids, bags = torch.tensor([3, 4]), torch.randint(0, 50, (4, 5))
results = {
    "lookup": run(layer, ids),
    "product": run(Product(), ids),
    "bag": run(bag, bags),
    "lookup, then sum": run(SumOfRows(), bags),
}
