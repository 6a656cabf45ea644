"""What torch's allocator on a CPU is asked for while a call runs."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch._C import _autograd, _profiler

ERRORS_ONLY = 2  # torch's levels: 0 is information, 1 a warning, 2 an error


class _Thread(threading.local):
    """The recordings that go on in one thread, the outermost first."""

    def __init__(self) -> None:
        self.recordings: list[tuple[list[Any], bool]] = []


_thread = _Thread()
_lock, _quiet = threading.Lock(), [0, 0]  # how many ask for silence, and the level before


def recorded_events(call: Callable[[], object], *, with_flops: bool = False) -> list[Any]:
    """Give what torch recorded of a call in this thread: operations, allocations and releases.

    The older of torch's two profilers does it. The newer one sets up Kineto, which looks for a
    GPU and writes lines of its own to standard error, and it may crash beside other threads.
    A recording inside another one interrupts it and hands it what it has seen.
    """
    events: list[Any] = []
    with _without_word_of_older_blocks():
        _interrupt()
        _thread.recordings.append((events, with_flops))
        try:
            _go_on()
            try:
                call()
            finally:
                _interrupt()
        finally:
            _thread.recordings.pop()
            _go_on()
    return events


def sizes_of(events: list[Any]) -> list[int]:
    """Give the bytes of each allocation, and of each release as a negative number."""
    return [event.cpu_memory_usage() for event in events if event.kind() == "memory_alloc"]


def _interrupt() -> None:
    if _thread.recordings:
        seen = [event for thread in _autograd._disable_profiler_legacy() for event in thread]
        for events, _ in _thread.recordings:
            events += seen


def _go_on() -> None:
    if not _thread.recordings:
        return
    with_flops = any(wanted for _, wanted in _thread.recordings)
    try:
        _autograd._enable_profiler_legacy(_settings(with_flops))
    except RuntimeError as error:
        raise RuntimeError(
            "a profiler of torch is at work in this thread, expected none, since torch takes "
            "only one at a time; measure before or after it."
        ) from error


@cache
def _settings(with_flops: bool) -> Any:
    return _profiler.ProfilerConfig(
        _profiler.ProfilerState.CPU,
        report_input_shapes=with_flops,
        profile_memory=True,
        with_stack=False,
        with_flops=with_flops,
        with_modules=False,
        experimental_config=_profiler._ExperimentalConfig(),
    )


@contextmanager
def _without_word_of_older_blocks() -> Iterator[None]:
    """Let torch's C++ code write errors only.

    It would warn, at one release in a thousand, that a block is of unknown size.
    """
    level = _log_level()
    with _lock:
        _quiet[0] += 1
        if _quiet[0] == 1:
            _quiet[1], level.value = level.value, max(level.value, ERRORS_ONLY)
    try:
        yield
    finally:
        with _lock:
            _quiet[0] -= 1
            if _quiet[0] == 0:
                level.value = _quiet[1]


@cache
def _log_level() -> ctypes.c_int:
    """Give the variable of torch's C++ code, which Python can only set before torch is loaded."""
    name = {"darwin": "libc10.dylib", "win32": "c10.dll"}.get(sys.platform, "libc10.so")
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name))
        return ctypes.c_int.in_dll(library, "FLAGS_caffe2_log_level")
    except (OSError, ValueError):
        return ctypes.c_int(ERRORS_ONLY)  # a torch built otherwise: it says what it says
