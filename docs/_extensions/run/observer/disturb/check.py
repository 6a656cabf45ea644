"""The checks of a page, and their repetitions with changed operands."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import torch

from .changes import count_elements, generate_changes, generate_equal_operands, is_same_memory

MAX_ELEMENTS = 10_000_000


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
