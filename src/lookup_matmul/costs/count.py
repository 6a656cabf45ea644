"""Bytes and operations of each form, counted from its sizes."""

from typing import NamedTuple

import torch

ONE_HOT, PRODUCT = "one-hot built and multiplied", "multiplication alone"
COMPILED, COMPILED_LOOKUP = "compiled one-hot", "compiled lookup"
BAG, CSR = "embedding bag", "sparse product"
DTYPES = {"float32": torch.float32, "tf32": torch.float32}  # a GPU may round products to TF32
DTYPES |= {"bfloat16": torch.bfloat16, "float16": torch.float16}


class Case(NamedTuple):
    """One form of a computation and the sizes of its inputs.

    ``form`` is ``"lookup"``, ``"one-hot built and multiplied"`` or ``"multiplication alone"``, of
    one-hot rows that exist; recordings have others, also of ``bags``, which share the ids evenly.
    ``direction`` is ``"forward"``, or ``"backward"`` for the gradient of the table.
    """

    form: str
    direction: str
    vocab_size: int
    dim: int
    ids: int
    dtype: str = "float32"  # or "tf32", "bfloat16", "float16"
    bags: int = 0


class Kernel(NamedTuple):
    """The work of one kernel of a call, named after its result.

    ``bytes`` counts each distinct element once if read and once if written; ``operations`` are
    multiplications and additions.
    """

    name: str
    bytes: int
    operations: int


def kernels(case: Case, distinct: int) -> tuple[Kernel, ...]:
    """Return the kernels of a forward case in order, given the number of distinct ids.

    Raise ValueError for a form other than the three that :class:`Case` names.

    >>> case = Case("one-hot built and multiplied", "forward", vocab_size=4, dim=5, ids=3)
    >>> [(kernel.name, kernel.bytes) for kernel in kernels(case, distinct=2)]
    [('zeros', 48), ('ones', 24), ('product', 188)]
    """
    size = DTYPES[case.dtype].itemsize
    ids, row, one_hot = 8 * case.ids, case.dim * size, case.ids * case.vocab_size * size
    operations = 2 * case.ids * case.vocab_size * case.dim
    product = Kernel("product", one_hot + (case.vocab_size + case.ids) * row, operations)
    forms = {
        "lookup": (Kernel("rows", ids + (distinct + case.ids) * row, 0),),
        ONE_HOT: (Kernel("zeros", one_hot, 0), Kernel("ones", ids, 0), product),
        PRODUCT: (product,),
    }
    if case.form not in forms or case.direction != "forward":
        expected = f"expected one of {', '.join(forms)}, forward; count others by hand."
        raise ValueError(f"form is {case.form!r} {case.direction}, {expected}")
    return forms[case.form]
