"""What counts as bad input, decided once for every form and every device that holds numbers."""

from collections.abc import Collection

import torch

ID_DTYPES = (torch.int32, torch.int64)
MULTIPLIED = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
FILLED = (torch.bool, *WHOLE, *MULTIPLIED, torch.complex64, torch.complex128)


def check_ids(ids: torch.Tensor, vocab_size: int) -> None:
    """Raise unless every id names a row of a table with ``vocab_size`` rows.

    Parameters
    ----------
    ids : torch.Tensor
        Any shape, also empty; dtype int32 or int64.
    vocab_size : int
        Number of rows of the table.

    Raises
    ------
    TypeError
        If ``ids`` is no tensor or of another dtype, or if ``vocab_size`` is no ``int``.
    ValueError
        If ``ids`` is sparse or nested, lies on the device ``meta``, or ``vocab_size`` is negative.
    IndexError
        If an id is negative or at least ``vocab_size``.

    Notes
    -----
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
    if ids.numel() == 0:
        return
    check_stored("ids", ids)
    smallest, largest = (int(extreme) for extreme in torch.aminmax(ids))
    if smallest < 0 or largest >= vocab_size:
        raise IndexError(_outside(ids, vocab_size))


def check_id_tensor(ids: torch.Tensor) -> None:
    """Raise unless ``ids`` is a dense tensor of int32 or int64, whatever its values are."""
    if not isinstance(ids, torch.Tensor):
        raise TypeError(
            f"ids is {_shown(ids)}, expected a torch.Tensor of int32 or int64; "
            "wrap it in torch.tensor(...)."
        )
    _check_dense("ids", ids)
    if ids.dtype not in ID_DTYPES:
        raise TypeError(
            f"ids has dtype {ids.dtype} (first value: {_first(ids)}), "
            "expected torch.int32 or torch.int64; "
            "convert with ids.long() if the values are meant as row numbers."
        )


def check_stored(name: str, tensor: torch.Tensor) -> None:
    """Raise if the values of a tensor cannot be read."""
    if tensor.is_meta:
        raise ValueError(
            f"{name} lies on the device meta, which stores no numbers, expected one that does; "
            "make it on another device; where only shapes matter, the forms take check=False."
        )


def check_dtype(dtype: torch.dtype | None, known: Collection[torch.dtype] = FILLED) -> None:
    """Raise unless torch can write single numbers of a dtype; ``None`` stands for the default."""
    if dtype is not None and not isinstance(dtype, torch.dtype):
        raise TypeError(
            f"dtype is {_shown(dtype)}, expected a torch.dtype, such as torch.float32, or None."
        )
    if dtype is not None and dtype not in known:
        names = ", ".join(str(one).removeprefix("torch.") for one in known)
        raise TypeError(
            f"dtype is {dtype}, in which torch cannot write single numbers, expected one of "
            f"{names}; convert the result with .to({dtype})."
        )


def check_vocab_size(vocab_size: int) -> None:
    """Raise unless ``vocab_size`` can be a number of rows of a table."""
    remedy = "Take it from the tokenizer or the table, not from the ids of one batch."
    check_rows("vocab_size", vocab_size, remedy)


def check_rows(name: str, rows: int, remedy: str) -> None:
    """Raise unless a value of this name can be a number of rows."""
    if not isinstance(rows, int) or isinstance(rows, bool):
        raise TypeError(f"{name} is {_shown(rows)}, expected an int. {remedy}")
    if rows < 0:
        raise ValueError(f"{name} is {rows}, expected at least 0. {remedy}")


def check_inputs(ids: torch.Tensor, weight: torch.Tensor) -> None:
    """Raise unless ``ids`` can be looked up in ``weight``.

    Every form calls this before it computes anything, unless told ``check=False``.

    Parameters
    ----------
    ids : torch.Tensor
        Any shape, also empty; dtype int32 or int64; on the device of ``weight``.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), floating dtype.

    Raises
    ------
    TypeError
        If one of the two is no tensor or of a dtype that is not allowed.
    ValueError
        If ``weight`` is not two-dimensional, one of the two is sparse or nested,
        or they lie on two devices, or both on the device ``meta``.
    IndexError
        If an id is negative or not below the vocabulary size.

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
    check_one_device(ids, weight)
    check_ids(ids, weight.shape[0])


def check_one_device(ids: torch.Tensor, weight: torch.Tensor, name: str = "weight") -> None:
    """Raise if ids, which may be none yet, and a table of this name lie on two devices."""
    if isinstance(ids, torch.Tensor) and ids.device != weight.device:
        raise ValueError(
            f"ids is on {ids.device} and {name} on {weight.device}, expected one device; "
            "move one of them with .to(...)."
        )


def check_weight(weight: torch.Tensor, name: str = "weight") -> None:
    """Raise unless a tensor of this name is a table: dense, two dimensions, floating dtype."""
    if not isinstance(weight, torch.Tensor):
        raise TypeError(
            f"{name} is {_shown(weight)}, expected a torch.Tensor; {_table_of(weight)}."
        )
    _check_dense(name, weight)
    if not weight.is_floating_point():
        remedy = (
            f"convert with {name}.dequantize()"
            if weight.is_quantized
            else f"take one real number of each, such as {name}.real"
            if weight.is_complex()
            else f"convert with {name}.float()"
        )
        raise TypeError(f"{name} has dtype {weight.dtype}, expected a floating dtype; {remedy}.")
    if weight.dim() != 2:
        raise ValueError(
            f"{name} has shape {tuple(weight.shape)}, expected two dimensions "
            "(vocabulary size, embedding dimension); reshape it."
        )


def check_multiplied(weight: torch.Tensor) -> None:
    """Raise unless torch can multiply by a table and add up its rows; it copies more dtypes."""
    if weight.dtype not in MULTIPLIED:
        raise TypeError(
            f"weight has dtype {weight.dtype}, expected float16, bfloat16, float32 or float64; "
            "convert with weight.bfloat16()."
        )


def check_table(weight: torch.Tensor) -> None:
    """Raise unless ``weight`` is a table that sparse rows can meet."""
    check_weight(weight)
    check_multiplied(weight)


def _check_dense(name: str, tensor: torch.Tensor) -> None:
    if tensor.is_nested:
        raise ValueError(
            f"{name} is a nested tensor, expected a dense one; take one of {name}.unbind()."
        )
    if tensor.layout is not torch.strided:
        kind = "tensor" if name == "ids" else "table"
        raise ValueError(
            f"{name} has layout {tensor.layout}, expected a dense {kind}; "
            f"convert with {name}.to_dense()."
        )


def _table_of(value: object) -> str:
    """Say where the table of a layer is, of shape (vocabulary size, embedding dimension)."""
    if isinstance(value, torch.nn.Linear):
        return "pass its .weight.T, since a Linear holds the table transposed"
    if isinstance(value, torch.nn.Embedding | torch.nn.EmbeddingBag):
        return "pass its .weight"
    if isinstance(value, torch.nn.Module):
        return "pass the tensor in it that holds the table, one row for each id"
    return "wrap it in torch.tensor(...)"


def _outside(ids: torch.Tensor, vocab_size: int) -> str:
    outside = ids < 0
    if vocab_size <= torch.iinfo(ids.dtype).max:  # or the comparison would wrap around
        outside |= ids >= vocab_size
    count = int(outside.sum())
    position = [int(i) for i in outside.nonzero()[0]]
    value = int(ids[tuple(position)])
    where = f"ids{position}" if position else "ids"
    allowed = f"0 <= id <= {vocab_size - 1}" if vocab_size else "no id at all"
    remedy = (
        "A negative id does not count from the end: mask it or map it to a row first."
        if value < 0
        else "Give the table more rows or correct the ids."
    )
    return (
        f"{where} is {value}, but a table of {vocab_size} rows takes {allowed}; "
        f"{count} of the {ids.numel()} ids {'is' if count == 1 else 'are'} outside. {remedy}"
    )


def _first(tensor: torch.Tensor) -> object:
    return tensor.flatten()[0].item() if tensor.numel() else "none, it is empty"


def _shown(value: object) -> str:
    return f"{value!r:.60} of type {type(value).__name__}"
