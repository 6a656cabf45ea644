"""Checks of arguments, the same for every form and on every device but meta."""

import torch

ID_DTYPES = (torch.int32, torch.int64)
MATMUL_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_ids(ids: torch.Tensor, vocab_size: int) -> None:
    """Raise unless every id is a row number of a table with ``vocab_size`` rows.

    Raise TypeError unless ``ids`` is a tensor of int32 or int64, of any shape, and ``vocab_size``
    an ``int``; ValueError for ids that are sparse or on ``meta`` and a negative ``vocab_size``; and
    IndexError for an id outside. This waits for an accelerator and breaks a compiled graph.

    >>> check_ids(torch.tensor([[2, 4, 1]]), 4)
    Traceback (most recent call last):
    IndexError: ids[0, 1] is 4, but a table of 4 rows takes 0 <= id <= 3; \
1 of the 3 ids is outside. Give the table more rows or correct the ids.
    """
    check_id_tensor(ids)
    check_vocab_size(vocab_size)
    check_not_meta("ids", ids)
    if outside := find_outside(ids, vocab_size, "id", "ids"):
        position, value, problem = outside
        remedy = "Give the table more rows or correct the ids."
        if value < 0:
            remedy = "A negative id does not count from the end: mask it or map it to a row first."
        raise IndexError(f"ids{position or ''} is {value}, {problem} {remedy}")


def check_inputs(ids: torch.Tensor, weight: torch.Tensor) -> None:
    """Raise unless ``ids`` can be looked up in ``weight``; forms do so unless ``check=False``.

    Raise the errors of :func:`check_ids`; TypeError unless ``weight`` is a floating tensor; and
    ValueError if it is sparse, on ``meta`` or not of shape (vocabulary size, embedding dimension).

    >>> check_inputs(torch.tensor([2, 3, 1]), torch.zeros(4, 5))
    """
    check_weight(weight)
    check_ids(ids, weight.shape[0])


def check_type(name: str, value: object, expected_type: type, remedy: str) -> None:
    if not isinstance(value, expected_type):
        module = "torch" if expected_type is torch.Tensor else "torch.nn"
        expected = f"{module}.{expected_type.__name__}"
        raise TypeError(f"{name} has type {full_name(value)}, expected {expected}; {remedy}.")


def full_name(value: object) -> str:
    """Return the name of a value's class with its module; quantized layers share short names."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def check_id_tensor(ids: torch.Tensor) -> None:
    """Raise unless ``ids`` is a dense tensor of int32 or int64; its values are not read."""
    check_type("ids", ids, torch.Tensor, "wrap it in torch.tensor(...)")
    _check_dense("ids", ids, "tensor")
    check_id_dtype("ids", ids)


def check_id_dtype(name: str, ids: torch.Tensor) -> None:
    if ids.dtype not in ID_DTYPES:
        raise TypeError(
            f"{name} has dtype {ids.dtype}, expected torch.int32 or torch.int64; "
            f"convert with {name}.long() if the values are meant as row numbers."
        )


def check_weight(weight: torch.Tensor, name: str = "weight") -> None:
    """Raise unless ``weight`` is a table: dense, 2-D, of floating dtype, not on meta."""
    remedy = "pass the table itself, such as embedding.weight or linear.weight.T"
    check_type(name, weight, torch.Tensor, remedy)
    _check_dense(name, weight, "table")
    if not weight.is_floating_point():
        remedy = f"convert with {name}.float()"
        if weight.itemsize < 8:
            remedy = (
                "if these are codes of a quantized table, unpack them, subtract their zero point "
                f"if they have one, and multiply by their scale; else {remedy}"
            )
        raise TypeError(f"{name} has dtype {weight.dtype}, expected a floating dtype; {remedy}.")
    if weight.dim() != 2:
        raise ValueError(
            f"{name} has shape {tuple(weight.shape)}, expected two dimensions "
            "(vocabulary size, embedding dimension); reshape it."
        )
    check_not_meta(name, weight)


def check_matmul_dtype(
    weight: torch.Tensor, name: str = "weight", remedy: str = "convert with weight.bfloat16()"
) -> None:
    """Raise TypeError unless torch has matrix products for the dtype; lookups take more dtypes."""
    if weight.dtype not in MATMUL_DTYPES:
        raise TypeError(
            f"{name} has dtype {weight.dtype}, expected float16, bfloat16, float32 or float64; "
            f"{remedy}."
        )


def check_not_meta(name: str, tensor: torch.Tensor) -> None:
    if tensor.is_meta:
        raise ValueError(
            f"{name} is on the device meta, which stores no numbers, expected one that does; "
            "create it on another device; where only shapes matter, the forms take check=False."
        )


def check_vocab_size(vocab_size: int) -> None:
    remedy = "Take it from the tokenizer or the table, not from the ids of one batch."
    if not isinstance(vocab_size, int) or isinstance(vocab_size, bool):
        description = f"{vocab_size!r:.60} of type {type(vocab_size).__name__}"
        raise TypeError(f"vocab_size is {description}, expected an int. {remedy}")
    if vocab_size < 0:
        raise ValueError(f"vocab_size is {vocab_size}, expected at least 0. {remedy}")


def find_outside(
    ids: torch.Tensor, vocab_size: int | None, singular: str, plural: str
) -> tuple[list[int], int, str] | None:
    """Return position, value and description of the first id that is no row number, or None."""
    if ids.numel() == 0:
        return None
    smallest, largest = (int(extremum) for extremum in torch.aminmax(ids))
    if smallest >= 0 and (vocab_size is None or largest < vocab_size):
        return None
    outside = ids < 0
    if vocab_size is not None and vocab_size <= torch.iinfo(ids.dtype).max:  # else it overflows
        outside |= ids >= vocab_size
    count = int(outside.sum())
    position = [int(i) for i in outside.nonzero()[0]]
    if vocab_size is None:
        expected = "expected at least 0"
    else:
        valid = f"0 <= {singular} <= {vocab_size - 1}" if vocab_size else f"no {singular} at all"
        expected = f"but a table of {vocab_size} rows takes {valid}"
    verb = "is" if count == 1 else "are"
    description = f"{expected}; {count} of the {ids.numel()} {plural} {verb} outside."
    return position, int(ids[tuple(position)]), description


def _check_dense(name: str, tensor: torch.Tensor, noun: str) -> None:
    if tensor.layout is not torch.strided:
        raise ValueError(
            f"{name} has layout {tensor.layout}, expected a dense {noun}; "
            f"convert with {name}.to_dense()."
        )


def check_device(device: str) -> None:
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device is {device!r}, expected 'cpu' or 'cuda'; measure on one of them.")
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            "device is cuda, but torch finds no GPU; measure on cpu, or install a torch "
            "and a driver for CUDA."
        )
