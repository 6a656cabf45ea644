"""What each kernel of a form has to do, counted before anything is measured."""

from typing import NamedTuple, TypeAlias

from lookup_matmul.costs.cases import DTYPES, Case, check_case
from lookup_matmul.costs.contenders import ALONE, BUILT, COMPILED, forms_of


class Kernel(NamedTuple):
    """What one kernel of a form has to do in one call, and ``name``, what it makes.

    In ``bytes`` each distinct element counts once if read and once if written, but zeros of the
    same call no more where something is added into them. ``operations`` are multiplications,
    additions and comparisons. ``allocated_bytes`` is the size of the new tensors; a gradient that
    is merely named anew has none. ``working_set`` is the bytes of all tensors of the call, which a
    cache has to hold for the next call.
    """

    name: str
    bytes: int
    operations: int
    allocated_bytes: int
    working_set: int


Counted: TypeAlias = tuple[str, int, int, int]  # a kernel without the working set
Form: TypeAlias = tuple[int, list[Counted]]  # bytes of what is given to it, and its kernels


def kernels(case: Case, distinct: int) -> tuple[Kernel, ...]:
    """Count what each kernel of a case has to do, in order, for so many distinct ids.

    An unknown direction, draw, dtype or cache, and a form that is not of the direction, are a
    ValueError.

    Examples
    --------
    >>> case = Case("one-hot built", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> [(kernel.name, kernel.bytes) for kernel in kernels(case, distinct=2)]
    [('zeros', 48), ('ones', 24)]
    """
    check_case(case)
    if case.form not in (known := forms_of(case.direction, case.bags)):
        raise ValueError(f"form is {case.form!r}, expected one of {', '.join(known)}.")
    count = _forward if case.direction == "forward" else _backward
    given, found = count(case, distinct, DTYPES[case.dtype].itemsize)
    working_set = given + sum(allocated for *_, allocated in found)
    return tuple(Kernel(*counted, working_set) for counted in found)


def _forward(case: Case, distinct: int, size: int) -> Form:
    n, rows, row = case.ids, case.bags or case.ids, case.dim * size
    ids, found, new, table = 8 * n, distinct * row, rows * row, case.vocab_size * row
    if case.form == "lookup":
        return ids + found, [("rows", ids + found + new, 0, new)]
    if case.form == "sparse product":  # of int32 indices; its result is filled with zeros first
        given = 4 * (rows + 1) + (4 + size) * n + found
        return given, [("zeros", new, 0, new), ("sum", given + new, 2 * n * case.dim, new)]
    if "bag" in case.form:
        weighted, new = case.form == "embedding bag", new + 16 * rows  # two notes on each bag
        given = ids + 8 * rows + weighted * n * size + found
        return given, [("sum", given + new, (1 + weighted) * n * case.dim, new)]
    matrix, product = rows * case.vocab_size * size, _product(rows, case.vocab_size, case.dim, size)
    zeros, ones = ("zeros", matrix, 0, matrix), ("ones", ids, 0, 0)
    compared = ("comparison", ids + matrix, n * case.vocab_size, matrix)
    return {
        "one-hot built": (ids, [zeros, ones]),
        BUILT: (ids + table, [zeros, ones, product]),
        ALONE: (matrix + table, [product]),
        COMPILED: (ids + table, [compared, product]),
    }[case.form]


def _product(rows: int, inner: int, columns: int, size: int) -> Counted:
    numbers = rows * inner + inner * columns + rows * columns
    return "product", numbers * size, 2 * rows * inner * columns, rows * columns * size


def _backward(case: Case, distinct: int, size: int) -> Form:
    n, row = case.ids, case.dim * size
    arriving, table = n * (8 + row), case.vocab_size * row
    if case.form == ALONE:
        given = n * (case.vocab_size * size + row)
        return given, [_product(case.vocab_size, n, case.dim, size)]
    if case.form == "lookup, sparse gradient":
        return arriving, []
    if case.form == "lookup, sparse and coalesced":
        moved, repeated = 16 * n + n * row + distinct * (8 + row), (n - distinct) * case.dim
        order = ("sort", 24 * n, n * (n - 1).bit_length(), 16 * n)  # ids, and where each was
        return arriving, [order, ("sum", moved, repeated, 16 * n + n * row)]
    return arriving, [("zeros", table, 0, table), ("sum", arriving, n * case.dim, 0)]
