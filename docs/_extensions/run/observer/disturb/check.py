"""The checks of a page, and their repetitions with operands that differ."""

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from numbers import Number
from types import ModuleType
from typing import Any

import numpy as np
import torch

BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by the size in bytes
FAR = 10**6
MAX_ELEMENTS = 10_000_000


def generate_changes(value: Any) -> Iterator[Any]:
    """Yield values that differ from a value: first by little, then by much."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        yield from _changed_tensors(value.detach())
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        for changed in _changed_tensors(torch.from_numpy(np.array(value))):
            yield changed.numpy()
    elif isinstance(value, bool | np.bool_):
        yield not value
    elif isinstance(value, Number):
        yield from _changed_numbers(value)
    elif isinstance(value, str):
        yield from ("\0" + value[1:], value[:-1], "")
    elif isinstance(value, list | tuple):
        sequence = list if isinstance(value, list) else tuple
        yield from (sequence(value[:-1]), sequence([*value, object()]))
        for first in islice(generate_changes(value[0]), 2) if value else ():
            yield sequence([first, *value[1:]])
    elif isinstance(value, set | frozenset):
        yield from (set(list(value)[1:]), value | {object()})
    elif isinstance(value, dict):
        yield from (dict(list(value.items())[1:]), value | {object(): None})
    else:
        yield object()


def _changed_numbers(number: Any) -> Iterator[Any]:
    if math.isinf(number.real):  # large values are below infinity, as all others are
        yield np.nextafter(number, 0)
        return
    if isinstance(number, float | np.floating):
        yield from (np.nextafter(number, -math.inf), np.nextafter(number, math.inf))
    yield from (number + 1, number - 1, number * 0, number * FAR)


def _changed_tensors(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield copies with one bit, one row and all elements changed; a longer one if it is empty."""
    if not tensor.numel():
        yield tensor.new_ones((len(tensor) + 1, *tensor.shape[1:]) if tensor.ndim else ())
        return
    first_bit, first_row = (tensor.clone(memory_format=torch.contiguous_format) for _ in range(2))
    if tensor.dtype == torch.bool:
        first_bit.view(-1)[0] ^= True
        yield from (first_bit, ~tensor)
        return
    real = torch.view_as_real(first_bit) if tensor.is_complex() else first_bit
    real.view(-1).view(BITS[real.element_size()])[0] ^= 1  # by one ulp
    first_row.view(-1, *tensor.shape[1:])[0] += 1
    yield from (first_bit, first_row, tensor + 1, tensor - 1, tensor * 0, tensor * FAR)


def generate_equal_operands(operands: list[Any]) -> Iterator[Any]:
    """Yield values that make an operand equal to one of these, or an element of it."""
    for operand in operands:
        yield operand
        if isinstance(operand, list | tuple | set | frozenset | dict):
            yield from list(operand)[:1]


def is_same_memory(a: Any, b: Any) -> bool:
    """Return whether two operands are one object with elements, or tensors with the same memory."""
    if isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor):
        views = [(x.data_ptr(), x.shape, x.stride(), x.dtype) for x in (a, b)]
        return a is b or (views[0] == views[1] and a.numel() > 0)
    return a is b and isinstance(a, np.ndarray | list | dict | set)


def count_elements(value: Any) -> int:
    """Return the number of elements of a tensor or an array, and 0 of anything else."""
    if isinstance(value, torch.Tensor):
        return value.numel()
    return value.size if isinstance(value, np.ndarray) else 0


def is_bool(value: Any) -> bool:
    """Return whether a value is a truth value: a bool, or an array or tensor with one bool."""
    if isinstance(value, torch.Tensor):
        return value.dtype == torch.bool and value.numel() == 1
    is_array = isinstance(value, np.ndarray | np.bool_)
    return isinstance(value, bool) or (is_array and value.dtype == bool and value.size == 1)


@dataclass
class Check:
    """One comparison of a page, and what its runs have shown."""

    cell: str
    line: int
    repeat: Callable[[list[Any]], Any]
    is_excused: bool
    changed: list[int] = field(default_factory=list)  # the positions of the operands to change
    is_equality: bool = True  # whether comparing an object with itself proves nothing
    is_difference: bool = False  # whether it fails if one operand is replaced by the other
    is_negated: bool = False
    is_type_test: bool = False  # of its first operand
    runs: int = 0
    can_fail: bool = False
    fault: str = ""

    @property
    def reason(self) -> str:
        """Return why the check cannot fail, or an empty string."""
        if self.is_excused or (self.can_fail and not self.fault):
            return ""
        no_change = "no change of its operands makes it fail"
        return self.fault or (no_change if self.runs else "never run")


def repeat_call(values: list[Any]) -> bool:
    """Call a function with arguments and options, and return True unless it raises an error."""
    function, *args, options = values
    function(*args, **options)
    return True


def disturb(check: Check, operands: list[Any]) -> None:
    """Repeat a check that held, with one changed operand at a time, until it fails."""
    if check.can_fail or check.fault:
        return
    show, warnings.showwarning = warnings.showwarning, lambda *_, **__: None
    try:
        with torch.no_grad():
            _search(check, operands)
    except Exception:  # of this package: a page never fails because of it
        check.can_fail = True
    finally:
        warnings.showwarning = show


def _search(check: Check, operands: list[Any]) -> None:
    places = [i for i in check.changed if not isinstance(operands[i], ModuleType)]
    values = [operands[i] for i in places]
    if check.is_equality and len(values) == 2 and is_same_memory(*values):
        check.fault = "both operands are the same object or memory"
        return
    check.can_fail = any(count_elements(value) > MAX_ELEMENTS for value in values)
    for place, value in zip(places, values, strict=True):
        peers = [peer for peer in values if peer is not value and peer is not None]
        equal = generate_equal_operands(peers) if check.is_difference else ()
        for changed in (*equal, *((object,) if check.is_type_test else generate_changes(value))):
            if check.can_fail:
                return
            arguments = [*operands[:place], changed, *operands[place + 1 :]]
            try:
                check.can_fail = bool(check.repeat(arguments)) == check.is_negated
            except Exception:
                check.can_fail = True
