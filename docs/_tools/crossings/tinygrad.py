# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "tinygrad==0.14.0"]
# ///
"""How tinygrad looks up rows, on its device of plain Python."""

import os

os.environ["DEV"] = "PYTHON"  # needs no compiler

from crossing_questions import TABLE, ask, attempt, describe_spread
from tinygrad import Tensor, nn


def layer(weight):
    """Return a layer with this table."""
    embedding = nn.Embedding(*weight.shape)
    embedding.weight = Tensor(weight)
    return embedding


def one_hot(ids, weight):
    """Return the product with tinygrad's one-hot rows."""
    return (Tensor(ids).one_hot(len(weight)).float() @ Tensor(weight)).numpy()


trained = layer(TABLE.numpy())
trained(Tensor([2, 2, 1])).sum().backward()
results = {
    "layer": ask(lambda ids, weight: layer(weight)(Tensor(ids)).numpy(), one_hot),
    "index": ask(lambda ids, weight: Tensor(weight)[Tensor(ids)].numpy(), one_hot),
    "gradient of ids 2, 2, 1": attempt(lambda: trained.weight.grad.numpy()[:, 0]),
    "first numbers": describe_spread(nn.Embedding(5_000, 64).weight.numpy()),
}
