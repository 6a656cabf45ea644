#!/bin/sh
# TensorFlow 2.21.0: a weighted mean whose weights add up to zero is a row of zeros.
# Guess before the run: an error or NaN, since the mean divides by the sum of the weights.
# Output seen on 2026-11-29, Python 3.11.7, on a CPU: [0. 0.]
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
weights = tf.SparseTensor(places, tf.constant([2.0, -2.0]), [1, 2])
mean = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="mean").numpy()[0]
print(mean)
assert mean.tolist() == [0.0, 0.0]
PYTHON
