# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "keras==3.15.1", "tensorflow-cpu==2.21.0"]
# ///
"""How Keras looks up rows, masks a padding row and quantizes a table, on TensorFlow."""

import warnings

import keras
import numpy as np
import tensorflow as tf
from crossing_questions import ONE_LONG_ROW, TABLE, ask, attempt, describe_spread, median_error
from keras import layers, ops


def embedding(weight, **options):
    """Return a layer with this table."""
    layer = layers.Embedding(*weight.shape, **options)
    layer.build()
    layer.set_weights([weight])
    return layer


def padding_gradient(layer_after):
    """Return the gradient's first column for the ids 1, 0, 2, 0 of a layer with mask_zero."""
    layer = embedding(TABLE.numpy(), mask_zero=True)
    with tf.GradientTape() as tape, warnings.catch_warnings(action="ignore"):
        total = tf.reduce_sum(layer_after(layer(np.array([[1, 0, 2, 0]]))))
    gradient = tape.gradient(total, layer.embeddings.value)
    return tf.convert_to_tensor(gradient).numpy()[:, 0].tolist()


quantized = embedding(ONE_LONG_ROW.numpy())
quantized.quantize("int8")
fresh = layers.Embedding(5_000, 64)
fresh.build()
lora = layers.Embedding(10, 4)
lora.build()
lora.enable_lora(2)
results = {
    "layer": ask(
        lambda ids, weight: embedding(weight)(ids),
        lambda ids, weight: ops.matmul(ops.one_hot(ids, len(weight)), weight),
    ),
    "first numbers": describe_spread(fresh.get_weights()[0]),
    "id 2.7": attempt(lambda: embedding(TABLE.numpy())(np.array([2.7]))),
    "rows of ids 0 and 1 with mask_zero": attempt(
        lambda: embedding(TABLE.numpy(), mask_zero=True)(np.array([0, 1]))
    ),
    "gradient with mask_zero, mean after": padding_gradient(layers.GlobalAveragePooling1D()),
    "gradient with mask_zero, Flatten after": padding_gradient(layers.Flatten()),
    "int8": {weight.path.split("/")[1]: list(weight.shape) for weight in quantized.weights},
    "median error of a row in int8": median_error(quantized(np.arange(1_000))),
    "LoRA, any number not zero": {
        weight.path.split("/")[1]: bool(np.any(np.asarray(weight))) for weight in lora.weights
    },
    "backend": keras.backend.backend(),
}
