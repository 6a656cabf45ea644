#!/bin/sh
# Keras 3.15.1 on TensorFlow 2.21.0: mask_zero=True does not keep the padding row from training.
# Guess before the run: row 0 gets no gradient, as with padding_idx=0 in torch.
# It gets none after a layer that knows masks, and one after a layer that does not, with a warning.
# Output seen on 2026-11-29, Python 3.11.7, on a CPU:
#   mean [0.  0.5 0.5 0.  0. ]
#   Flatten [2. 1. 1. 0. 0.]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q keras==3.15.1 tensorflow-cpu==2.21.0 numpy==2.4.6
KERAS_BACKEND=tensorflow "$folder/env/bin/python" - <<'PYTHON'
import numpy as np
import tensorflow as tf
from keras import layers

embedding = layers.Embedding(5, 2, mask_zero=True)
embedding.build()


def gradient(layer):
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(layer(embedding(np.array([[1, 0, 2, 0]]))))
    sparse = tape.gradient(total, embedding.embeddings.value)
    return tf.convert_to_tensor(sparse).numpy()[:, 0]


mean, flat = gradient(layers.GlobalAveragePooling1D()), gradient(layers.Flatten())
print("mean", mean)
print("Flatten", flat)
assert mean[0] == 0 and flat[0] == 2
PYTHON
