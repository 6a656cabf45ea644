"""A measurement says where it was made, or is not made."""

import re
from types import SimpleNamespace

import pytest
import torch

from lookup_matmul import peak_bytes
from lookup_matmul.costs import (
    Case,
    machine,
    measure_cases,
    measure_ceilings,
    provenance,
    time_side_by_side,
)
from lookup_matmul.costs.memory import free_bytes

COMMIT = "0123456789" * 4
CASE = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")


def said(answers):
    """Answer commands by a word in them."""
    return lambda *command: next(text for word, text in answers.items() if word in command)


@pytest.mark.parametrize(("status", "ending"), [("", ""), (" M cost.py", "-changed")])
def test_a_changed_copy_is_told_from_its_commit(monkeypatch, status, ending):
    """What was measured may not be what the commit holds."""
    monkeypatch.setattr(machine, "_said", said({"rev-parse": COMMIT, "status": status}))
    assert provenance("cpu", "test")["commit"] == COMMIT + ending


def test_without_git_a_commit_can_be_named(monkeypatch, tmp_path):
    """As in a copy that was unpacked from an archive; before the machine is asked for seconds."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = provenance("cpu", "a command", commit=COMMIT)
    assert (found["commit"], found["command"]) == (COMMIT, "a command")
    assert (found["driver"], found["cuda"]) == (None, None)
    assert found["torch"] == torch.__version__
    assert found["device"] == found["cpu"]
    assert found["threads"] == torch.get_num_threads()
    monkeypatch.setattr(machine, "_cpu_name", None)
    for commit in (None, "0123456"):
        with pytest.raises(ValueError, match=r"commit is .*, expected 40 hexadecimal .* --commit"):
            provenance("cpu", "test", commit=commit)


def test_a_gpu_without_a_driver_s_version_is_refused(monkeypatch):
    """A container may hide nvidia-smi."""
    gpu = SimpleNamespace(name="A GPU", total_memory=8)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", {0: gpu}.get)
    monkeypatch.setattr(machine, "_said", said({"nvidia-smi": "unknown"}))
    with pytest.raises(ValueError, match=r"driver is 'unknown', expected a version; .* nvidia-smi"):
        provenance("cuda", "test", commit=COMMIT)
    monkeypatch.setattr(machine, "_said", said({"nvidia-smi": "570.86.15"}))
    found = provenance("cuda", "test", commit=COMMIT)
    assert (found["device"], found["device_memory_bytes"]) == ("A GPU", 8)
    assert (found["kind"], found["driver"]) == ("cuda", "570.86.15")


MEASURING = {
    "provenance": lambda device: provenance(device, "command", commit=COMMIT),
    "clock": lambda device: time_side_by_side({"sum": torch.ones(2).sum}, device=device),
    "cases": lambda device: measure_cases([CASE], ceilings={}, device=device),
    "ceilings": lambda device: measure_ceilings(device, quick=True),
    "peak": lambda device: peak_bytes(list, device),
}


@pytest.mark.parametrize("measure", MEASURING.values(), ids=MEASURING)
def test_a_device_that_is_not_there_is_refused(measure, monkeypatch):
    """In the same words everywhere, and before anything is measured."""
    for device in ("tpu", "cuda:0", None):
        message = f"device is {device!r}, expected 'cpu' or 'cuda'; measure on one of them"
        with pytest.raises(ValueError, match=re.escape(message)):
            measure(device)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device is cuda, but torch finds no GPU; measure on cpu"):
        measure("cuda")


def test_memory_that_torch_keeps_unused_is_free(monkeypatch):
    """On a CPU it is the system's number."""
    assert 0 < free_bytes("cpu") < 2**50
    kept = {"memory_reserved": 7, "memory_allocated": 4, "mem_get_info": (10, 16)}
    for name, value in kept.items():
        monkeypatch.setattr(torch.cuda, name, lambda value=value: value)
    assert free_bytes("cuda") == 10 + 7 - 4
