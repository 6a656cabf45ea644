"""Sparse rows as the arguments of an embedding bag, from and to CSR matrices of SciPy and torch."""

from __future__ import annotations  # keeps the alias ``Rows`` unexpanded in the reference

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from scipy import sparse

from lookup_matmul.inputs import check_vocab_size
from lookup_matmul.sparse.checks import BAGS, SCIPY, TORCH, check_arrays


class Bags(NamedTuple):
    """Sparse rows as :class:`torch.nn.EmbeddingBag` takes them.

    ``ids``, shape (number of entries,), int32 or int64, are columns, row by row. ``offsets``, shape
    (number of rows + 1,), int32 or int64, are the first entry of each row, then the number of
    entries. ``weights``, shaped as ``ids``, of an integer or floating dtype, are the values, or
    ``None`` for ones. CSR calls them ``indices``, ``indptr`` and ``data``, EmbeddingBag ``input``,
    ``offsets`` (with ``include_last_offset=True``) and ``per_sample_weights``.

    >>> bags = Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 2, 3]), torch.ones(3))
    >>> torch.nn.EmbeddingBag(4, 2, mode="sum", include_last_offset=True)(*bags).shape
    torch.Size([3, 2])
    """

    ids: torch.Tensor
    offsets: torch.Tensor
    weights: torch.Tensor | None = None


Rows: TypeAlias = sparse.csr_array | sparse.csr_matrix | torch.Tensor | Sequence[Any]

IDS_REMEDY = (
    "pass ({0}.flatten(), torch.arange(0, {0}.numel() + 1, {0}.shape[{1}])) if they are ids"
)
LISTS_REMEDY = (
    "if each list has the ids of one row, pass torch.tensor([*chain(*rows)]) and "
    "torch.tensor([0, *map(len, rows)]).cumsum(0)"
)


def check_bags(bags: Bags, vocab_size: int | None) -> None:
    """Raise unless ``bags``, or a tuple or list, describes sparse rows of ``vocab_size`` columns.

    Raise TypeError unless these are two or three tensors with dtypes of :class:`Bags`, and
    ``vocab_size`` an ``int`` or None; ValueError unless their shapes fit, none is on ``meta``, and
    the offsets rise from 0 to the number of ids, and no weight is NaN; and IndexError if an id is
    no column, or with ``vocab_size=None`` if it is negative. The message names everything that
    broken offsets may be: lengths, row numbers, joined batches, a slice, or beginnings alone.

    >>> check_bags(Bags(torch.tensor([1, 4, 0]), torch.tensor([0, 2, 2, 3])), 4)
    Traceback (most recent call last):
    IndexError: row 0 names column 4, but a table of 4 rows takes 0 <= column <= 3; \
1 of the 3 entries is outside. Give the table more rows or correct the ids.
    """
    if vocab_size is not None:
        check_vocab_size(vocab_size)
    check_arrays(as_bags(bags), BAGS, vocab_size)


def as_bags(members: Sequence[Any]) -> Bags:
    if not isinstance(members, tuple | list) or len(members) not in (2, 3):
        count = f" of {len(members)}" if isinstance(members, tuple | list) else ""
        remedy = "read a matrix with to_bags(...)"
        if isinstance(members, tuple | list) and all(isinstance(row, list) for row in members):
            remedy = LISTS_REMEDY
        raise TypeError(
            f"bags is a {type(members).__name__}{count}, expected Bags or (ids, offsets, weights); "
            f"{remedy}."
        )
    bags = Bags(*members)
    for name, member in zip(BAGS, bags, strict=True):
        if not isinstance(member, torch.Tensor) and (member is not None or name != "weights"):
            remedy = "wrap it in torch.as_tensor(...)"
            if isinstance(member, list):
                remedy += f", or {LISTS_REMEDY}"
            raise TypeError(
                f"{name} is a {type(member).__name__}, expected a torch.Tensor; {remedy}."
            )
    return bags


def to_bags(rows: Rows, *, check: bool = True) -> Bags:
    """Convert sparse rows to the arguments of an embedding bag without copying.

    Return :class:`Bags` that share memory with ``rows`` and have its dtypes; gradients flow to the
    values of a torch CSR tensor. SciPy arrays that are read-only or not contiguous are copied.

    Raise TypeError for rows of another type, format or dtype, ValueError for arrays that do not fit
    together (see :func:`check_bags`) or are not in native byte order, and for NaN, and IndexError
    for a column outside of the matrix; with ``check=False`` nothing is checked.

    >>> from scipy import sparse
    >>> to_bags(sparse.csr_array([[0, 2, 0, 3], [0, 0, 0, 0], [1, 0, 0, 0]]))
    Bags(ids=tensor([1, 3, 0], dtype=torch.int32), \
offsets=tensor([0, 2, 2, 3], dtype=torch.int32), weights=tensor([2, 3, 1]))
    """
    return read_rows(rows, None, None, check=check)


def read_rows(
    rows: Rows, columns: int | None, device: torch.device | None, *, check: bool, copy: bool = False
) -> Bags:
    """Convert rows to :class:`Bags`; only SciPy arrays are moved to ``device`` or copied."""
    shape: Sequence[int] | None = None  # Bags have no number of columns
    if isinstance(rows, torch.Tensor):
        names = TORCH
        shape = rows.shape
        bags = _from_torch(rows)
    elif isinstance(rows, tuple | list):
        names = BAGS
        bags = as_bags(rows)
    elif sparse.issparse(rows):
        names = SCIPY
        shape = rows.shape  # type: ignore[union-attr]
        bags = _from_scipy(rows, copy)
    else:
        remedy = "convert an array of values with scipy.sparse.csr_array(rows)"
        if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
            remedy += f", or {IDS_REMEDY.format('torch.from_numpy(rows)', rows.ndim - 1)}"
        raise TypeError(
            f"rows is a {type(rows).__name__}, expected a SciPy CSR matrix, a torch tensor "
            f"of layout sparse_csr, or (ids, offsets, weights) as tensors; {remedy}."
        )
    if check:
        if shape is not None:
            if columns not in (None, shape[1]):
                raise ValueError(
                    f"rows has {shape[1]} columns and the table {columns} rows, expected as many; "
                    "column k of the one multiplies row k of the other, so make both from the same "
                    "vocabulary."
                )
            columns = shape[1]
            if (count := bags.offsets.numel()) != shape[0] + 1:
                raise ValueError(
                    f"{names.offsets} has {count} elements, expected {shape[0] + 1} for the "
                    f"{shape[0]} rows of the matrix; one for each row, and the end."
                )
        check_arrays(bags, names, columns)
    if device is None or names is not SCIPY:
        return bags
    return Bags(*(member.to(device) for member in bags if member is not None))


def _from_torch(rows: torch.Tensor) -> Bags:
    if rows.layout != torch.sparse_csr or rows.dim() != 2:
        shape = "nested" if rows.is_nested else tuple(rows.shape)
        if rows.is_nested:
            lengths = "torch.tensor([0, *map(len, rows.unbind())]).cumsum(0)"
            remedy = f"pass (torch.cat(rows.unbind()), {lengths}) for ids"
        else:
            matrix = {1: "rows.unsqueeze(0)", 2: "rows"}.get(rows.dim(), "rows.flatten(0, -2)")
            remedy = f"convert it with {matrix}.to_sparse_csr()"
            may_be_ids = not rows.is_floating_point() and rows.dtype != torch.bool
            if rows.layout is torch.strided and may_be_ids:
                remedy += f" if these are counts, or {IDS_REMEDY.format('rows', rows.dim() - 1)}"
        raise TypeError(
            f"rows is a tensor of layout {rows.layout} and shape {shape}, expected "
            f"torch.sparse_csr with two dimensions; {remedy}."
        )
    values = rows.values()
    if not values.requires_grad:
        values = values.detach()  # torch.compile cannot take a view of a sparse tensor
    return Bags(rows.col_indices(), rows.crow_indices(), values)


def _from_scipy(rows: Any, copy: bool) -> Bags:
    if rows.format != "csr" or rows.ndim != 2:
        # A row that was taken from an array, such as rows[0], has one dimension.
        remedy = ".tocsr()" if rows.ndim == 2 else ".reshape(1, -1).tocsr()"
        raise TypeError(
            f"rows is a SciPy matrix of format {rows.format!r} and shape {rows.shape}, expected "
            f"CSR with two dimensions; convert it with rows{remedy}."
        )
    # torch can share an array that is contiguous and writeable; np.require copies any other.
    make_shareable = np.copy if copy else partial(np.require, requirements="CW")
    arrays = map(make_shareable, (rows.indices, rows.indptr, rows.data))
    return Bags(*map(torch.from_numpy, arrays))


def to_scipy_csr(bags: Bags, vocab_size: int) -> sparse.csr_array:
    """Convert the arguments of an embedding bag to a SciPy CSR matrix of shape (rows, vocab_size).

    It shares memory with ``bags`` where SciPy takes the dtypes: float16, bfloat16 and float8
    weights become float32, as ones for ``None`` do. Raise the errors of :func:`check_bags`, and
    TypeError if ``bags`` is not on a CPU.

    >>> to_scipy_csr(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 3])), 4).toarray()
    array([[0., 1., 0., 1.],
           [1., 0., 0., 0.]], dtype=float32)
    """
    check_bags(bags, vocab_size)
    bags = Bags(*bags)
    values = _weights_or_ones(bags, torch.float32).detach()
    if values.is_floating_point() and values.itemsize < 4:
        values = values.float()
    arrays = (values.numpy(), bags.ids.numpy(), bags.offsets.numpy())
    return sparse.csr_array(arrays, shape=(len(bags.offsets) - 1, vocab_size))


def to_torch_csr(bags: Bags, vocab_size: int) -> torch.Tensor:
    """Convert the arguments of an embedding bag to a tensor of layout ``torch.sparse_csr``.

    It has shape (number of rows, vocab_size) and shares memory with contiguous ``bags`` of one
    integer dtype. Gradients flow to the weights, of which ``None`` is ones of the default dtype.
    Raise the errors of :func:`check_bags`, and ValueError if the ids of a row do not ascend.

    >>> to_torch_csr(Bags(torch.tensor([1, 3, 0]), torch.tensor([0, 2, 3])), 4).to_dense()
    tensor([[0., 1., 0., 1.],
            [1., 0., 0., 0.]])
    """
    check_bags(bags, vocab_size)
    bags = Bags(*bags)
    ids = bags.ids.contiguous()
    offsets = bags.offsets.to(ids.dtype).contiguous()
    rows = torch.repeat_interleave(offsets.diff(), output_size=len(ids))
    not_ascending = (ids.diff() <= 0) & (rows.diff() == 0)
    if not_ascending.any():
        k = int(not_ascending.nonzero()[0])
        raise ValueError(
            f"row {int(rows[k])} has id {int(ids[k])} before {int(ids[k + 1])}, expected ascending "
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
