"""Whether the arrays of sparse rows fit together, and what arrays that do not may be."""

from collections import namedtuple
from collections.abc import Iterator

import torch

from lookup_matmul.inputs import check_id_dtype, check_not_meta, find_outside

# The names of the three arrays in each format, for error messages.
Names = namedtuple("Names", ["ids", "offsets", "weights"])
BAGS = Names("ids", "offsets", "weights")
SCIPY = Names("indices", "indptr", "data")
TORCH = Names("col_indices", "crow_indices", "values")


def check_arrays(
    arrays: tuple[torch.Tensor, torch.Tensor, torch.Tensor | None],
    names: Names,
    columns: int | None,
) -> None:
    """Raise as ``check_bags`` does, with the names that the arrays have in their format."""
    ids, offsets, weights = arrays
    for name, member in zip(names, arrays, strict=True):
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
