"""What counts as bad input among sparse rows, and the words for it."""

from __future__ import annotations

import torch

from lookup_matmul.inputs import ID_DTYPES, check_stored, check_vocab_size
from lookup_matmul.sparse.bags import Bags, Members, Rows, members_of
from lookup_matmul.sparse.offset_checks import BAGS, SCIPY, TORCH, Names, check_offsets

INTEGERS = frozenset(
    getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
)


def check_bags(bags: Bags, vocab_size: int | None) -> None:
    """Raise unless the arrays of ``bags`` describe rows over ``vocab_size`` columns.

    Parameters
    ----------
    bags : Bags
        The ids, offsets and weights to be checked; a tuple or list of them will do.
    vocab_size : int, optional
        Number of columns, which is the number of rows of the table they will meet;
        ``None`` if it is not known yet: then ids need only not be negative.

    Raises
    ------
    TypeError
        If a member is no tensor, there are not two or three, ids or offsets are neither int32
        nor int64, weights are Boolean, complex or quantized, or ``vocab_size`` is no ``int``.
    ValueError
        If a member is not one-dimensional, the devices differ or are ``meta``, there are not
        as many weights as ids, or the offsets do not begin with 0, fall, or do not end at the
        number of ids; also if ``vocab_size`` is negative.
    IndexError
        If an id is negative or at least ``vocab_size``.

    Notes
    -----
    Five numbers are brought to the CPU; on an accelerator that waits for the work queued before,
    and under :func:`torch.compile` it breaks the graph.

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
    members = members_of(bags)
    if vocab_size is not None:
        check_vocab_size(vocab_size)
    _check(members, BAGS, vocab_size)


def check_rows(bags: Bags, rows: Rows, vocab_size: int | None) -> None:
    """Raise as :func:`check_bags` does, in the words of the notation that was read."""
    names = TORCH if isinstance(rows, torch.Tensor) else SCIPY if hasattr(rows, "shape") else BAGS
    if hasattr(rows, "shape") and bags.offsets.numel() != rows.shape[0] + 1:
        raise ValueError(
            f"{names.offsets} has {bags.offsets.numel()} elements, expected {rows.shape[0] + 1} "
            f"for the {rows.shape[0]} rows of the matrix; one for each row, and the end."
        )
    _check(bags, names, vocab_size)


def _check(members: Members, names: Names, vocab_size: int | None) -> None:
    ids, offsets, weights = members
    _check_members(ids, offsets, weights, names)
    entries = ids.numel()  # which asks C, where len() would ask Python
    check_offsets(offsets, entries, names)
    if entries and not _inside(ids, vocab_size):
        raise IndexError(_outside(ids, offsets, vocab_size, names.ids))


def _check_members(
    ids: torch.Tensor, offsets: torch.Tensor, weights: torch.Tensor | None, names: Names
) -> None:
    device, on_cpu = ids.device, ids.is_cpu  # asking for the one is much quicker than comparing
    for name, member in zip(names, (ids, offsets, weights), strict=True):
        if member is None:
            continue
        if member.dim() != 1 or member.layout is not torch.strided:
            raise ValueError(
                f"{name} has layout {member.layout} and shape {tuple(member.shape)}, "
                "expected one dense dimension; flatten it."
            )
        if not (member.is_cpu and on_cpu) and member.device != device:
            raise ValueError(
                f"{names.ids} is on {device} and {name} on {member.device}, expected one device; "
                "move one of them with .to(...)."
            )
        if member is not weights and member.dtype not in ID_DTYPES:
            raise TypeError(
                f"{name} has dtype {member.dtype}, expected torch.int32 or torch.int64; "
                f"convert with {name}.long() if the values are meant as row numbers."
            )
    if not on_cpu:
        check_stored(names.ids, ids)
    if weights is None:
        return
    if not (weights.dtype.is_floating_point or weights.dtype in INTEGERS):
        remedy = (
            "convert with .float() if True counts as 1"
            if weights.dtype == torch.bool
            else "convert with .dequantize()"
            if weights.is_quantized
            else "take one real number of each, such as .abs()"
        )
        raise TypeError(
            f"{names.weights} has dtype {weights.dtype}, expected an integer or floating one; "
            f"{remedy}."
        )
    if weights.numel() != ids.numel():
        raise ValueError(
            f"{names.weights} has {len(weights)} elements and {names.ids} {len(ids)}, "
            "expected as many; give each entry its value."
        )


def _inside(ids: torch.Tensor, vocab_size: int | None) -> bool:
    # With all threads of torch: each reads the part that it is about to sum over anyway.
    smallest, largest = (int(extreme) for extreme in torch.aminmax(ids))
    return smallest >= 0 and (vocab_size is None or largest < vocab_size)


def _outside(ids: torch.Tensor, offsets: torch.Tensor, vocab_size: int | None, name: str) -> str:
    outside = ids < 0
    if vocab_size is not None and vocab_size <= torch.iinfo(ids.dtype).max:
        outside |= ids >= vocab_size
    count, place = int(outside.sum()), int(outside.nonzero()[0])
    row = int(torch.searchsorted(offsets, place, right=True)) - 1
    value = int(ids[place])
    allowed = f"0 <= column <= {vocab_size - 1}" if vocab_size else "no column at all"
    expected = (
        "expected at least 0"
        if vocab_size is None
        else f"but a table of {vocab_size} rows takes {allowed}"
    )
    remedy = (
        "A negative column does not count from the end: leave the entry out."
        if value < 0
        else f"Give the table more rows or correct the {name}."
    )
    return (
        f"row {row} names column {value}, {expected}; "
        f"{count} of the {len(ids)} entries {'is' if count == 1 else 'are'} outside. {remedy}"
    )
