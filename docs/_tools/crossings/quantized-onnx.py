# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "onnx==1.23.2", "onnxruntime==1.32.0"]
# ///
"""What onnxruntime's quantizer makes of a table behind Gather and of one behind MatMul."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from crossing_questions import ONE_LONG_ROW, median_error
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import InferenceSession
from onnxruntime.quantization import quantize_dynamic

FLOAT, TABLE = TensorProto.FLOAT, ONE_LONG_ROW.numpy()
NAMES = {"ids": TensorProto.INT64, "x": FLOAT}
SHAPES = {"ids": ["n"], "x": ["m", 64], "rows": ["n", 64], "scores": ["m", 1_000]}


def declare(name):
    """Return the declaration of an input or an output."""
    return helper.make_tensor_value_info(name, NAMES.get(name, FLOAT), SHAPES[name])


def make_model():
    """Return a graph that looks up rows, and multiplies by the transposed copy as a head does."""
    nodes = [
        helper.make_node("Gather", ["table", "ids"], ["rows"]),
        helper.make_node("MatMul", ["x", "head"], ["scores"]),
    ]
    weights = {"table": TABLE, "head": np.ascontiguousarray(TABLE.T)}
    tensors = [numpy_helper.from_array(weight, name) for name, weight in weights.items()]
    ends = [[declare(name) for name in names] for names in (["ids", "x"], ["rows", "scores"])]
    graph = helper.make_graph(nodes, "tied", *ends, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def quantize(per_channel):
    """Return the error of both layers, the shapes of their scales, and the size of the file."""
    with TemporaryDirectory() as folder:
        paths = [f"{folder}/{name}.onnx" for name in ("float", "int8")]
        onnx.save(make_model(), paths[0])
        quantize_dynamic(*paths, per_channel=per_channel)
        feeds = {"ids": np.arange(1_000), "x": np.eye(64, dtype="float32")}
        rows, scores = InferenceSession(paths[1]).run(None, feeds)
        tensors = onnx.load(paths[1]).graph.initializer
        size = Path(paths[1]).stat().st_size / TABLE.nbytes
    scales = {part.name: list(part.dims) for part in tensors if part.name.endswith("_scale")}
    errors = {"embedding": median_error(rows), "head": median_error(scores.T)}
    return errors | {"shapes of the scales": scales, "file": round(size, 2)}


results = {f"per_channel={option}": quantize(option) for option in (False, True)}
