# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "mlx[cpu]==0.32.4"]
# ///
"""How MLX looks up rows; of ids outside, only -1 is asked, since the others have no definition."""

import mlx.core as mx
import numpy as np
from crossing_questions import TABLE, ask, attempt, describe_spread
from mlx import nn


def layer(weight):
    """Return a layer with this table."""
    embedding = nn.Embedding(*weight.shape)
    embedding.weight = mx.array(weight)
    return embedding


def one_hot(ids, weight):
    """Return the product with one-hot rows by a comparison, since MLX has no function for them."""
    rows = (mx.arange(len(weight)) == mx.array(ids)[..., None]).astype(mx.float32)
    return np.array(rows @ mx.array(weight))


table = mx.array(TABLE.numpy())
quantized = nn.QuantizedEmbedding(100, 128, group_size=64, bits=8)
results = {
    "layer": ask(lambda ids, w: np.array(layer(w)(mx.array(ids))), one_hot, outside=(-1,)),
    "gradient of ids 2, 2, 1": attempt(
        lambda: mx.grad(lambda w: w[mx.array([2, 2, 1])].sum())(table)[:, 0]
    ),
    "first numbers": describe_spread(nn.Embedding(5_000, 64).weight),
    "scores of one row by as_linear": attempt(
        lambda: layer(TABLE.numpy()).as_linear(mx.ones((1, 2)))
    ),
    "scales of a quantized table of 100 rows of 128": list(quantized.scales.shape),
}
