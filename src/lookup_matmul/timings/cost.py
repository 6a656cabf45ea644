"""What each form has to do, kernel by kernel, counted before anything is measured."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from lookup_matmul.timings.cases import DTYPES, Case, forms_of

# Bytes of what is given to a form, and its kernels as below, without the working set.
Form: TypeAlias = tuple[int, list[tuple[str, int, int, int, int]]]


class Part(NamedTuple):
    """One kernel of a form.

    Attributes
    ----------
    name : str
        What it does, such as ``"zeros"`` or ``"product"``.
    bytes : int
        Each distinct element counts once if read and once if written; zeros that the same call
        has just written count no more where something is added into them.
    operations, divisions : int
        Multiplications, additions, comparisons; divisions and square roots.
    allocated_bytes : int
        Of new tensors.
    working_set : int
        Bytes of all tensors of the call, what a cache has to hold for the next one.
    """

    name: str
    bytes: int
    operations: int
    divisions: int
    allocated_bytes: int
    working_set: int


def parts(case: Case, distinct: int) -> tuple[Part, ...]:
    """Count what each kernel of a case has to do.

    Parameters
    ----------
    case : Case
        The case.
    distinct : int
        How many different ids were drawn.

    Returns
    -------
    tuple
        A :class:`Part` for each kernel, in order; none where a gradient is merely named anew.

    Raises
    ------
    ValueError
        If the form is not one of the case's direction, or so many ids cannot be distinct.

    Examples
    --------
    >>> case = Case("one-hot built", "forward", 4, 5, 3, "uniform", "float32", "hot")
    >>> [(part.name, part.bytes) for part in parts(case, distinct=2)]
    [('zeros', 48), ('ones', 24)]
    """
    if case.form not in (known := forms_of(case.direction, case.bags)):
        raise ValueError(f"form is {case.form!r}, expected one of {', '.join(known)}.")
    most = min(case.ids, case.vocab_size)
    if not 0 <= distinct <= most:
        raise ValueError(f"distinct is {distinct}, expected 0 to {most}, the ids or the rows.")
    count = {"forward": _bags if case.bags else _forward, "backward": _backward, "step": _step}
    given, kernels = count[case.direction](case, distinct, DTYPES[case.dtype].itemsize)
    working_set = given + sum(allocated for *_, allocated in kernels)
    return tuple(Part(*kernel, working_set) for kernel in kernels)


def _forward(case: Case, distinct: int, size: int) -> Form:
    ids, row, matrix = 8 * case.ids, case.dim * size, case.ids * case.vocab_size * size
    if case.form == "lookup":
        given, rows = ids + distinct * row, case.ids * row
        return given, [("rows", given + rows, 0, 0, rows)]
    if case.form == "sparse product":
        return _sparse(case, distinct, size, case.ids)
    kernels = [
        ("zeros", matrix, 0, 0, matrix),
        ("ones", ids, 0, 0, 0),
        ("comparison", ids + matrix, case.ids * case.vocab_size, 0, matrix),
        _product(case, size, case.ids, case.ids),
    ]
    if case.form == "one-hot built":
        return ids, kernels[:2]
    at = {"multiplication alone": (3,), "compiled one-hot": (2, 3)}.get(case.form, (0, 1, 3))
    return case.vocab_size * row + (matrix if at == (3,) else ids), [kernels[k] for k in at]


def _bags(case: Case, distinct: int, size: int) -> Form:
    if case.form == "sparse product":
        return _sparse(case, distinct, size, case.bags)
    if case.form == "multiplication alone":
        rows = (case.bags + case.dim) * case.vocab_size * size
        return rows, [_product(case, size, case.bags, case.bags)]
    weighted = case.form == "embedding bag"
    given = 8 * (case.ids + case.bags) + weighted * case.ids * size + distinct * case.dim * size
    new = case.bags * (case.dim * size + 16)  # and two notes on each bag, for the gradient
    return given, [("sum", given + new, (1 + weighted) * case.ids * case.dim, 0, new)]


def _product(case: Case, size: int, rows: int, results: int) -> tuple[str, int, int, int, int]:
    numbers = rows * case.vocab_size + (rows + case.vocab_size) * case.dim
    operations = 2 * rows * case.vocab_size * case.dim
    return "product", numbers * size, operations, 0, results * case.dim * size


def _sparse(case: Case, distinct: int, size: int, rows: int) -> Form:
    """Count CSR rows of int32 indices, whose result is filled with zeros first."""
    given = 4 * (rows + 1) + (4 + size) * case.ids + distinct * case.dim * size
    result, operations = rows * case.dim * size, 2 * case.ids * case.dim
    return given, [("zeros", result, 0, 0, result), ("sum", given + result, operations, 0, result)]


def _backward(case: Case, distinct: int, size: int) -> Form:
    n, row = case.ids, case.dim * size
    arriving, table = n * (8 + row), case.vocab_size * row
    if case.form == "multiplication alone":
        return n * (case.vocab_size * size + row), [_product(case, size, n, case.vocab_size)]
    if case.form == "lookup, sparse gradient":
        return arriving, []
    if case.form == "lookup, sparse and coalesced":
        moved, repeated = 16 * n + n * row + distinct * (8 + row), (n - distinct) * case.dim
        order = ("sort", 24 * n, n * (n - 1).bit_length(), 0, 16 * n)  # ids, and where each was
        return arriving, [order, ("sum", moved, repeated, 0, 16 * n + n * row)]
    return arriving, [("zeros", table, 0, 0, table), ("sum", arriving, n * case.dim, 0, 0)]


# Kernels of torch's optimisers: name, arrays moved, operations, divisions, new arrays.
_SGD = (("update", 3, 2, 0, 0),)
_ADAM = (
    ("average", 3, 3, 0, 0), ("decay", 2, 1, 0, 0), ("square", 3, 3, 0, 0), ("root", 2, 0, 1, 1),
    ("correct", 2, 0, 1, 1), ("epsilon", 2, 1, 0, 0), ("update", 4, 2, 1, 0),
)  # fmt: skip
_SPARSE_ADAM = (
    ("pick", 2, 0, 0, 1), ("mask", 2, 1, 0, 1), ("difference", 3, 1, 0, 1), ("scale", 2, 1, 0, 0),
    ("add", 3, 1, 0, 0), ("pick", 2, 0, 0, 1), ("mask", 2, 1, 0, 1), ("square", 2, 1, 0, 1),
    ("difference", 3, 1, 0, 0), ("scale", 2, 1, 0, 0), ("add", 3, 1, 0, 0),
    ("average", 3, 1, 0, 0), ("average", 3, 1, 0, 0), ("root", 2, 0, 1, 0),
    ("epsilon", 2, 1, 0, 0), ("divide", 3, 0, 1, 0), ("scale", 2, 1, 0, 1), ("update", 3, 1, 0, 0),
)  # fmt: skip
_STEPS = {"SGD, dense": _SGD, "SGD, sparse": _SGD, "Adam, dense": _ADAM, "SparseAdam": _SPARSE_ADAM}


def _step(case: Case, distinct: int, size: int) -> Form:
    """Count an optimiser's arrays: whole tables, or the rows that a sparse gradient names."""
    dense = case.form.endswith("dense")
    numbers, ids = case.dim * (case.vocab_size if dense else distinct), 8 * distinct * (not dense)
    array, given = numbers * size, (4 if "Adam" in case.form else 2) * numbers * size + ids
    named = ("pick", "add", "update")  # which ask where the rows are
    return given, [
        (name, k * array + ids * (name in named), added * numbers, divided * numbers, new * array)
        for name, k, added, divided, new in _STEPS[case.form]
    ]
