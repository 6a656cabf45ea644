"""The machine at hand: what it is, and how fast it can copy and multiply at most."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import cpuinfo
import psutil
import torch

from lookup_matmul.timings.cases import DTYPES
from lookup_matmul.timings.clock import Call, time_side_by_side

Ceilings = dict[str, Any]


def provenance(
    device: str, command: str, *, quick: bool = False, commit: str | None = None
) -> dict[str, Any]:
    """Describe where and with what a measurement is made.

    Parameters
    ----------
    device : str
        ``"cpu"`` or ``"cuda"``.
    command : str
        The command that measures, as it was typed.
    quick : bool
        Whether it is a trial.
    commit : str, optional
        Where the package is not in a clone, the commit that it was taken from.

    Returns
    -------
    dict
        Every member that the schema of a recording asks for; driver and CUDA are ``None`` on a CPU.

    Examples
    --------
    >>> provenance("cpu", "nox -s timings")["torch"] == torch.__version__
    True
    """
    on_gpu = device == "cuda"
    cpu = _cpu_name()
    gpu = torch.cuda.get_device_properties(0) if on_gpu else None
    return {
        "kind": device,
        "device": gpu.name if gpu else cpu,
        "device_memory_bytes": gpu.total_memory if gpu else psutil.virtual_memory().total,
        "driver": _said(
            "nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader"
        )
        if on_gpu
        else None,
        "cuda": torch.version.cuda if on_gpu else None,
        "torch": torch.__version__,
        "triton": _installed("triton"),
        "cpu": cpu,
        "threads": torch.get_num_threads(),
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "commit": commit or _commit(),
        "quick": quick,
    }


@contextmanager
def precision_of(dtype: str) -> Iterator[None]:
    """Let the GPU round products of float32 to TF32 for ``"tf32"``, and forbid it otherwise.

    Parameters
    ----------
    dtype : str
        A name among those of a recording.

    Examples
    --------
    >>> with precision_of("tf32"):
    ...     torch.backends.cuda.matmul.allow_tf32
    True
    """
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def free_bytes(device: str) -> int:
    """Tell how much memory can still be allocated.

    Parameters
    ----------
    device : str
        ``"cpu"`` or ``"cuda"``.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> free_bytes("cpu") > 0
    True
    """
    if device == "cuda":  # what torch keeps for itself but does not use is free as well
        kept = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        return torch.cuda.mem_get_info()[0] + kept
    return psutil.virtual_memory().available


def measure_ceilings(device: str, *, quick: bool) -> Ceilings:
    """Measure a large copy, and a large matrix product in each dtype.

    Parameters
    ----------
    device : str
        ``"cpu"`` or ``"cuda"``.
    quick : bool
        Smaller sizes and float32 only.

    Returns
    -------
    dict
        ``copy_bytes_per_s``, read and written together, and ``operations_per_s`` by dtype;
        the faster quartile of five rounds counts, since a ceiling is what can be reached.

    Examples
    --------
    >>> sorted(measure_ceilings("cpu", quick=True))
    ['copy_bytes_per_s', 'operations_per_s']
    """
    side, length = (
        (1024, 2**26) if quick else ((8192, 2**30) if device == "cuda" else (2048, 2**27))
    )
    source = torch.ones(length, device=device)
    target = torch.empty_like(source)
    copy_s = _fast(lambda: target.copy_(source))
    operations = {}
    for name in ("float32",) if quick or device == "cpu" else DTYPES:
        square = torch.randn(side, side, device=device).to(DTYPES[name])
        with precision_of(name):
            operations[name] = 2 * side**3 / _fast(lambda square=square: square @ square)
    return {"copy_bytes_per_s": 8 * length / copy_s, "operations_per_s": operations}


@cache
def _cpu_name() -> str:
    return str(cpuinfo.get_cpu_info()["brand_raw"])  # asks for a second or so


def _fast(call: Call) -> float:
    return time_side_by_side({"": call}, rounds=5)[""].low_s


def _commit() -> str:
    """Name the commit of this package, and say if it was changed since."""
    here = ("git", "-C", str(Path(__file__).parent.parent))
    commit = _said(*here, "rev-parse", "HEAD")
    clean = _said(*here, "status", "--porcelain", ".") in ("", "unknown")
    return commit if clean else f"{commit}-changed"


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
