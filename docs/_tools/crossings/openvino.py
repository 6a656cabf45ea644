# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "openvino==2026.4.1"]
# ///
"""What OpenVINO makes of a lookup, a one-hot product and a bag, on a CPU."""

import numpy as np
import openvino
import torch
from torch import nn
from torch.nn import functional

from lookup_matmul import probe_lookup

torch.manual_seed(123)
table = torch.randn(50, 8)
layer = nn.Embedding(50, 8, _weight=table.clone()).requires_grad_(False)
bag = nn.EmbeddingBag(50, 8, mode="sum", _weight=table.clone()).requires_grad_(False)


class Product(nn.Module):
    """The one-hot rows of the ids times the table."""

    def forward(self, ids):
        """Return rows for ids."""
        return functional.one_hot(ids, 50).float() @ layer.weight


def convert(module, ids):
    """Return the operators of a converted module, and the module as a function."""
    model = openvino.convert_model(module, example_input=(ids,))
    compiled = openvino.Core().compile_model(model, "CPU")
    operators = [node.get_type_name() for node in model.get_ops()]
    return operators, lambda ids: compiled([ids.numpy()])[0]


results = {}
for name, module in (("lookup", layer), ("product", Product())):
    operators, function = convert(module, torch.tensor([3, 4]))
    # The documentation of Gather-8 defines both: from the end, and zeros.
    answers = dict(probe_lookup(function, table, outside=True))
    results[name] = {"operators": sorted({*operators}), "answers": answers}
ids = torch.randint(0, 50, (4, 5))
operators, function = convert(bag, ids)
off = float(np.abs(function(ids) - bag(ids).numpy()).max())
results["bag"] = {"operators": sorted({*operators}), "largest difference": off}
