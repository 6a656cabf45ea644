# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "paddlepaddle==3.3.1"]
# ///
"""How Paddle looks up rows; ids outside of the table are asked of its one-hot rows only."""

import numpy as np
import paddle
from crossing_questions import TABLE, ask, attempt, describe_spread
from paddle.nn import functional

table = paddle.to_tensor(TABLE.numpy())
fresh = paddle.nn.Embedding(5_000, 64)
padded = paddle.nn.Embedding(5, 2, padding_idx=1)
padded.weight.set_value(TABLE.numpy())


def gradient(sparse):
    """Return the stored gradient of the ids 2, 2 and 1, in the first column."""
    layer = paddle.nn.Embedding(5, 2, sparse=sparse)
    layer(paddle.to_tensor([2, 2, 1])).sum().backward()
    return attempt(lambda: layer.weight.grad.numpy()[:, 0])


results = {
    "embedding": ask(
        lambda ids, weight: functional.embedding(paddle.to_tensor(ids), paddle.to_tensor(weight)),
        lambda ids, weight: (
            functional.one_hot(paddle.to_tensor(ids), len(weight)) @ paddle.to_tensor(weight)
        ),
        outside=(),
    ),
    "first numbers": describe_spread(fresh.weight),
    "rows of ids 0 and 1 with padding_idx=1": attempt(
        lambda: padded(paddle.to_tensor(np.array([0, 1])))
    ),
    "row 1 of that table": attempt(lambda: padded.weight[1]),
    "rows of ids 0 and 4 with padding_idx=-1": attempt(
        lambda: functional.embedding(paddle.to_tensor([0, 4]), table, padding_idx=-1)
    ),
    "gradient of ids 2, 2, 1": gradient(sparse=False),
    "stored gradient with sparse=True": gradient(sparse=True),
}
