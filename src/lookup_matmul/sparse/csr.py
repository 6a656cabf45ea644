"""Conversion of the arguments of an embedding bag to CSR matrices of SciPy and torch."""

from __future__ import annotations  # shows SciPy's class by its public name

from typing import TYPE_CHECKING

import torch

from lookup_matmul.sparse.bags import Bags
from lookup_matmul.sparse.checks import check_bags

if TYPE_CHECKING:
    from scipy import sparse


def to_scipy_csr(bags: Bags, vocab_size: int) -> sparse.csr_array:
    """Convert the arguments of an embedding bag to a SciPy CSR matrix.

    Return a matrix of shape (number of rows, vocab_size) that shares memory with ``bags`` and
    carries no gradient. Copies are made of int32 ids or offsets if the other of the two is int64 or
    ``vocab_size`` is at least 2**31, and of float16, bfloat16 and float8 weights, which become
    float32. Weights of ``None`` become float32 ones.

    Raises the errors of :func:`check_bags`, and TypeError if ``bags`` is not on a CPU.

    Notes
    -----
    In-place changes of the matrix change ``bags``: assignments, ``sort_indices()`` and
    ``sum_duplicates()``, which SciPy also calls internally, as in ``rows != 0``. Work on a
    ``.copy()`` of the matrix to avoid that.

    Examples
    --------
    >>> to_scipy_csr(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2, 3])), 4).toarray()
    array([[0., 1., 0., 1.],
           [0., 0., 0., 0.],
           [1., 0., 0., 0.]], dtype=float32)
    """
    from scipy import sparse  # an optional dependency

    check_bags(bags, vocab_size)
    bags = Bags(*bags)
    values = _weights_or_ones(bags, torch.float32).detach()
    if values.is_floating_point() and values.itemsize < 4:
        values = values.float()
    arrays = (values.numpy(), bags.ids.numpy(), bags.offsets.numpy())
    return sparse.csr_array(arrays, shape=(len(bags.offsets) - 1, vocab_size))


def to_torch_csr(bags: Bags, vocab_size: int) -> torch.Tensor:
    """Convert the arguments of an embedding bag to a tensor of layout ``torch.sparse_csr``.

    The ids of each row must be ascending and distinct, as torch requires. Return a tensor of shape
    (number of rows, vocab_size) that shares memory with ``bags``; gradients flow to
    ``bags.weights``. Copies are made of offsets whose dtype differs from that of the ids, and of
    ids or offsets that are not contiguous. Weights of ``None`` become ones of the default dtype.

    Raises the errors of :func:`check_bags`, and ValueError if the ids of a row do not ascend.

    Notes
    -----
    torch warns on the first such tensor of a process that the layout is in beta.

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
    not_ascending = ids[1:] <= ids[:-1]
    row_starts = offsets[(offsets > 0) & (offsets < len(ids))].long()
    not_ascending[row_starts - 1] = False  # the last id of a row against the first of the next
    if not_ascending.any():
        entry = int(not_ascending.nonzero()[0])
        row = int(torch.searchsorted(offsets, entry, right=True)) - 1
        raise ValueError(
            f"row {row} has id {int(ids[entry])} before {int(ids[entry + 1])}, expected ascending "
            "and distinct ids; sum_duplicates() of a to_scipy_csr(...).copy() sorts and adds them."
        )
    values = _weights_or_ones(bags, torch.get_default_dtype())
    size = (len(offsets) - 1, vocab_size)
    # Without device=, torch.set_default_device would decide.
    return torch.sparse_csr_tensor(
        offsets, ids, values, size, device=ids.device, check_invariants=True
    )


def _weights_or_ones(bags: Bags, dtype: torch.dtype) -> torch.Tensor:
    if bags.weights is not None:
        return bags.weights
    return torch.ones(len(bags.ids), dtype=dtype, device=bags.ids.device)
