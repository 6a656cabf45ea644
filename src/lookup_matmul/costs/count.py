"""The cases that are measured, and the bytes and operations of each, counted from its sizes."""

from typing import NamedTuple

import torch

ONE_HOT, PRODUCT = "one-hot built and multiplied", "multiplication alone"
COMPILED, COMPILED_LOOKUP = "compiled one-hot", "compiled lookup"
BAG, CSR = "embedding bag", "sparse product"
DTYPES = {"float32": torch.float32, "tf32": torch.float32}  # a GPU may round products to TF32
DTYPES |= {"bfloat16": torch.bfloat16, "float16": torch.float16}
IDS = {"cpu": 1024, "cuda": 16_384}  # a GPU needs more to work for longer than a launch takes
BAGS, BAG_SIZE = 1024, 16
BASIC_FORMS = ("lookup", ONE_HOT, PRODUCT)
PLAN: tuple[tuple[str, str, int, tuple[int, ...], tuple[str, ...]], ...] = (
    ("forward", "float32", 128, (2, 16, 256, 8192), BASIC_FORMS),
    ("forward", "float32", 128, (64, 1024), (*BASIC_FORMS, COMPILED, COMPILED_LOOKUP)),
    ("forward", "float32", 128, (131_072,), (*BASIC_FORMS, COMPILED_LOOKUP)),
    ("forward", "float32", 768, (16, 1024), (*BASIC_FORMS, COMPILED_LOOKUP)),
    ("forward", "tf32", 128, (64, 1024), (ONE_HOT, PRODUCT)),  # a lookup does not round
    ("forward", "bfloat16", 128, (16, 64, 1024), (*BASIC_FORMS, COMPILED, COMPILED_LOOKUP)),
    ("forward", "float16", 128, (1024,), ("lookup", PRODUCT)),
    ("backward", "float32", 128, (2, 64, 1024, 131_072), BASIC_FORMS),
    ("backward", "bfloat16", 128, (2, 64, 1024), BASIC_FORMS),
    ("bags", "float32", 128, (1024, 131_072), (BAG, CSR)),
)


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


def plan_cases(device: str, *, quick: bool = False) -> list[Case]:
    """Return the cases of a device, those that share their inputs next to each other."""
    cases = []
    for kind, dtype, dim, vocab_sizes, forms in PLAN:
        if dtype == "tf32" and device == "cpu":
            continue
        ids, bags = (BAGS * BAG_SIZE, BAGS) if kind == "bags" else (IDS[device], 0)
        direction = "backward" if kind == "backward" else "forward"
        for vocab_size in vocab_sizes:
            sizes = (vocab_size, dim, ids, dtype, bags)
            cases += [Case(form, direction, *sizes) for form in forms]
    if not quick:
        return cases
    small = [case for case in cases if case[2:4] == (1024, 128) and case.dtype == "float32"]
    return [case for case in small if case.form not in (COMPILED, COMPILED_LOOKUP)]


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
    ids = 8 * case.ids
    row = case.dim * size
    one_hot = case.ids * case.vocab_size * size
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
