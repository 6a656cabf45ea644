"""Which rows of a table a step of an optimizer has changed."""

import torch

from lookup_matmul.equality.assertions import bits_differ, check_dense_real
from lookup_matmul.equality.storage import shares_storage


def rows_moved(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """Tell for each row whether any of its bits changed.

    Parameters
    ----------
    before, after : torch.Tensor
        The table at two times, same shape (vocabulary size, embedding dimension) and dtype.
        ``before`` must be a copy, or it has moved along.

    Returns
    -------
    torch.Tensor
        Shape (vocabulary size,), bool.

    Raises
    ------
    TypeError
        If one of the two is no dense real tensor.
    ValueError
        If the shapes, dtypes or devices differ, the tables are not two-dimensional,
        or both lie in one storage.

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
    if before.device != after.device:
        raise ValueError(
            f"before is on {before.device} and after on {after.device}, expected one device; "
            "move one of them with .to(...)."
        )
    if shares_storage(before, after):
        raise ValueError(
            "before and after share storage, expected a copy; take before = weight.clone()."
        )
    return bits_differ(before, after).any(dim=1)
