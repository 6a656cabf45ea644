#!/bin/sh
# torch 2.13.0, onnx 1.23.2, onnxscript 0.7.2, Linux x86-64, 2026-11-29.
# Guess before the run: an EmbeddingBag of ids of shape (64, 20), bags of one length, exports as
#   Gather and ReduceSum.
# Behavior: it exports as a Loop over a sequence, as a bag with offsets does; in onnxruntime 1.32.0
#   512 bags of 10 rows took 70 to 160 times torch's time with one thread.
# Output seen: Loop True , Gather True
set -e
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q torch==2.13.0 numpy==2.4.6 onnx==1.23.2 onnxscript==0.7.2
"$folder/env/bin/python" -W ignore - <<'PYTHON'
import torch
bag = torch.nn.EmbeddingBag(1000, 32, mode="sum")
ids = torch.randint(0, 1000, (64, 20))
model = torch.onnx.export(bag.eval(), (ids,), dynamo=True, verbose=False).model_proto
names = {node.op_type for node in model.graph.node}
print("Loop", "Loop" in names, ", Gather", "Gather" in names)
raise SystemExit("Loop" not in names)
PYTHON
