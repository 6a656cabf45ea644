"""Detection of tensors that share storage, and of changed rows of a table."""

import torch

from lookup_matmul.equality.assertions import bits_differ, check_dense_real


def shares_storage(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Return whether the storages of two dense tensors are the same or overlap in memory.

    Writing to one of the tensors may then change the other. The result is ``False`` for tensors
    that are empty or on the device ``meta``.

    Examples
    --------
    >>> weight = torch.zeros(4, 5)
    >>> shares_storage(weight, weight.T), shares_storage(weight, weight.T.contiguous())
    (True, False)
    """
    if first.device != second.device or not first.numel() or not second.numel():
        return False
    (start_1, end_1), (start_2, end_2) = _address_range(first), _address_range(second)
    return max(start_1, start_2) < min(end_1, end_2)


def _address_range(tensor: torch.Tensor) -> tuple[int, int]:
    storage = tensor.untyped_storage()
    start = storage.data_ptr()
    return start, start + storage.nbytes() if start else 0  # the address on meta is 0


def rows_moved(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Return a bool mask of shape (vocabulary size,) of the rows in which any bit changed.

    ``before`` and ``after`` are the same table at two times, of shape (vocabulary size, embedding
    dimension); ``before`` must be a copy. Raises TypeError unless both are dense and real, and
    ValueError if shapes or dtypes differ, they are not two-dimensional, or they share storage.

    Examples
    --------
    >>> before = torch.zeros(3, 2)
    >>> after = before.clone()
    >>> after[1, 0] = 0.5
    >>> rows_moved(before, after)
    tensor([False,  True, False])
    """
    check_dense_real("before", before)
    check_dense_real("after", after)
    if before.shape != after.shape or before.dim() != 2 or before.dtype != after.dtype:
        raise ValueError(
            f"before has shape {tuple(before.shape)} and dtype {before.dtype}, after has "
            f"{tuple(after.shape)} and {after.dtype}; expected the same table at two times; "
            "take before = weight.clone()."
        )
    if shares_storage(before, after):
        raise ValueError(
            "before and after share storage, expected a copy; take before = weight.clone()."
        )
    return bits_differ(before, after).any(dim=1)
