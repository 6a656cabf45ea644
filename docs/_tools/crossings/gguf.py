# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "gguf==0.19.0"]
# ///
"""How GGUF stores a table: its shape, its bytes and the error of its rows by kind of number."""

from tempfile import TemporaryDirectory

import gguf
from crossing_questions import ONE_LONG_ROW, attempt, median_error
from gguf import MODEL_ARCH, GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize, quantize

TABLE = ONE_LONG_ROW.numpy()


def store(kind):
    """Return the shape that a file names, its bytes over the floats, and the median error."""
    with TemporaryDirectory() as folder:
        writer = GGUFWriter(f"{folder}/table.gguf", "llama")
        writer.add_tensor("token_embd.weight", quantize(TABLE, kind), raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        (tensor,) = GGUFReader(f"{folder}/table.gguf").tensors
        rows = dequantize(tensor.data, kind).copy()
        shape, size = tensor.shape.tolist(), int(tensor.n_bytes)
    return {
        "shape": shape,
        "bytes over the floats": round(size / TABLE.nbytes, 3),
        "median error of a row": median_error(rows),
    }


names = gguf.get_tensor_name_map(MODEL_ARCH.LLAMA, 1)
results = {
    "shape in torch": list(TABLE.shape),
    "kinds": {name: store(GGMLQuantizationType[name]) for name in ("F32", "F16", "Q8_0", "Q4_0")},
    "rows of 40 numbers in Q8_0": attempt(
        lambda: quantize(TABLE[:, :40], GGMLQuantizationType.Q8_0)
    ),
    "names": {
        name: names.get_name(name, (".weight",))
        for name in ("model.embed_tokens.weight", "lm_head.weight")
    },
}
