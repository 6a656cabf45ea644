"""What counts as bad input among sparse rows, and the words for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from lookup_matmul.checks import ID_DTYPES

UNSIGNED = {torch.int32: np.uint32, torch.int64: np.uint64}

if TYPE_CHECKING:
    from lookup_matmul.bags import Bags, Rows


def check_bags(bags: Bags, vocab_size: int | None) -> None:
    """Raise unless the arrays of ``bags`` describe rows over ``vocab_size`` columns.

    Parameters
    ----------
    bags : Bags
        The ids, offsets and weights to be checked.
    vocab_size : int, optional
        Number of columns, which is the number of rows of the table they will meet;
        ``None`` if it is not known yet: then ids need only not be negative.

    Raises
    ------
    TypeError
        If a member is no tensor, ids or offsets are neither int32 nor int64,
        or weights are Boolean or complex.
    ValueError
        If a member is not one-dimensional, the devices differ, there are not as many weights
        as ids, or the offsets do not begin with 0, fall, or do not end at the number of ids.
    IndexError
        If an id is negative or at least ``vocab_size``.

    Notes
    -----
    Five numbers are brought to the CPU; on an accelerator that waits for the work queued before.

    Examples
    --------
    >>> from lookup_matmul import Bags
    >>> check_bags(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2, 3])), 4)
    >>> check_bags(Bags(torch.tensor([1, 4, 0]), torch.tensor([0, 2, 2, 3])), 4)
    Traceback (most recent call last):
    ...
    IndexError: row 0 names column 4, but a table of 4 rows takes 0 <= column <= 3; \
1 of the 3 entries is outside. Give the table more rows or correct the ids.
    """
    ids, offsets, weights = bags
    _check_members(ids, offsets, weights)
    _check_offsets(offsets, len(ids))
    allowed = torch.iinfo(ids.dtype).max if vocab_size is None else vocab_size
    if len(ids) and not _inside(ids, allowed):
        raise IndexError(_outside(ids, offsets, allowed))


def check_row_count(bags: Bags, rows: Rows) -> None:
    """Raise unless the offsets are as many as the rows of the matrix ask for."""
    if hasattr(rows, "shape") and bags.offsets.numel() != rows.shape[0] + 1:
        raise ValueError(
            f"indptr has {bags.offsets.numel()} elements, expected {rows.shape[0] + 1} for the "
            f"{rows.shape[0]} rows of the matrix; one for each row, and the end."
        )


def _check_members(ids: torch.Tensor, offsets: torch.Tensor, weights: torch.Tensor | None) -> None:
    members = {"ids": ids, "offsets": offsets, "weights": weights}
    for name, member in members.items():
        if member is None and name == "weights":
            continue
        if not isinstance(member, torch.Tensor):
            raise TypeError(
                f"{name} is a {type(member).__name__}, expected a torch.Tensor; "
                "wrap it in torch.as_tensor(...)."
            )
        if member.layout != torch.strided or member.dim() != 1:
            raise ValueError(
                f"{name} has layout {member.layout} and shape {tuple(member.shape)}, "
                "expected one dense dimension; flatten it."
            )
        if member.device != ids.device:
            raise ValueError(
                f"ids is on {ids.device} and {name} on {member.device}, expected one device; "
                "move one of them with .to(...)."
            )
    for name, member in (("ids", ids), ("offsets", offsets)):
        if member.dtype not in ID_DTYPES:
            raise TypeError(
                f"{name} has dtype {member.dtype}, expected torch.int32 or torch.int64; "
                f"convert with {name}.long() if the values are meant as row numbers."
            )
    if weights is None:
        return
    if weights.dtype == torch.bool or weights.is_complex() or weights.is_quantized:
        raise TypeError(
            f"weights has dtype {weights.dtype}, expected an integer or floating one; convert "
            "with weights.float() if True counts as 1, and pass None if every entry does."
        )
    if len(weights) != len(ids):
        raise ValueError(
            f"weights has {len(weights)} elements and ids {len(ids)}, expected as many; "
            "give each entry its value."
        )


def _check_offsets(offsets: torch.Tensor, entries: int) -> None:
    if len(offsets) == 0:
        raise ValueError(
            "offsets is empty, expected one element for each row and the end; "
            "no rows at all are written as [0]."
        )
    # On a CPU through NumPy, whose calls on short arrays take half the time.
    read = offsets.numpy() if offsets.device.type == "cpu" else offsets
    if (first := int(read[0])) != 0:
        raise ValueError(
            f"offsets[0] is {first}, expected 0: row 0 begins with the first entry; "
            "subtract the first element if this is a slice of a larger matrix."
        )
    falls = read[1:] < read[:-1]
    if falls.any():
        row = int(torch.as_tensor(falls).int().argmax())
        raise ValueError(
            f"row {row} begins at {int(read[row])} and ends at {int(read[row + 1])}, "
            f"expected offsets that never fall; correct offsets[{row + 1}]."
        )
    if (last := int(read[-1])) != entries:
        raise ValueError(
            f"row {len(offsets) - 2} ends at offsets[{len(offsets) - 1}] = {last}, expected "
            f"{entries}, the number of entries; append it if the offsets are only the beginnings "
            "(include_last_offset=False)."
        )


def _inside(ids: torch.Tensor, vocab_size: int) -> bool:
    if ids.device.type == "cpu":
        # Read as unsigned, a negative id is larger than any other: one pass sees both ends.
        return int(ids.numpy().view(UNSIGNED[ids.dtype]).max()) < vocab_size
    smallest, largest = (int(extreme) for extreme in torch.aminmax(ids))
    return smallest >= 0 and largest < vocab_size


def _outside(ids: torch.Tensor, offsets: torch.Tensor, vocab_size: int) -> str:
    outside = (ids < 0) | (ids >= vocab_size)
    count, place = int(outside.sum()), int(outside.nonzero()[0])
    row = int(torch.searchsorted(offsets, place, right=True)) - 1
    value = int(ids[place])
    allowed = f"0 <= column <= {vocab_size - 1}" if vocab_size else "no column at all"
    remedy = (
        "A negative column does not count from the end: leave the entry out."
        if value < 0
        else "Give the table more rows or correct the ids."
    )
    return (
        f"row {row} names column {value}, but a table of {vocab_size} rows takes {allowed}; "
        f"{count} of the {len(ids)} entries {'is' if count == 1 else 'are'} outside. {remedy}"
    )
