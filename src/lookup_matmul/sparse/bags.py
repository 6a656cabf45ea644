"""Sparse rows as the arguments of an embedding bag, and their checks."""

from __future__ import annotations  # keeps the alias ``Rows`` unexpanded in the reference

from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import torch
from scipy import sparse

from lookup_matmul.inputs import check_id_dtype, check_not_meta, check_vocab_size, find_outside


class Bags(NamedTuple):
    """Sparse rows as :class:`torch.nn.EmbeddingBag` takes them.

    ``ids``, shape (number of entries,), int32 or int64, are columns, row by row. ``offsets``, shape
    (number of rows + 1,), int32 or int64, are the first entry of each row, then the number of
    entries. ``weights``, shaped as ``ids``, of an integer or floating dtype, are the values, or
    ``None`` for ones. CSR calls them ``indices``, ``indptr`` and ``data``, EmbeddingBag ``input``,
    ``offsets`` (with ``include_last_offset=True``) and ``per_sample_weights``.

    >>> bags = Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2, 3]), torch.ones(3))
    >>> torch.nn.EmbeddingBag(4, 2, mode="sum", include_last_offset=True)(*bags).shape
    torch.Size([3, 2])
    """

    ids: torch.Tensor
    offsets: torch.Tensor
    weights: torch.Tensor | None = None


Rows: TypeAlias = sparse.csr_array | sparse.csr_matrix | torch.Tensor | Sequence[Any]


# The names of the members of Bags in each format, for error messages.
Names = namedtuple("Names", ["ids", "offsets", "weights"])
BAGS = Names(*Bags._fields)
SCIPY = Names("indices", "indptr", "data")
TORCH = Names("col_indices", "crow_indices", "values")
LISTS_REMEDY = (
    "if each list has the ids of one row, pass torch.tensor([*chain(*rows)]) and "
    "torch.tensor([0, *map(len, rows)]).cumsum(0)"
)


def check_bags(bags: Bags, vocab_size: int | None) -> None:
    """Raise unless ``bags``, or a tuple or list, describes sparse rows of ``vocab_size`` columns.

    Raise TypeError unless these are two or three tensors with dtypes of :class:`Bags`, and
    ``vocab_size`` an ``int`` or None; ValueError unless their shapes fit, none is on ``meta``, and
    the offsets rise from 0 to the number of ids; and IndexError if an id is no column, or with
    ``vocab_size=None`` if it is negative. The message names everything that broken offsets may be:
    lengths, row numbers, joined batches, a slice, or beginnings without the end.

    >>> check_bags(Bags(torch.tensor([1, 4, 0]), torch.tensor([0, 2, 2, 3])), 4)
    Traceback (most recent call last):
    IndexError: row 0 names column 4, but a table of 4 rows takes 0 <= column <= 3; \
1 of the 3 entries is outside. Give the table more rows or correct the ids.
    """
    if vocab_size is not None:
        check_vocab_size(vocab_size)
    check_arrays(as_bags(bags), BAGS, vocab_size)


def as_bags(members: Sequence[Any]) -> Bags:
    if not isinstance(members, tuple | list) or len(members) not in (2, 3):
        count = f" of {len(members)}" if isinstance(members, tuple | list) else ""
        remedy = "read a matrix with to_bags(...)"
        if isinstance(members, tuple | list) and all(isinstance(row, list) for row in members):
            remedy = LISTS_REMEDY
        raise TypeError(
            f"bags is a {type(members).__name__}{count}, expected Bags or (ids, offsets, weights); "
            f"{remedy}."
        )
    bags = Bags(*members)
    for name, member in zip(BAGS, bags, strict=True):
        if not isinstance(member, torch.Tensor) and (member is not None or name != "weights"):
            remedy = "wrap it in torch.as_tensor(...)"
            if isinstance(member, list):
                remedy += f", or {LISTS_REMEDY}"
            raise TypeError(
                f"{name} is a {type(member).__name__}, expected a torch.Tensor; {remedy}."
            )
    return bags


def check_arrays(bags: Bags, names: Names, columns: int | None) -> None:
    """Raise as :func:`check_bags` does, with the member names of the format that was read."""
    ids, offsets, weights = bags
    for name, member in zip(names, bags, strict=True):
        if member is None:
            continue
        if member.dim() != 1 or member.layout is not torch.strided:
            raise ValueError(
                f"{name} has layout {member.layout} and shape {tuple(member.shape)}, "
                "expected one dense dimension; flatten it."
            )
        check_not_meta(name, member)
    check_id_dtype(names.ids, ids)
    check_id_dtype(names.offsets, offsets)
    if weights is not None and (weights.dtype == torch.bool or weights.is_complex()):
        raise TypeError(
            f"{names.weights} has dtype {weights.dtype}, expected an integer or floating one; "
            "convert with .float() if True counts as 1."
        )
    if weights is not None and len(weights) != len(ids):
        raise ValueError(
            f"{names.weights} has {len(weights)} elements and {names.ids} {len(ids)}, "
            "expected as many; give each entry its value."
        )
    _check_offsets(offsets, len(ids), names)
    if outside := find_outside(ids, columns, "column", "entries"):
        index, value, message = outside
        row = int(torch.searchsorted(offsets, index[0], right=True)) - 1
        remedy = f"Give the table more rows or correct the {names.ids}."
        if value < 0:
            remedy = "A negative column does not count from the end: leave the entry out."
        raise IndexError(f"row {row} names column {value}, {message} {remedy}")


def _check_offsets(offsets: torch.Tensor, entry_count: int, names: Names) -> None:
    name = names.offsets
    row_count = len(offsets) - 1
    if not len(offsets):
        raise ValueError(f"{name} is empty, expected at least the end; no rows at all are [0].")
    first, last = int(offsets[0]), int(offsets[-1])
    decreases = offsets[1:] < offsets[:-1]
    wrong = row_count
    if first:
        wrong = 0
        problem = f"{name}[0] is {first}, expected 0: row 0 begins with the first entry"
    elif decreases.any():
        wrong = int(decreases.int().argmax()) + 1
        ends = f"begins at {int(offsets[wrong - 1])} and ends at {int(offsets[wrong])}"
        problem = f"row {wrong - 1} {ends}, expected offsets that never fall"
    elif last != entry_count:
        ends = f"row {row_count - 1} ends at {name}[{row_count}] = {last}"
        ends = ends if row_count else f"{name} is [0]"
        problem = f"{ends}, expected {entry_count}, the number of entries"
    else:
        return
    readings = _list_readings(offsets, entry_count, names)
    advice = "; or ".join(f"if {reading}, {step}" for reading, step in readings)
    advice = advice or f"correct {name}[{wrong}], or the arrays if some are cut off"
    raise ValueError(f"{problem}; {advice}.")


def _list_readings(
    offsets: torch.Tensor, entry_count: int, names: Names
) -> Iterator[tuple[str, str]]:
    """Yield everything that broken offsets may be, and the step that makes offsets of each."""
    ids, name, weights = names
    first, last = int(offsets[0]), int(offsets[-1])
    smallest = int(offsets.min())
    falls = offsets[1:][offsets[1:] < offsets[:-1]]
    if smallest >= 0 and int(offsets.sum()) == entry_count:
        yield f"{name} has the lengths of the rows", "pass the running sums of [0, *lengths]"
    if smallest >= 0 and len(offsets) == entry_count:
        indices = f"torch.stack([{name}, {ids}])"
        coo = f"torch.sparse_coo_tensor({indices}, {weights}, (rows, columns))"
        yield f"{name} has the row number of each entry", f"convert {coo}.to_sparse_csr()"
    if first == 0 and not falls.any() and (offsets[1:] == 0).any():
        shift = "add to each batch the number of entries before it"
        end = "without its 0 where the one before has its end"
        yield "batches were joined that count from 0 each", f"{shift}, {end}"
    if len(falls) or smallest < 0:
        return
    if 0 < first == last - entry_count:
        yield "this is a slice of larger arrays", "subtract the first element"
    elif names is SCIPY and first == 0 and last < entry_count:
        yield "the entries beyond belong to no row", "remove them with rows.prune()"
    elif last <= entry_count:
        step = f"take only the entries [{first}:{last}]"
        step = f"subtract {first} and {step}" if first else step
        yield "this is a slice but the entries are whole", step
    if first == 0 and last <= entry_count and names is BAGS:
        reading = "the offsets are only the beginnings (include_last_offset=False)"
        yield reading, f"append {entry_count}"
