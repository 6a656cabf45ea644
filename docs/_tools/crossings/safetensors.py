# /// script
# dependencies = ["torch==2.13.0", "numpy==2.4.6", "safetensors==0.8.0"]
# ///
"""What safetensors and torch.save do with views of a table and with a tied one."""

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors.torch import load_file, load_model, save_file, save_model
from torch import nn


def message_of(call):
    """Return type and first line of the error that a call raises, or "no error"."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[0].partition(': [{')[0]}"
    return "no error"


def saved_bytes(value):
    """Return the size of what torch.save writes."""
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.tell()


table = torch.randn(1_000, 64)
model = nn.ModuleDict({"embed": nn.Embedding(1_000, 64), "head": nn.Linear(64, 1_000, bias=False)})
model["head"].weight = model["embed"].weight
with TemporaryDirectory() as folder:
    path = f"{folder}/model.safetensors"
    results = {
        "a transposed table": message_of(lambda: save_file({"weight": table.T}, path)),
        "a tied model by save_file": message_of(lambda: save_file(model.state_dict(), path)),
    }
    save_model(model, path)
    results["names in the file of save_model"] = sorted(load_file(path))
    results["load_state_dict of that file"] = message_of(
        lambda: model.load_state_dict(load_file(path))
    )
    load_model(model, path)
    results["tied after load_model"] = model["head"].weight is model["embed"].weight
    save_file({"weight": table[:2].clone()}, path)
    results["bytes of two rows, safetensors"] = Path(path).stat().st_size
    results["a view of two rows"] = message_of(lambda: save_file({"weight": table[:2]}, path))
    results["bytes of a view of two rows, safetensors"] = Path(path).stat().st_size
results |= {
    "bytes of two rows, torch.save": saved_bytes(table[:2].clone()),
    "bytes of a view of two rows, torch.save": saved_bytes(table[:2]),
}
