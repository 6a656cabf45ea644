"""Where sparse rows may begin and end, and what each notation calls its arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch


class Names(NamedTuple):
    """What a notation calls the members of :class:`Bags`."""

    ids: str
    offsets: str
    weights: str


BAGS = Names("ids", "offsets", "weights")
SCIPY = Names("indices", "indptr", "data")
TORCH = Names("col_indices", "crow_indices", "values")


def check_offsets(offsets: torch.Tensor, entries: int, names: Names = BAGS) -> None:
    """Raise unless the offsets begin with 0, never fall, and end at the number of entries."""
    name, end = names.offsets, offsets.numel() - 1
    if end < 0:
        raise ValueError(
            f"{name} is empty, expected one element for each row and the end; "
            "no rows at all are written as [0]."
        )
    read = _readable(offsets)
    if (first := int(read[0])) != 0:
        raise ValueError(
            f"{name}[0] is {first}, expected 0: row 0 begins with the first entry; "
            "subtract the first element if this is a slice of a larger matrix."
        )
    falls = read[1:] < read[:-1]
    # NumPy counts in a third of the time that its any() takes on a short array.
    if np.count_nonzero(falls) if isinstance(falls, np.ndarray) else falls.any():
        row = int(falls.argmax() if isinstance(falls, np.ndarray) else falls.int().argmax())
        raise ValueError(
            f"row {row} begins at {int(read[row])} and ends at {int(read[row + 1])}, "
            f"expected offsets that never fall; correct {name}[{row + 1}]."
        )
    if (last := int(read[-1])) != entries:
        place = f"row {end - 1} ends at {name}[{end}] = {last}" if end else f"{name} is [0]"
        remedy = (
            "append it if the offsets are only the beginnings (include_last_offset=False)"
            if names is BAGS
            else "drop what lies beyond with rows.prune()"
            if names is SCIPY and last < entries
            else f"correct {name}[{end}], or the arrays if some are cut off"
        )
        raise ValueError(f"{place}, expected {entries}, the number of entries; {remedy}.")


def _readable(tensor: torch.Tensor) -> Any:
    """Give the array of a tensor, which NumPy reads in half the time, where it can reach it."""
    if not tensor.is_cpu or torch.compiler.is_compiling():
        return tensor
    try:
        return tensor.numpy()
    except RuntimeError:  # inside a transform of torch.func
        return tensor
