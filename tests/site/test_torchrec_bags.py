"""The recording of TorchRec's bags belongs to the inputs that would be recorded now."""

import json
from pathlib import Path

import torch
from torchrec_bags import FILE, inputs


def test_the_recording_is_of_these_inputs():
    """Tables, lengths and ids are those of the file, bit by bit; each process gave each way."""
    recorded = json.loads((Path(__file__).parents[2] / FILE).read_text("utf-8"))
    tables, lengths, ids = inputs()
    assert recorded["lengths"] == lengths.tolist()
    assert recorded["ids"] == ids.tolist()
    assert list(recorded["tables"]) == list(tables)
    for name, table in tables.items():
        assert torch.equal(torch.tensor(recorded["tables"][name]), table)
    assert len(recorded["bags"]) == len(lengths)
    assert all(len(ways) == 4 for ways in recorded["bags"])
    assert set(recorded["versions"]) == {"python", "torch", "torchrec", "fbgemm-gpu-cpu"}
