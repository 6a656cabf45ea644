"""From the arguments of an embedding bag to a CSR matrix, of SciPy or of torch."""

from __future__ import annotations  # the reference shows SciPy's class by its public name

from typing import TYPE_CHECKING

import torch

from lookup_matmul.sparse.bags import Bags
from lookup_matmul.sparse.checks import check_bags

if TYPE_CHECKING:
    from scipy import sparse


def to_scipy_csr(bags: Bags, vocab_size: int) -> sparse.csr_array:
    """Write the arguments of an embedding bag as a SciPy CSR matrix.

    The ``bags`` are on a CPU, since that is where SciPy computes. Returns a matrix of shape (number
    of rows, vocab_size) that shares memory with them; gradients stay behind. Copied are: ids or
    offsets of int32, as int64, if the other of the two is int64 or there are 2**31 columns or more;
    weights of a dtype that NumPy lacks (bfloat16, float8) or SciPy cannot compute with (float16),
    as float32; and weights of ``None``, written as float32 ones.

    Errors are those of :func:`check_bags`, and a TypeError if ``bags`` is not on a CPU.

    Notes
    -----
    What edits the matrix in place edits ``bags``: assignments, ``sort_indices()`` and
    ``sum_duplicates()``, which SciPy also calls by itself, as in ``rows != 0``.
    Where that can happen, go on with a ``.copy()`` of the matrix.

    Examples
    --------
    >>> to_scipy_csr(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2, 3])), 4).toarray()
    array([[0., 1., 0., 1.],
           [0., 0., 0., 0.],
           [1., 0., 0., 0.]], dtype=float32)
    """
    from scipy import sparse  # here, since nothing else of the package needs it

    check_bags(bags, vocab_size)
    bags = Bags(*bags)
    values = _values(bags, torch.float32).detach()
    if values.is_floating_point() and values.itemsize < 4:
        values = values.float()
    arrays = (values.numpy(), bags.ids.numpy(), bags.offsets.numpy())
    return sparse.csr_array(arrays, shape=(len(bags.offsets) - 1, vocab_size))


def to_torch_csr(bags: Bags, vocab_size: int) -> torch.Tensor:
    """Write the arguments of an embedding bag as a torch tensor of layout ``torch.sparse_csr``.

    The ``bags`` are on any device, the ids of each row ascending and distinct, as torch asks.
    Returns shape (number of rows, vocab_size), sharing memory with ``bags``, so that a change of
    one is a change of the other; gradients flow to ``bags.weights``. Copied are the offsets, if
    their dtype differs from that of the ids, and ids or offsets that are not contiguous; weights of
    ``None`` are written as ones of the default dtype.

    Errors are those of :func:`check_bags`, and a ValueError if the ids of a row do not ascend.

    Notes
    -----
    torch itself checks such a tensor only when asked to, and computing with a broken one can
    crash the process; what this function returns has been checked.
    The first such tensor of a process makes torch warn that the layout is in beta.

    Examples
    --------
    >>> to_torch_csr(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2, 3])), 4).to_dense()
    tensor([[0., 1., 0., 1.],
            [0., 0., 0., 0.],
            [1., 0., 0., 0.]])
    """
    check_bags(bags, vocab_size)
    bags = Bags(*bags)
    ids = bags.ids.contiguous()
    offsets = bags.offsets.to(ids.dtype).contiguous()
    falls = ids[1:] <= ids[:-1]
    inner = offsets[(offsets > 0) & (offsets < len(ids))].long()
    falls[inner - 1] = False  # from one row to the next the ids may fall
    if falls.any():
        place = int(falls.nonzero()[0])
        row = int(torch.searchsorted(offsets, place, right=True)) - 1
        raise ValueError(
            f"row {row} has id {int(ids[place])} before {int(ids[place + 1])}, expected ascending "
            "and distinct ids; sum_duplicates() of a to_scipy_csr(...).copy() sorts and adds them."
        )
    values = _values(bags, torch.get_default_dtype())
    size = (len(offsets) - 1, vocab_size)
    # The device is said, or torch.set_default_device would decide.
    return torch.sparse_csr_tensor(
        offsets, ids, values, size, device=ids.device, check_invariants=True
    )


def _values(bags: Bags, dtype: torch.dtype) -> torch.Tensor:
    if bags.weights is not None:
        return bags.weights
    return torch.ones(len(bags.ids), dtype=dtype, device=bags.ids.device)
