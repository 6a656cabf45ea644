"""Which rows of a table a step of an optimiser has changed."""

import torch

from lookup_matmul.equality import bits_differ
from lookup_matmul.layers import shares_storage


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
    ValueError
        If the shapes or dtypes differ, the tables are not two-dimensional,
        or both view one storage.

    Examples
    --------
    >>> before = torch.zeros(3, 2)
    >>> after = before.clone()
    >>> after[1, 0] = 0.5
    >>> rows_moved(before, after)
    tensor([False,  True, False])
    """
    if before.shape != after.shape or before.dim() != 2 or before.dtype != after.dtype:
        raise ValueError(
            f"before has shape {tuple(before.shape)} and dtype {before.dtype}, after has "
            f"{tuple(after.shape)} and {after.dtype}; expected the same table at two times."
        )
    if shares_storage(before, after):
        raise ValueError(
            "before and after share storage, expected a copy; take before = weight.clone()."
        )
    return bits_differ(before, after).any(dim=1)
