# /// script
# dependencies = [
#   "torch==2.13.0", "numpy==2.4.6", "onnx==1.23.2", "onnxscript==0.7.2", "onnxruntime==1.32.0",
# ]
# ///
"""How long exported bags take in onnxruntime, and how large their files are."""

import onnxruntime
import torch
from crossing_questions import SumOfRows, make_bags, time_beside
from torch import nn
from torch.nn import functional

table, ids = make_bags()
weights = torch.rand(ids.shape, generator=torch.Generator().manual_seed(0))
scale = table.abs().amax(1, keepdim=True) / 127
int8 = (table / scale).round().to(torch.int8)
bag = nn.EmbeddingBag.from_pretrained(table, mode="sum")


class WeightedSum(nn.Module):
    """A lookup and a product with the weights of each bag."""

    def forward(self, ids, weights):
        """Return a weighted sum of rows for each row of ids."""
        return (weights[:, None] @ functional.embedding(ids, table))[:, 0]


class Int8Sum(nn.Module):
    """A lookup of whole numbers, and a product with their scales."""

    def forward(self, ids):
        """Return a sum of rows for each row of ids."""
        scales, codes = functional.embedding(ids, scale), functional.embedding(ids, int8)
        return (scales.mT @ codes.float())[:, 0]


def export(module, *inputs):
    """Return a call of the exported module, its operators and its bytes over the table's."""
    model = torch.onnx.export(module.eval(), inputs, dynamo=True, verbose=False).model_proto
    (options := onnxruntime.SessionOptions()).intra_op_num_threads = 1
    content, operators = model.SerializeToString(), [node.op_type for node in model.graph.node]
    session = onnxruntime.InferenceSession(content, options)
    names = [argument.name for argument in session.get_inputs()]
    feed = dict(zip(names, [tensor.numpy() for tensor in inputs], strict=True))
    return lambda: session.run(None, feed)[0], operators, round(len(content) / table.nbytes, 3)


exports = {
    "exported bag": export(bag, ids),
    "lookup, then sum": export(SumOfRows(table), ids),
    "lookup, then product": export(WeightedSum(), ids, weights),
    "int8, then product": export(Int8Sum(), ids),
}
calls = {name: call for name, (call, _, _) in exports.items()}
results = {
    "operators": {name: operators for name, (_, operators, _) in exports.items()},
    "file over the table": {name: size for name, (_, _, size) in exports.items()},
    "time over that of torch's bag": time_beside(lambda: bag(ids), calls),
}
