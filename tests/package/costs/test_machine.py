"""A measurement names its machine and its versions."""

import platform
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from lookup_matmul.costs import processor, recorder


def test_the_processor_is_named_as_linux_names_it(monkeypatch):
    """Elsewhere as Python names it, or by its architecture."""
    text = "processor\t: 0\nmodel name\t: A CPU @ 2.0 GHz\nprocessor\t: 1\nmodel name\t: A CPU\n"
    monkeypatch.setattr(Path, "exists", lambda _: True)
    monkeypatch.setattr(Path, "read_text", lambda *_: text)
    assert processor() == "A CPU @ 2.0 GHz"
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setattr(platform, "processor", lambda: "arm")
    assert processor() == "arm"
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert processor() == platform.machine()


def run_nvidia_smi(command, **_):
    """Answer for a driver."""
    assert command[0] == "nvidia-smi"
    return SimpleNamespace(stdout="570.86.15\n")


def test_a_processor_has_neither_driver_nor_cuda(monkeypatch):
    """Even beside a GPU; the versions are those that are installed."""
    monkeypatch.setattr(recorder.subprocess, "run", run_nvidia_smi)
    origin = recorder.provenance("cpu")
    assert (origin["kind"], origin["device"]) == ("cpu", processor())
    assert (origin["driver"], origin["cuda"]) == (None, None)
    assert (origin["torch"], origin["package"]) == (torch.__version__, version("lookup-matmul"))
    assert (origin["threads"], origin["python"]) == (
        torch.get_num_threads(),
        platform.python_version(),
    )


def fail_to_start(command, **_):
    """Answer as a container without nvidia-smi."""
    raise FileNotFoundError(command[0])


@pytest.mark.parametrize(("run", "driver"), [(run_nvidia_smi, "570.86.15"), (fail_to_start, None)])
def test_a_gpu_has_a_driver_if_it_is_known(monkeypatch, run, driver):
    """A container may hide it; its name and the version of CUDA are torch's."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "A GPU")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(recorder.subprocess, "run", run)
    origin = recorder.provenance("cuda")
    assert (origin["device"], origin["driver"], origin["cuda"]) == ("A GPU", driver, "13.0")
