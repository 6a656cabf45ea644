# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "openvino==2026.4.1"]
# ///
"""What OpenVINO makes of a lookup, a one-hot product, a bag and a tie, on a CPU."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import openvino
import torch
from crossing_questions import SumOfRows, Tied, make_bags, size_of, time_beside
from torch import nn
from torch.nn import functional

from lookup_matmul import probe_lookup

table = torch.randn(50, 8)
layer = nn.Embedding.from_pretrained(table)


class Product(nn.Module):
    """The one-hot rows of the ids times the table."""

    def forward(self, ids):
        """Return rows for ids."""
        return functional.one_hot(ids, 50).float() @ layer.weight


def convert(module, ids):
    """Return the operators of a converted module, and the module as a function."""
    model = openvino.convert_model(module, example_input=(ids,))
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1})
    operators = sorted({node.get_type_name() for node in model.get_ops()})
    return operators, lambda ids: compiled([ids.numpy()])[0]


def size(**options):
    """Return the bytes of the weights of a tied model, over its table."""
    model = openvino.convert_model(Tied(), example_input=(torch.tensor([3, 4]),))
    with TemporaryDirectory() as folder:
        openvino.save_model(model, f"{folder}/tied.xml", **options)
        return size_of(Path(folder, "tied.bin").stat().st_size)


results = {}
for name, module in (("lookup", layer), ("product", Product())):
    operators, function = convert(module, torch.tensor([3, 4]))
    # The documentation of Gather-8 defines both: from the end, and zeros.
    answers = dict(probe_lookup(function, table, outside=True))
    results[name] = {"operators": operators, "answers": answers}
many, ids = make_bags()
bag = nn.EmbeddingBag.from_pretrained(many, mode="sum")
operators, function = convert(bag, ids)
off = float(np.abs(function(ids) - bag(ids).numpy()).max())
results["bag"] = {"operators": operators, "largest difference": off}
_, recipe = convert(SumOfRows(many), ids)
calls = {"bag": lambda: function(ids), "lookup, then sum": lambda: recipe(ids)}
results["time over that of torch's bag"] = time_beside(lambda: bag(ids), calls)
results["tied"] = {"by default": size(), "compress_to_fp16=False": size(compress_to_fp16=False)}
