"""Measure the cases of *Is the product ever faster?* into a JSON file."""

import json
import os
import platform
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import distributions
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from lookup_matmul.costs.count import COMPILED, DTYPES, ONE_HOT, PRODUCT, Case, plan_cases
from lookup_matmul.costs.forms import check_result, make_call, sample_inputs
from lookup_matmul.costs.timing import Call, capture_cuda_graph, time_side_by_side
from lookup_matmul.inputs import check_device

DRIVER_COMMAND = ("nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader")
GRAPH_CALLS = 10


def processor() -> str:
    """Return the name of the processor."""
    cpuinfo = Path("/proc/cpuinfo")  # Linux; platform knows only the architecture there
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def provenance(device: str) -> dict[str, str | int | None]:
    """Return the device, the versions, the threads and the date of a measurement made now."""
    check_device(device)
    installed = {package.name: package.version for package in distributions()}
    is_gpu = device == "cuda"
    driver: str | None = None
    if is_gpu:
        with suppress(OSError):  # a container may lack nvidia-smi
            completed = subprocess.run(DRIVER_COMMAND, capture_output=True, text=True, check=False)
            driver = completed.stdout.strip() or None
    return {
        "kind": device,
        "device": torch.cuda.get_device_name() if is_gpu else processor(),
        "driver": driver,
        "cuda": torch.version.cuda if is_gpu else None,
        "torch": torch.__version__,
        "triton": installed.get("triton"),
        "package": installed.get("lookup-matmul"),
        "python": platform.python_version(),
        "threads": torch.get_num_threads(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def record(folder: str | Path, device: str, *, quick: bool = False) -> Path:
    """Record a device, and return the path of the JSON file, which is named after the device.

    Raise ValueError for a device that is not present, or neither ``"cpu"`` nor ``"cuda"``.

    >>> record(".", "tpu")
    Traceback (most recent call last):
    ValueError: device is 'tpu', expected 'cpu' or 'cuda'; measure on one of them.
    """
    origin = provenance(device) | {"quick": quick}
    recording: dict[str, Any] = {"complete": False, "provenance": origin, "cases": []}
    name = re.sub(r"[^a-z0-9]+", "-", str(origin["device"]).lower()).strip("-") or device
    path = Path(folder, f"{name}{'-quick' if quick else ''}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    cases = plan_cases(device, quick=quick)
    for sizes, group in groupby(cases, key=lambda case: case[1:]):
        print(f"{len(recording['cases'])} of {len(cases)} cases, now", *sizes, flush=True)
        recording["cases"] += measure_cases([*group], device, rounds=3 if quick else 9)
        recording["complete"] = len(recording["cases"]) == len(cases)
        write_recording(path, recording)
    return path


def measure_cases(cases: list[Case], device: str, *, rounds: int) -> list[dict[str, Any]]:
    """Check and time each form of one case, on a GPU also as a CUDA graph, or say why not."""
    results = {case: case._asdict() for case in cases}
    calls: dict[tuple[Case, int], Call] = {}  # by case and number of its calls
    inputs = sample_inputs(cases[0], device)
    with float32_precision("high" if cases[0].dtype == "tf32" else "highest"):
        for case in cases:
            try:
                check_memory(case, device)
                call = make_call(case, inputs)
                results[case]["largest_error"] = check_result(case, inputs, call())
                calls[case, 1] = call
                if device == "cuda":
                    with suppress(RuntimeError):  # no graph can hold it
                        calls[case, GRAPH_CALLS] = capture_cuda_graph(call, GRAPH_CALLS)
            except (RuntimeError, AssertionError, MemoryError) as error:
                reason = str(error).strip().partition("\n")[0]
                results[case]["skipped"] = f"{type(error).__name__}: {reason:.120}"
        spreads = time_side_by_side(calls, rounds=rounds, block_s=0.01)
    for (case, count), (*seconds, _) in spreads.items():
        times = [float(f"{s / count:.4g}") for s in seconds]
        spread: Any = dict(zip(("low_s", "median_s", "high_s"), times, strict=True))
        results[case] |= {"graph": spread} if count > 1 else spread | {"rounds": rounds}
    return [*results.values()]


@contextmanager
def float32_precision(precision: str) -> Iterator[None]:
    """Set the precision of float32 products for a while: ``"high"`` is TF32 on a GPU."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def check_memory(case: Case, device: str) -> None:
    """Raise MemoryError if a case needs more memory than is free, on a CPU half of all memory."""
    one_hot = case.ids * case.vocab_size * DTYPES[case.dtype].itemsize
    needed = 3 * one_hot if case.form in (ONE_HOT, PRODUCT, COMPILED) else 0
    needed += 32 * (case.ids + case.vocab_size) * case.dim  # for the check in float64
    if device == "cuda":
        torch.cuda.empty_cache()
        free = torch.cuda.mem_get_info()[0]
    elif hasattr(os, "sysconf"):
        free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    else:
        return  # on Windows an allocation that does not fit is an error
    if needed > free:
        raise MemoryError(f"needs {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free")


def write_recording(path: Path, recording: dict[str, Any]) -> None:
    """Replace a recording in one step, with a line for each case."""
    encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
    head = encode({name: value for name, value in recording.items() if name != "cases"})
    cases = ",\n".join(map(encode, recording["cases"]))
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(f'{head[:-1]},"cases":[\n{cases}\n]}}\n', "utf-8")
    partial.replace(path)
