"""Whether two tensors lie in one storage."""

import torch

from lookup_matmul.inputs import check_type


def shares_storage(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Tell whether two tensors lie in one storage, so that writing to one may change the other.

    Parameters
    ----------
    first, second : torch.Tensor
        Dense, any shape and dtype.

    Returns
    -------
    bool
        Whether they view one storage, or storages that overlap, as of views of a NumPy array.
        ``False`` for empty tensors, which hold nothing to share.

    Raises
    ------
    TypeError
        If an argument is no dense tensor.

    Examples
    --------
    >>> weight = torch.zeros(4, 5)
    >>> shares_storage(weight, weight.T), shares_storage(weight, weight.T.contiguous())
    (True, False)
    """
    for name, tensor in (("first", first), ("second", second)):
        check_type(name, tensor, torch.Tensor, "pass the .weight of a layer")
        if tensor.layout != torch.strided:
            raise TypeError(
                f"{name} has layout {tensor.layout}, expected a dense tensor; "
                "compare its members, such as .values()."
            )
    (begin, end), (other_begin, other_end) = _extent(first), _extent(second)
    overlap = max(begin, other_begin) < min(end, other_end)
    filled = first.numel() > 0 < second.numel()
    return overlap and filled and first.device == second.device


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    storage = tensor.untyped_storage()
    begin = storage.data_ptr()
    return begin, begin + storage.nbytes() if begin else 0  # a meta tensor has sizes only
