# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "torchao==0.18.0", "bitsandbytes==0.50.2"]
# ///
"""Which quantizers touch an Embedding, how precise it stays, and what becomes of a tie."""

import io

import bitsandbytes
import torch
from crossing_questions import ONE_LONG_ROW, attempt, median_error
from torch import nn
from torch.ao.quantization import quantize_dynamic
from torchao.quantization import Int8WeightOnlyConfig, quantize_


def tied():
    """Return an embedding and a head with one Parameter."""
    model = nn.ModuleDict(
        {"embedding": nn.Embedding(1_000, 64), "head": nn.Linear(64, 1_000, False)}
    )
    model["embedding"].weight.data.copy_(ONE_LONG_ROW)
    model["head"].weight = model["embedding"].weight
    return model


@torch.no_grad()
def describe(model):
    """Return the errors of both layers and the size of the file, over that of the floats."""
    torch.save(model.state_dict(), file := io.BytesIO())
    rows, scores = model["embedding"](torch.arange(1_000)), model["head"](torch.eye(64))
    errors = {"embedding": median_error(rows), "head": median_error(scores.T)}
    return errors | {"file": round(file.tell() / ONE_LONG_ROW.nbytes, 2)}


def with_torchao(*kinds, again=False):
    """Return what torchao makes of layers of these kinds, perhaps tied again."""
    model = tied()
    quantize_(model, Int8WeightOnlyConfig(), filter_fn=lambda layer, _: isinstance(layer, kinds))
    if again:
        model["head"].weight = model["embedding"].weight
    return describe(model)


def with_bitsandbytes(kind):
    """Return the error of bitsandbytes' layer, and what saving it raises."""
    layer = kind(1_000, 64)
    layer.load_state_dict({"weight": ONE_LONG_ROW})
    rows = layer.to("cpu")(torch.arange(1_000)).float()
    return {"embedding": median_error(rows), "saving": attempt(layer.state_dict)}


results = {
    "torchao, head": with_torchao(nn.Linear),
    "torchao, both": with_torchao(nn.Linear, nn.Embedding),
    "torchao, both, tied again": with_torchao(nn.Linear, nn.Embedding, again=True),
    "bitsandbytes, 8 bits": with_bitsandbytes(bitsandbytes.nn.Embedding8bit),
    "bitsandbytes, 4 bits": with_bitsandbytes(bitsandbytes.nn.Embedding4bit),
    "torch, head": describe(quantize_dynamic(tied(), {nn.Linear}, torch.qint8)),
    "torch, embedding": describe(quantize_dynamic(tied(), {nn.Embedding}, torch.quint8)),
}
