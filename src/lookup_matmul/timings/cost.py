"""What each form has to do, counted before anything is measured: operations and bytes."""

from math import gcd
from typing import NamedTuple

SECTOR = 32  # bytes that a GPU fetches together, see the CUDA C++ Best Practices Guide


class Cost(NamedTuple):
    """Operations and bytes of one call; costs of calls in sequence add up with ``+``.

    Attributes
    ----------
    operations : int
        Floating-point multiplications and additions.
    logical_bytes : int
        Read and written if nothing were kept: every access counts.
    compulsory_bytes : int
        Read and written if everything were kept: each distinct row of a table counts once.
    sector_bytes : int
        As ``logical_bytes``, with each access rounded up to whole sectors of 32 bytes.
    allocated_bytes : int
        Of new tensors, those included that are dropped before the end.
    """

    operations: int
    logical_bytes: int
    compulsory_bytes: int
    sector_bytes: int
    allocated_bytes: int

    def __add__(self, other: object) -> "Cost":
        """Add member by member, for two calls in sequence."""
        if not isinstance(other, Cost):
            return NotImplemented
        return Cost(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


class Sizes(NamedTuple):
    """The sizes that a cost depends on.

    Attributes
    ----------
    vocab_size, dim : int
        Shape of the table.
    ids : int
        Number of ids, or of entries of all bags.
    distinct : int
        Number of different ids among them.
    itemsize : int
        Bytes of an element of the table.
    bags : int
        Number of bags; 0 if every id stands for itself.
    """

    vocab_size: int
    dim: int
    ids: int
    distinct: int
    itemsize: int = 4
    bags: int = 0


def lookup_cost(sizes: Sizes, *, backward: bool = False) -> Cost:
    """Count a lookup: each id is read, its row is read, and its row is written.

    Backwards a gradient of the table's size is filled with zeros,
    and each row that arrives is added to a row of it.

    Parameters
    ----------
    sizes : Sizes
        Of the table and the ids, which are int64.
    backward : bool
        Count the gradient of the table instead.

    Returns
    -------
    Cost
        Of one call, its checks left out.

    Examples
    --------
    >>> lookup_cost(Sizes(vocab_size=4, dim=5, ids=3, distinct=2))  # rows of 20 bytes
    Cost(operations=0, logical_bytes=144, compulsory_bytes=124, sector_bytes=224, \
allocated_bytes=60)
    """
    row, table = sizes.dim * sizes.itemsize, sizes.vocab_size * sizes.dim * sizes.itemsize
    read_ids, rows = 8 * sizes.ids, sizes.ids * row
    in_sectors = round(sizes.ids * sectors_of_row(row)) * SECTOR
    if not backward:
        return Cost(
            operations=0,
            logical_bytes=read_ids + 2 * rows,
            compulsory_bytes=read_ids + sizes.distinct * row + rows,
            sector_bytes=_up(read_ids) + in_sectors + _up(rows),
            allocated_bytes=rows,
        )
    return Cost(
        operations=sizes.ids * sizes.dim,
        logical_bytes=table + read_ids + 3 * rows,
        compulsory_bytes=table + read_ids + rows + 2 * sizes.distinct * row,
        sector_bytes=_up(table) + _up(read_ids) + _up(rows) + 2 * in_sectors,
        allocated_bytes=table,
    )


def one_hot_cost(sizes: Sizes) -> Cost:
    """Count the encoding: zeros are written, then a one for each id.

    Parameters
    ----------
    sizes : Sizes
        Of the table and the ids.

    Returns
    -------
    Cost
        Of :func:`lookup_matmul.one_hot` in the table's dtype.

    Examples
    --------
    >>> one_hot_cost(Sizes(vocab_size=4, dim=5, ids=3, distinct=2)).allocated_bytes
    48
    """
    matrix, read_ids = sizes.ids * sizes.vocab_size * sizes.itemsize, 8 * sizes.ids
    moved = matrix + read_ids + sizes.ids * sizes.itemsize
    sectors = _up(matrix) + _up(read_ids) + SECTOR * sizes.ids
    return Cost(0, moved, moved, sectors, matrix)


def product_cost(sizes: Sizes, *, backward: bool = False, fused: bool = False) -> Cost:
    """Count the product of an encoding that is there already with the table, row by row.

    Each element of the encoding is read once, and a row of the table for each of them.
    Backwards it is the product of the transposed encoding with the gradient that arrives.

    Parameters
    ----------
    sizes : Sizes
        Of the table and the ids.
    backward : bool
        Count the gradient of the table instead.
    fused : bool
        Count the ids instead of the encoding, which a compiler need not write.

    Returns
    -------
    Cost
        Of one dense product; every multiplication by zero is an operation.

    Examples
    --------
    >>> product_cost(Sizes(vocab_size=4, dim=5, ids=3, distinct=2)).operations
    120
    """
    matrix = 8 * sizes.ids if fused else sizes.ids * sizes.vocab_size * sizes.itemsize
    table, rows = (n * sizes.dim * sizes.itemsize for n in (sizes.vocab_size, sizes.ids))
    once = matrix + table + rows
    result = table if backward else rows
    every = matrix + sizes.ids * table + result
    return Cost(
        operations=2 * sizes.ids * sizes.vocab_size * sizes.dim,
        logical_bytes=every,
        compulsory_bytes=once,
        sector_bytes=_up(matrix) + sizes.ids * _up(table) + _up(result),
        allocated_bytes=result,
    )


def bag_cost(
    sizes: Sizes, *, backward: bool = False, weighted: bool = True, index_bytes: int = 8
) -> Cost:
    """Count a bag: each entry's id, value and row are read, each bag's row is written.

    Parameters
    ----------
    sizes : Sizes
        Of the table, the entries and the bags.
    backward : bool
        Count the gradient of the table instead.
    weighted : bool
        Whether entries have values; without them nothing is multiplied.
    index_bytes : int
        Of each id and each offset: 8 for int64, 4 for int32.

    Returns
    -------
    Cost
        Of one call of :func:`lookup_matmul.sum_of_rows`, its checks left out.

    Examples
    --------
    >>> bag_cost(Sizes(vocab_size=4, dim=5, ids=3, distinct=2, bags=2)).operations
    30
    """
    row, table = sizes.dim * sizes.itemsize, sizes.vocab_size * sizes.dim * sizes.itemsize
    read = sizes.ids * weighted * sizes.itemsize + (sizes.ids + sizes.bags + 1) * index_bytes
    entries, results = sizes.ids * row, sizes.bags * row
    in_sectors = round(sizes.ids * sectors_of_row(row)) * SECTOR
    operations = (1 + weighted) * sizes.ids * sizes.dim
    if not backward:
        return Cost(
            operations,
            logical_bytes=read + entries + results,
            compulsory_bytes=read + sizes.distinct * row + results,
            sector_bytes=_up(read) + in_sectors + _up(results),
            allocated_bytes=results,
        )
    return Cost(
        operations,
        logical_bytes=table + read + 3 * entries,
        compulsory_bytes=table + read + results + 2 * sizes.distinct * row,
        sector_bytes=_up(table) + _up(read) + 3 * in_sectors,
        allocated_bytes=table,
    )


def sectors_of_row(row_bytes: int) -> float:
    """Average the sectors that a row of a packed table touches, over all its rows.

    Parameters
    ----------
    row_bytes : int
        Length of a row; the table begins at a sector's beginning.

    Returns
    -------
    float
        Sectors, at least ``row_bytes / 32``.

    Examples
    --------
    >>> sectors_of_row(512), sectors_of_row(20), sectors_of_row(33)
    (16.0, 1.5, 2.0)
    """
    if row_bytes == 0:
        return 0.0
    starts = range(0, SECTOR, gcd(row_bytes, SECTOR))
    touched = [(start + row_bytes - 1) // SECTOR + 1 for start in starts]
    return sum(touched) / len(touched)


def _up(size: int) -> int:
    """Round up to whole sectors."""
    return -(-size // SECTOR) * SECTOR
