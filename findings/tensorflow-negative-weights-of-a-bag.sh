#!/bin/sh
# TensorFlow 2.21.0: safe_embedding_lookup_sparse leaves out ids with a negative weight for a mean,
# and keeps them for a sum.
# Guess before the run: negative weights are kept, as embedding_lookup_sparse keeps them.
# Output seen on 2026-11-29, Python 3.11.7, on a CPU: mean [3. 4.] sum [-12. -14.]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q tensorflow-cpu==2.21.0 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import numpy as np
import tensorflow as tf

table = np.arange(1.0, 11.0, dtype="float32").reshape(5, 2)
places = [[0, 0], [0, 1]]
ids = tf.SparseTensor(places, tf.constant([1, 2], tf.int64), [1, 2])
weights = tf.SparseTensor(places, tf.constant([1.0, -3.0]), [1, 2])


def bag(combiner):
    lookup = tf.nn.safe_embedding_lookup_sparse
    return lookup(table, ids, weights, combiner=combiner).numpy()[0]


print("mean", bag("mean"), "sum", bag("sum"))
assert bag("mean").tolist() == table[1].tolist()
assert bag("sum").tolist() == (table[1] - 3 * table[2]).tolist()
PYTHON
