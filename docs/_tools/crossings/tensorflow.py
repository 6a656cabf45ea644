# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "tensorflow-cpu==2.21.0"]
# ///
"""How TensorFlow looks up rows and bags of rows."""

import numpy as np
import tensorflow as tf
from crossing_questions import TABLE, ask, attempt

IDS = tf.constant([1, 2, 4], tf.int64)
PLACES = [[0, 0], [0, 1], [2, 0]]  # bags 1 and 3 of four are empty
LOOKUPS = {
    "embedding_lookup_sparse": tf.nn.embedding_lookup_sparse,
    "safe_embedding_lookup_sparse": tf.nn.safe_embedding_lookup_sparse,
}


def bags(name, combiner, weights=None):
    """Return the rows of four bags, the ids 1 and 2, none, 4, and none."""
    ids = tf.SparseTensor(PLACES, IDS, [4, 2])
    numbers = weights and tf.SparseTensor(PLACES, tf.constant(weights), [4, 2])
    return attempt(lambda: LOOKUPS[name](TABLE.numpy(), ids, numbers, combiner=combiner))


def one_hot(ids, weight):
    """Return the product with TensorFlow's one-hot rows."""
    return tf.one_hot(ids, len(weight)) @ weight


def gather(ids, weight):
    """Return the rows by tf.gather."""
    return tf.gather(weight, ids)


variable = tf.Variable(TABLE.numpy())
with tf.GradientTape() as tape:
    total = tf.reduce_sum(tf.gather(variable, [2, 2, 1]))
gradient = tape.gradient(total, variable)
compiled = tf.function(gather, jit_compile=True)
results = {
    "gather": ask(gather, one_hot),
    "compiled by XLA": ask(lambda ids, w: compiled(tf.constant(ids), tf.constant(w)), one_hot),
    "row 1 by dtype of the id, one_hot": {
        name: attempt(lambda name=name: one_hot(np.ones(1, name), TABLE.numpy()))
        for name in ("int8", "uint8", "int16", "int32", "int64")
    },
    "gradient of ids 2, 2, 1": {
        "type": type(gradient).__name__,
        "ids": gradient.indices.numpy().tolist(),
        "first column": tf.convert_to_tensor(gradient).numpy()[:, 0].tolist(),
    },
    "bags": {name: bags(name, "sum") for name in LOOKUPS},
    "weighted means": {
        str(weights): {name: bags(name, "mean", weights) for name in LOOKUPS}
        for weights in ([1.0, 3.0, 2.0], [1.0, -3.0, 2.0], [2.0, -2.0, 2.0])
    },
    "sums with weights 1, -3 and 2": {
        name: bags(name, "sum", [1.0, -3.0, 2.0]) for name in LOOKUPS
    },
}
