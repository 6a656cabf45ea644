"""The machine at hand: its processor or GPU, its memory, and the versions installed."""

import platform
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path

import torch

from lookup_matmul.inputs import check_device

DRIVER = ("nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader")


def processor() -> str:
    """Return the name of the processor.

    Examples
    --------
    >>> isinstance(processor(), str)
    True
    """
    cpuinfo = Path("/proc/cpuinfo")  # Linux; platform knows only the architecture there
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def provenance(device: str) -> dict[str, str | int | None]:
    """Return the device, the versions, the threads and the date of a measurement made now."""
    check_device(device)
    installed = {package.name: package.version for package in distributions()}
    gpu, driver = device == "cuda", None
    if gpu:
        with suppress(OSError):  # a container may lack nvidia-smi
            answer = subprocess.run(DRIVER, capture_output=True, text=True, check=False)
            driver = answer.stdout.strip() or None
    return {
        "kind": device,
        "device": torch.cuda.get_device_name() if gpu else processor(),
        "driver": driver,
        "cuda": torch.version.cuda if gpu else None,
        "torch": torch.__version__,
        "triton": installed.get("triton"),
        "package": installed.get("lookup-matmul"),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "date": datetime.now(UTC).date().isoformat(),
    }
