"""The machine at hand: which devices it has, and where, when and with what it measures."""

import re
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

DRIVER = ("nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader")


def check_device(device: str) -> None:
    """Raise ValueError unless a device is one of the two that are measured, and is there."""
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device is {device!r}, expected 'cpu' or 'cuda'; measure on one of them.")
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            "device is cuda, but torch finds no GPU; measure on cpu, or install a torch "
            "and a driver for CUDA."
        )


def provenance(device: str, command: str, commit: str | None = None) -> dict[str, Any]:
    """Describe where, when and with what a measurement is made, before it is made.

    On ``"cpu"`` or ``"cuda"``, by a command as it was typed; outside of a clone, ``commit`` says
    which one the package was taken from. Returns machine, versions, threads, date, command and
    commit; driver and CUDA are None on a CPU. A commit or a driver that cannot be told is a
    ValueError: nobody could repeat the measurement. So is another device, or one that is not there.

    Examples
    --------
    >>> provenance("cpu", "python -m lookup_matmul.costs", commit="0" * 40)["kind"]
    'cpu'
    """
    import psutil

    check_device(device)
    if not re.fullmatch("[0-9a-f]{40}(-changed)?", commit := commit or _commit()):
        raise ValueError(
            f"commit is {commit!r}, expected 40 hexadecimal digits; measure in a clone with git, "
            "or name the commit that this copy was taken from with --commit."
        )
    gpu = torch.cuda.get_device_properties(0) if device == "cuda" else None
    driver = _said(*DRIVER) if gpu else None
    if driver is not None and not re.fullmatch(r"\d+(\.\d+)+", driver):
        raise ValueError(
            f"driver is {driver!r}, expected a version; see why nvidia-smi tells none."
        )
    triton = [found.version for found in metadata.distributions(name="triton")]
    return {
        "kind": device,
        "device": gpu.name if gpu else _cpu_name(),
        "device_memory_bytes": gpu.total_memory if gpu else psutil.virtual_memory().total,
        "driver": driver,
        "cuda": torch.version.cuda if gpu else None,
        "torch": torch.__version__,
        "triton": triton[0] if triton else None,
        "cpu": _cpu_name(),
        "threads": torch.get_num_threads(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "commit": commit,
    }


@cache
def _cpu_name() -> str:
    import cpuinfo

    return str(cpuinfo.get_cpu_info()["brand_raw"])  # asks for a second or so


def _commit() -> str:
    """Name the commit of this package, and say if it was changed since."""
    here = ("git", "-C", str(Path(__file__).parent))
    changed = _said(*here, "status", "--porcelain", ".") not in ("", "unknown")
    return _said(*here, "rev-parse", "HEAD") + "-changed" * changed


def _said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
