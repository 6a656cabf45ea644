"""Whether two tensors lie in one storage, and which rows of a table a step has changed."""

import torch

from lookup_matmul.equality.assertions import bits_differ, check_dense_real


def shares_storage(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Tell whether two tensors lie in one storage, so that writing to one may change the other.

    They are dense, of any shape and dtype. Returns whether they view one storage, or storages that
    overlap, as of views of a NumPy array; never for tensors that are empty or on the device
    ``meta``, which hold nothing to share.

    Examples
    --------
    >>> weight = torch.zeros(4, 5)
    >>> shares_storage(weight, weight.T), shares_storage(weight, weight.T.contiguous())
    (True, False)
    """
    (begin, end), (other_begin, other_end) = _extent(first), _extent(second)
    overlap = max(begin, other_begin) < min(end, other_end)
    filled = first.numel() > 0 < second.numel()
    return overlap and filled and first.device == second.device


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    storage = tensor.untyped_storage()
    begin = storage.data_ptr()
    return begin, begin + storage.nbytes() if begin else 0  # a meta tensor has sizes only


def rows_moved(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Tell for each row whether any of its bits changed, as bools of shape (vocabulary size,).

    ``before`` and ``after`` are the table at two times, of the same shape (vocabulary size,
    embedding dimension) and dtype; ``before`` must be a copy, or it has moved along. Other tensors
    than dense real ones are a TypeError; shapes or dtypes that differ, tables that are not
    two-dimensional, and tables in one storage are a ValueError.

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
