"""Where, when and with what something is measured: machine, versions, date and commit."""

import re
import subprocess
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from lookup_matmul.costs.markdown import escaped
from lookup_matmul.costs.measurable import check_device


def provenance(device: str, command: str, commit: str | None = None) -> dict[str, Any]:
    """Describe where, when and with what a measurement is made, before it is made.

    On ``"cpu"`` or ``"cuda"``, by a command as it was typed; outside of a clone, ``commit`` says
    which one the package was taken from. Gives machine, versions, threads, date, command and
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
    asked = ("nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader")
    driver = _said(*asked) if gpu else None
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


def describe(recording: dict[str, Any]) -> str:
    """Say where a recording comes from and what it lacks, in a line of Markdown without markup.

    Examples
    --------
    >>> origin = {"device": "A device", "driver": "1.2", "cuda": "13.0", "torch": "2.13.0",
    ...           "date": "2026-01-31", "commit": 4 * "0123456789", "quick": False}
    >>> describe({"provenance": origin, "complete": True})
    'A device, driver 1.2, CUDA 13.0, torch 2.13.0, recorded on 2026-01-31 at commit 0123456'
    """
    origin = recording["provenance"]
    names = {"device": "", "driver": "driver ", "cuda": "CUDA ", "torch": "torch "}
    said = [words + escaped(origin[name]) for name, words in names.items() if origin[name]]
    changed = ", changed since" if origin["commit"].endswith("-changed") else ""
    said.append(f"recorded on {origin['date']} at commit {origin['commit'][:7]}{changed}")
    lacks = "; a trial with few rounds" if origin["quick"] else ""
    return ", ".join(said) + lacks + ("" if recording["complete"] else "; not complete")


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
