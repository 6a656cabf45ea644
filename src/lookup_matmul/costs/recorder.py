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

from lookup_matmul.costs.count import (
    BAG,
    COMPILED,
    COMPILED_LOOKUP,
    CSR,
    DTYPES,
    ONE_HOT,
    PRODUCT,
    Case,
)
from lookup_matmul.costs.forms import check_result, make_call, sample_inputs
from lookup_matmul.costs.timing import Call, capture_cuda_graph, time_side_by_side
from lookup_matmul.inputs import check_device

IDS = {"cpu": 1024, "cuda": 16_384}  # a GPU needs more to work for longer than a launch takes
DRIVER_COMMAND = ("nvidia-smi", "--id=0", "--query-gpu=driver_version", "--format=csv,noheader")
BAGS, BAG_SIZE, GRAPH_CALLS = 1024, 16, 10
BASIC_FORMS = ("lookup", ONE_HOT, PRODUCT)
PLAN: tuple[tuple[str, str, int, tuple[int, ...], tuple[str, ...]], ...] = (
    ("forward", "float32", 128, (2, 16, 256, 8192), BASIC_FORMS),
    ("forward", "float32", 128, (64, 1024), (*BASIC_FORMS, COMPILED, COMPILED_LOOKUP)),
    ("forward", "float32", 128, (131_072,), (*BASIC_FORMS, COMPILED_LOOKUP)),
    ("forward", "float32", 768, (16, 1024), (*BASIC_FORMS, COMPILED_LOOKUP)),
    ("forward", "tf32", 128, (64, 1024), (ONE_HOT, PRODUCT)),  # a lookup does not round
    ("forward", "bfloat16", 128, (16, 64, 1024), (*BASIC_FORMS, COMPILED, COMPILED_LOOKUP)),
    ("forward", "float16", 128, (1024,), ("lookup", PRODUCT)),
    ("backward", "float32", 128, (2, 64, 1024, 131_072), BASIC_FORMS),
    ("backward", "bfloat16", 128, (2, 64, 1024), BASIC_FORMS),
    ("bags", "float32", 128, (1024, 131_072), (BAG, CSR)),
)


def plan_cases(device: str, *, quick: bool = False) -> list[Case]:
    """Return the cases of a device, those that share their inputs next to each other."""
    cases = []
    for kind, dtype, dim, vocab_sizes, forms in PLAN:
        if dtype == "tf32" and device == "cpu":
            continue
        ids, bags = (BAGS * BAG_SIZE, BAGS) if kind == "bags" else (IDS[device], 0)
        direction = "backward" if kind == "backward" else "forward"
        for vocab_size in vocab_sizes:
            sizes = (vocab_size, dim, ids, dtype, bags)
            cases += [Case(form, direction, *sizes) for form in forms]
    if not quick:
        return cases
    small = [case for case in cases if case[2:4] == (1024, 128) and case.dtype == "float32"]
    return [case for case in small if case.form not in (COMPILED, COMPILED_LOOKUP)]


def processor() -> str:
    """Return the name of the processor.

    >>> name = processor()
    """
    cpuinfo = Path("/proc/cpuinfo")  # Linux; platform knows only the architecture there
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def provenance(device: str) -> dict[str, str | int | None]:
    """Return the device, the versions, the threads and the date of a measurement made now."""
    check_device(device)
    installed = {package.name: package.version for package in distributions()}
    is_gpu, driver = device == "cuda", None
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
        ...
    ValueError: device is 'tpu', expected 'cpu' or 'cuda'; measure on one of them.
    """
    origin = provenance(device) | {"quick": quick}
    recording: dict[str, Any] = {"complete": False, "provenance": origin, "cases": []}
    name = re.sub(r"[^a-z0-9]+", "-", str(origin["device"]).lower()).strip("-") or device
    path = Path(folder, f"{name}{'-quick' * quick}.json")
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
        spread: Any = dict(zip(("median_s", "low_s", "high_s"), times, strict=True))
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
    head = {name: value for name, value in recording.items() if name != "cases"}
    cases = ",\n".join(json.dumps(case, allow_nan=False) for case in recording["cases"])
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(f'{json.dumps(head)[:-1]}, "cases": [\n{cases}\n]}}\n', "utf-8")
    partial.replace(path)
