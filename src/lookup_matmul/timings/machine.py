"""The machine at hand: what it is, with which torch, and what it has left."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import torch


def provenance(device: str, command: str, commit: str | None = None) -> dict[str, Any]:
    """Describe where, when and with what a measurement is made, before it is made.

    Parameters
    ----------
    device, command : str
        ``"cpu"`` or ``"cuda"``; and what measures, as it was typed.
    commit : str, optional
        Where the package is not in a clone, the commit that it was taken from.

    Returns
    -------
    dict
        Machine, versions, threads, date, command, commit; driver and CUDA None on a CPU.

    Raises
    ------
    ValueError
        If the commit or a GPU's driver cannot be told: nobody could repeat the measurement.

    Examples
    --------
    >>> provenance("cpu", "python -m lookup_matmul.timings", commit="0" * 40)["kind"]
    'cpu'
    """
    commit = commit or _commit()
    if not re.fullmatch("[0-9a-f]{40}(-changed)?", commit):
        raise ValueError(
            f"commit is {commit!r}, expected 40 hexadecimal digits; measure in a clone with git, "
            "or name the commit that this copy was taken from with --commit."
        )
    origin = environment(device)
    if device == "cuda" and not re.fullmatch(r"\d+(\.\d+)+", origin["driver"]):
        raise ValueError(
            f"driver is {origin['driver']!r}, expected a version; see why nvidia-smi tells none."
        )
    date = datetime.now(UTC).date().isoformat()
    return origin | {"date": date, "command": command, "commit": commit}


def environment(device: str) -> dict[str, Any]:
    """Describe the machine and the torch on it, as far as :func:`provenance` does."""
    import psutil

    if device not in ("cpu", "cuda"):
        raise ValueError(f"device is {device!r}, expected 'cpu' or 'cuda'.")
    gpu = torch.cuda.get_device_properties(0) if device == "cuda" else None
    asked = ("nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader")
    try:
        triton = metadata.version("triton")
    except metadata.PackageNotFoundError:
        triton = None
    return {
        "kind": device,
        "device": gpu.name if gpu else _cpu_name(),
        "device_memory_bytes": gpu.total_memory if gpu else psutil.virtual_memory().total,
        "driver": _said(*asked) if gpu else None,
        "cuda": torch.version.cuda if gpu else None,
        "torch": torch.__version__,
        "triton": triton,
        "cpu": _cpu_name(),
        "threads": torch.get_num_threads(),
    }


@contextmanager
def precision_of(dtype: str) -> Iterator[None]:
    """Let the GPU round products of float32 to TF32 for ``"tf32"``, and forbid it otherwise."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def free_bytes(device: str) -> int:
    """Tell how much memory can still be allocated."""
    if device == "cuda":  # what torch keeps for itself but does not use is free as well
        kept = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return torch.cuda.mem_get_info()[0] + kept
    import psutil

    return psutil.virtual_memory().available


@cache
def _cpu_name() -> str:
    import cpuinfo

    return str(cpuinfo.get_cpu_info()["brand_raw"])  # asks for a second or so


def _commit() -> str:
    """Name the commit of this package, and say if it was changed since."""
    here = ("git", "-C", str(Path(__file__).parent.parent))
    changed = _said(*here, "status", "--porcelain", ".") not in ("", "unknown")
    return _said(*here, "rev-parse", "HEAD") + "-changed" * changed


def _said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
