"""A measurement says where it was made, or is not made."""

from types import SimpleNamespace

import pytest
import torch

from lookup_matmul.costs import machine
from lookup_matmul.costs.machine import provenance
from lookup_matmul.costs.memory import free_bytes

COMMIT = "0123456789" * 4


def said(answers):
    """Answer commands by a word in them."""
    return lambda *command: next(text for word, text in answers.items() if word in command)


@pytest.mark.parametrize(("status", "ending"), [("", ""), (" M cost.py", "-changed")])
def test_a_changed_copy_is_told_from_its_commit(monkeypatch, status, ending):
    """What was measured may not be what the commit holds."""
    monkeypatch.setattr(machine, "_said", said({"rev-parse": COMMIT, "status": status}))
    assert provenance("cpu", "test")["commit"] == COMMIT + ending


@pytest.mark.parametrize("commit", ["unknown", "", "0123456", COMMIT.upper().replace("0", "A")])
def test_an_unknown_commit_is_refused_before_the_machine_is_asked(monkeypatch, commit):
    """With what to do about it."""
    monkeypatch.setattr(machine, "_said", said({"rev-parse": "unknown", "status": "unknown"}))
    monkeypatch.setattr(machine, "_cpu_name", None)
    with pytest.raises(ValueError, match=r"commit is .*, expected 40 hexadecimal .* --commit"):
        provenance("cpu", "test", commit=commit)


def test_without_git_a_commit_can_be_named(monkeypatch, tmp_path):
    """As in a copy that was unpacked from an archive."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match="commit is 'unknown'"):
        provenance("cpu", "test")
    found = provenance("cpu", "a command", commit=COMMIT)
    assert found["commit"] == COMMIT
    assert found["command"] == "a command"
    assert (found["driver"], found["cuda"]) == (None, None)
    assert found["torch"] == torch.__version__
    assert found["device"] == found["cpu"]
    assert found["threads"] == torch.get_num_threads()


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


def test_an_unknown_device_is_refused():
    """With those that are known."""
    with pytest.raises(ValueError, match="device is 'mps', expected 'cpu' or 'cuda'"):
        provenance("mps", "test", commit=COMMIT)


def test_memory_that_torch_keeps_unused_is_free(monkeypatch):
    """On a CPU it is the system's number."""
    assert 0 < free_bytes("cpu") < 2**50
    for name, value in {
        "memory_reserved": 7,
        "memory_allocated": 4,
        "mem_get_info": (10, 16),
    }.items():
        monkeypatch.setattr(torch.cuda, name, lambda value=value: value)
    assert free_bytes("cuda") == 10 + 7 - 4
