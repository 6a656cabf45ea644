"""What can be measured, and where: the words for calls and devices that cannot."""

from __future__ import annotations

import torch


def check_call(name: str, call: object) -> None:
    """Raise unless a value can be called, as the result of a call cannot."""
    if not callable(call):
        raise TypeError(
            f"{name} is a {type(call).__name__}, expected a function without arguments; "
            "write lambda: before what is to be measured."
        )


def check_device(device: object) -> None:
    """Raise unless a device is one of the two names by which it is measured, and is there."""
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device is {device!r}, expected 'cpu' or 'cuda'; measure on one of them.")
    known_device(device)


def known_device(device: object) -> torch.device:
    """Give the CPU or a GPU that is there, also one of several, such as ``"cuda:1"``."""
    try:
        known = torch.device(device) if isinstance(device, str | torch.device) else None
    except RuntimeError:  # which names every device that torch has heard of
        known = None
    if known is None or known.type not in ("cpu", "cuda"):
        raise ValueError(
            f"device is {device!s}, expected cpu or cuda; no other reports its memory."
        )
    if known.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device is {device}, but torch finds no GPU; measure on cpu, or install a torch "
            "and a driver for CUDA."
        )
    if known.index and known.index >= torch.cuda.device_count():
        raise ValueError(
            f"device is {device}, but torch finds GPUs 0 to {torch.cuda.device_count() - 1} only; "
            "measure on one of them."
        )
    return known
