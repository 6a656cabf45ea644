"""Calls and devices that cannot be measured are named, by every function that measures."""

import re

import pytest
import torch

from lookup_matmul import allocated_bytes, peak_bytes
from lookup_matmul.costs import (
    Case,
    measure_cases,
    measure_ceilings,
    provenance,
    record,
    time_side_by_side,
)

COMMIT = 4 * "0123456789"
CASE = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
MEASURING = {
    "provenance": lambda device: provenance(device, "command", commit=COMMIT),
    "ceilings": lambda device: measure_ceilings(device, quick=True),
    "clock": lambda device: time_side_by_side({"sum": torch.ones(2).sum}, device=device),
    "cases": lambda device: measure_cases([CASE], ceilings={}, device=device),
}


@pytest.mark.parametrize("device", ["tpu", "CPU", "cuda:0", None, 0, torch.device("cpu")])
@pytest.mark.parametrize("measure", MEASURING.values(), ids=MEASURING)
def test_another_device_is_refused(measure, device):
    """With the two names that there are, and before anything is measured."""
    message = f"device is {device!r}, expected 'cpu' or 'cuda'; measure on one of them"
    with pytest.raises(ValueError, match=re.escape(message)):
        measure(device)


@pytest.mark.parametrize(
    "measure",
    [*MEASURING.values(), lambda device: peak_bytes(list, device)],
    ids=[*MEASURING, "peak"],
)
def test_a_gpu_that_is_not_there_is_refused(measure, monkeypatch):
    """In the same words everywhere."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="device is cuda, but torch finds no GPU; measure on cpu"):
        measure("cuda")


def test_a_recording_on_another_device_makes_no_folder(tmp_path):
    """What cannot be measured leaves nothing behind; a path may be a text."""
    with pytest.raises(ValueError, match="device is 'tpu', expected 'cpu' or 'cuda'"):
        record(f"{tmp_path}/new/mine.json", [], device="tpu", command="command")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("device", ["gpu", "CPU", 0, None, "meta"])
def test_a_peak_is_measured_where_torch_tells_of_memory(device):
    """Also what torch does not know as a device is a ValueError."""
    with pytest.raises(ValueError, match=f"device is {device}, expected cpu or cuda; no other"):
        peak_bytes(list, device)


def test_a_gpu_too_many_is_refused(monkeypatch):
    """With those there are."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ValueError, match="device is cuda:2, but torch finds GPUs 0 to 1 only"):
        peak_bytes(list, "cuda:2")


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        (lambda: allocated_bytes(torch.ones(2) + 1), "call is a Tensor, expected a function without arguments; write lambda: before"),
        (lambda: peak_bytes(torch.ones(2) + 1), "call is a Tensor, expected a function without arguments"),
        (lambda: time_side_by_side({"s": 1}), "contender 's' is a int, expected a function"),
    ],
)  # fmt: skip
def test_the_result_of_a_call_is_refused(measure, message):
    """It has been called before anybody could measure it."""
    with pytest.raises(TypeError, match=re.escape(message)):
        measure()
