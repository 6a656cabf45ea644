"""What counts as bad input, decided once for every form and every device that holds numbers."""

import torch

ID_DTYPES = (torch.int32, torch.int64)
MULTIPLIED = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def check_ids(ids: torch.Tensor, vocab_size: int) -> None:
    """Raise unless every id names a row of a table with ``vocab_size`` rows.

    ``ids`` have any shape, also an empty one, and dtype int32 or int64. Ids that are no tensor or
    of another dtype, and a ``vocab_size`` that is no ``int``, are a TypeError. Sparse ids, ids on
    the device ``meta`` and a negative ``vocab_size`` are a ValueError. An id that is negative or at
    least ``vocab_size`` is an IndexError.

    The smallest and the largest id are read in one pass and brought to the CPU.
    On an accelerator that waits for the work queued before it,
    and under :func:`torch.compile` it breaks the graph.

    Examples
    --------
    >>> check_ids(torch.tensor([[2, 3, 1]]), 4)
    >>> check_ids(torch.tensor([[2, 4, 1]]), 4)
    Traceback (most recent call last):
    ...
    IndexError: ids[0, 1] is 4, but a table of 4 rows takes 0 <= id <= 3; \
1 of the 3 ids is outside. Give the table more rows or correct the ids.
    """
    check_id_tensor(ids)
    check_vocab_size(vocab_size)
    check_stored("ids", ids)
    if outside := find_outside(ids, vocab_size, "id", "ids"):
        place, value, said = outside
        remedy = (
            "A negative id does not count from the end: mask it or map it to a row first."
            if value < 0
            else "Give the table more rows or correct the ids."
        )
        raise IndexError(f"ids{place or ''} is {value}, {said} {remedy}")


def check_inputs(ids: torch.Tensor, weight: torch.Tensor) -> None:
    """Raise unless ``ids`` can be looked up in ``weight``.

    Every form calls this before it computes anything, unless told ``check=False``.

    ``ids`` are as for ``check_ids``, whose errors this has; ``weight`` has shape (vocabulary
    size, embedding dimension) and a floating dtype. One that is no tensor or of another dtype is a
    TypeError, one that is sparse, not two-dimensional or on the device ``meta`` a ValueError. Two
    other devices are left to torch, whose error says so.

    Examples
    --------
    >>> check_inputs(torch.tensor([2, 3, 1]), torch.zeros(4, 5))
    >>> check_inputs(torch.tensor([2, -1]), torch.zeros(4, 5))
    Traceback (most recent call last):
    ...
    IndexError: ids[1] is -1, but a table of 4 rows takes 0 <= id <= 3; 1 of the 2 ids is outside. \
A negative id does not count from the end: mask it or map it to a row first.
    """
    check_weight(weight)
    check_ids(ids, weight.shape[0])


def check_type(name: str, value: object, kind: type, remedy: str) -> None:
    """Raise unless ``value`` is of a kind; quantized layers share the short names of the others."""
    if not isinstance(value, kind):
        wanted = "torch.Tensor" if kind is torch.Tensor else f"torch.nn.{kind.__name__}"
        raise TypeError(f"{name} has type {full_name(value)}, expected {wanted}; {remedy}.")


def full_name(value: object) -> str:
    """Return the name of a value's class with where it comes from."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def check_id_tensor(ids: torch.Tensor) -> None:
    """Raise unless ``ids`` is a dense tensor of int32 or int64, whatever its values are."""
    check_type("ids", ids, torch.Tensor, "wrap it in torch.tensor(...)")
    _check_dense("ids", ids, "tensor")
    if ids.dtype not in ID_DTYPES:
        raise TypeError(
            f"ids has dtype {ids.dtype}, expected torch.int32 or torch.int64; "
            "convert with ids.long() if the values are meant as row numbers."
        )


def check_weight(weight: torch.Tensor, name: str = "weight") -> None:
    """Raise unless a tensor of this name is a table: dense, 2-D, of floating dtype, not on meta."""
    remedy = "pass the table itself, such as embedding.weight or linear.weight.T"
    check_type(name, weight, torch.Tensor, remedy)
    _check_dense(name, weight, "table")
    if not weight.is_floating_point():
        raise TypeError(
            f"{name} has dtype {weight.dtype}, expected a floating dtype; "
            f"convert with {name}.float()."
        )
    if weight.dim() != 2:
        raise ValueError(
            f"{name} has shape {tuple(weight.shape)}, expected two dimensions "
            "(vocabulary size, embedding dimension); reshape it."
        )
    check_stored(name, weight)


def check_multiplied(weight: torch.Tensor) -> None:
    """Raise unless torch can multiply by a table and add up its rows; it copies more dtypes."""
    if weight.dtype not in MULTIPLIED:
        raise TypeError(
            f"weight has dtype {weight.dtype}, expected float16, bfloat16, float32 or float64; "
            "convert with weight.bfloat16()."
        )


def check_stored(name: str, tensor: torch.Tensor) -> None:
    """Raise if the values of a tensor cannot be read."""
    if tensor.is_meta:
        raise ValueError(
            f"{name} lies on the device meta, which stores no numbers, expected one that does; "
            "make it on another device; where only shapes matter, the forms take check=False."
        )


def check_vocab_size(vocab_size: int) -> None:
    """Raise unless ``vocab_size`` can be a number of rows of a table."""
    remedy = "Take it from the tokenizer or the table, not from the ids of one batch."
    if not isinstance(vocab_size, int) or isinstance(vocab_size, bool):
        arrived = f"{vocab_size!r:.60} of type {type(vocab_size).__name__}"
        raise TypeError(f"vocab_size is {arrived}, expected an int. {remedy}")
    if vocab_size < 0:
        raise ValueError(f"vocab_size is {vocab_size}, expected at least 0. {remedy}")


def find_outside(
    ids: torch.Tensor, vocab_size: int | None, kind: str, all_of_them: str
) -> tuple[list[int], int, str] | None:
    """Return the first place where ids name no row, the value there and words for it, if any.

    ``None`` for the number of rows allows any id that is not negative.
    """
    if ids.numel() == 0:
        return None
    # With all threads of torch: each reads the part that it is about to read again anyway.
    smallest, largest = (int(extreme) for extreme in torch.aminmax(ids))
    if smallest >= 0 and (vocab_size is None or largest < vocab_size):
        return None
    outside = ids < 0
    if vocab_size is not None and vocab_size <= torch.iinfo(ids.dtype).max:  # or it wraps around
        outside |= ids >= vocab_size
    count, place = int(outside.sum()), [int(i) for i in outside.nonzero()[0]]
    allowed = f"0 <= {kind} <= {vocab_size - 1}" if vocab_size else f"no {kind} at all"
    expected = f"but a table of {vocab_size} rows takes {allowed}"
    if vocab_size is None:
        expected = "expected at least 0"
    are = "is" if count == 1 else "are"
    said = f"{expected}; {count} of the {ids.numel()} {all_of_them} {are} outside."
    return place, int(ids[tuple(place)]), said


def _check_dense(name: str, tensor: torch.Tensor, kind: str) -> None:
    if tensor.layout is not torch.strided:
        raise ValueError(
            f"{name} has layout {tensor.layout}, expected a dense {kind}; "
            f"convert with {name}.to_dense()."
        )


def check_device(device: str) -> None:
    """Raise ValueError unless the device is ``"cpu"``, or ``"cuda"`` and present."""
    if device not in ("cpu", "cuda"):
        raise ValueError(f"device is {device!r}, expected 'cpu' or 'cuda'; measure on one of them.")
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            "device is cuda, but torch finds no GPU; measure on cpu, or install a torch "
            "and a driver for CUDA."
        )
