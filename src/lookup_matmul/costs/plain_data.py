"""JSON files: written whole or not at all, by one process at a time, held to a form when read."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from uuid import uuid4

from lookup_matmul.costs.markdown import PLAIN


def write_whole(path: Path, text: str) -> None:
    """Write a file in one go, so that nobody, not even after a kill, meets half of it."""
    partial = path.with_name(f".{path.stem}-{uuid4().hex}.partial")
    try:
        with partial.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Refuse a second process in the folder; the system gives the lock free with the process."""
    from filelock import FileLock, Timeout  # which torch needs

    name = sha256(str(folder.resolve()).encode()).hexdigest()
    lock = FileLock(Path(gettempdir(), f"lookup-matmul-{name[:16]}.lock"), timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(
            f"{folder}: another run is recording into this folder, expected one at a time; "
            "wait for its end, or choose another folder."
        ) from None
    try:
        yield
    finally:
        lock.release()


def check_form(place: str, value: Any, form: Any) -> None:
    """Raise, with the place, what is there and what was expected, unless a value has a form.

    Forms are a text's pattern, a whole number's range, the ends of a number as a tuple, or a type;
    (None, form) for null or a form; [form] for a list, [form, form, form] for so many ascending
    numbers; a dictionary for an object, in which ``...`` stands for members of any plain name.

    Examples
    --------
    >>> check_form("data", {"ids": [3, -1]}, {"ids": [range(10)]})
    Traceback (most recent call last):
        ...
    ValueError: data.ids[1] is -1, expected a whole number from 0 to 9
    """
    right, expected = True, ""
    if isinstance(form, dict):
        expect(isinstance(value, dict), place, value, "an object")
        for name in [*(name for name in form if name is not ...), *value]:
            check_form(f"the name of a member of {place}", name, PLAIN)
            if name not in value:
                raise ValueError(f"{place}.{name} is missing")
            expect(name in form or ... in form, f"{place}.{name}", value[name], "no such member")
            check_form(f"{place}.{name}", value[name], form.get(name, form.get(...)))
    elif isinstance(form, list):
        expect(isinstance(value, list), place, value, "a list")
        for k, element in enumerate(value):
            check_form(f"{place}[{k}]", element, form[0])
        right = len(form) == 1 or (len(value) == len(form) and value == sorted(value))
        expected = f"{len(form)} numbers, low, median and high"
    elif isinstance(form, str):
        right = isinstance(value, str) and bool(re.fullmatch(form, value))
        expected = "1 to 300 characters without < > { } | ` and controls" * (form == PLAIN) or form
    elif isinstance(form, range):
        right = type(value) is int and value in form
        expected = f"a whole number from {form.start} to {form.stop - 1}"
    elif isinstance(form, tuple) and form[0] is not None:
        right = type(value) in (int, float) and form[0] <= value <= form[1]
        expected = f"a number from {form[0]:g} to {form[1]:g}"
    elif isinstance(form, tuple) and value is not None:
        check_form(place, value, form[1])
    elif isinstance(form, type):
        right, expected = isinstance(value, form), "true or false"
    expect(right, place, value, expected)


def expect(right: bool, place: str, value: object, expected: str) -> None:
    """Raise with the place, what is there and what was expected, unless it is right."""
    if not right:
        raise ValueError(f"{place} is {value!a:.60}, expected {expected}")
