#!/bin/sh
# Keras 3.15.1 on TensorFlow 2.21.0: an Embedding takes ids that are floats, and cuts off decimals.
# Guess before the run: an error, as in torch, TensorFlow, JAX and MLX.
# Output seen on 2026-11-29, Python 3.11.7, on a CPU: id 2.7 gives row 2 [5. 6.]
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q keras==3.15.1 tensorflow-cpu==2.21.0 numpy==2.4.6
KERAS_BACKEND=tensorflow "$folder/env/bin/python" - <<'PYTHON'
import numpy as np
from keras.layers import Embedding

layer = Embedding(5, 2)
layer.build()
layer.set_weights([np.arange(1.0, 11.0).reshape(5, 2)])
row = np.asarray(layer(np.array([2.7])))[0]
print("id 2.7 gives row 2", row)
assert row.tolist() == [5.0, 6.0]
PYTHON
