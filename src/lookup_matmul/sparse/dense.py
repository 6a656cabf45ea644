"""Sparse rows written out with all their zeros, and the dense product: the baseline."""

from __future__ import annotations  # the reference shows an alias by its name

import torch

from lookup_matmul.inputs import FILLED, check_dtype, check_table, check_vocab_size
from lookup_matmul.sparse.bags import Rows
from lookup_matmul.sparse.read import bags_for

# What torch adds into, it can do in more dtypes than what it writes.
ADDED = (
    *FILLED,
    torch.complex32,
    torch.float8_e4m3fn,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2,
    torch.float8_e5m2fnuz,
)


def dense_rows(
    rows: Rows, vocab_size: int, *, dtype: torch.dtype | None = None, check: bool = True
) -> torch.Tensor:
    """Write sparse rows out, zeros included.

    Parameters
    ----------
    rows : Rows
        As for :func:`sum_of_rows`; duplicates add up.
    vocab_size : int
        Number of columns, the number of rows of the table that they will meet.
    dtype : torch.dtype, optional
        Dtype of the result; by default :func:`torch.get_default_dtype`.
        An integer one has to hold every value that the dtype of the values can.
    check : bool
        Whether to check the input first; ``False`` leaves a broken matrix to torch,
        and sums that an integer ``dtype`` cannot hold wrap around.

    Returns
    -------
    torch.Tensor
        Shape (number of rows, vocab_size), on the device of ``rows``.
        Gradients flow to values that are tensors and require them.

    Raises
    ------
    TypeError
        As for :func:`sum_of_rows`; also if ``vocab_size`` is no ``int``, if torch cannot write
        single numbers of ``dtype``, or if an integer one would cut values off.
    ValueError
        As for :func:`sum_of_rows`; also if ``vocab_size`` is negative or a sum of duplicates is
        no number of an integer ``dtype``.
    IndexError
        If a column is negative or not below ``vocab_size``.

    Examples
    --------
    >>> bags = (torch.tensor([3, 1, 3]), torch.tensor([0, 2, 3]), torch.tensor([1, 2, 5]))
    >>> dense_rows(bags, 4, dtype=torch.int64)
    tensor([[0, 2, 0, 1],
            [0, 0, 0, 5]])
    """
    if check:
        check_vocab_size(vocab_size)
        check_dtype(dtype, ADDED)
    ids, offsets, weights = bags_for(rows, vocab_size, None, check)
    dtype = dtype or torch.get_default_dtype()
    values = torch.ones_like(ids) if weights is None else weights
    owners = torch.arange(len(offsets) - 1, device=ids.device)
    owners = owners.repeat_interleave(offsets.diff(), output_size=ids.numel())
    if check:
        if weights is not None:
            _check_held(weights.dtype, dtype)
        if ids.numel() and not (dtype.is_floating_point or dtype.is_complex):
            _check_sums(owners * vocab_size + ids, values, dtype, vocab_size)
    # Made from the values, the zeros have what a transform such as torch.func.vmap adds to them.
    dense = values.new_zeros(len(offsets) - 1, vocab_size, dtype=dtype)
    return dense.index_put_((owners, ids.long()), values.to(dtype), accumulate=True)


def dense_matmul(rows: Rows, weight: torch.Tensor, *, check: bool = True) -> torch.Tensor:
    """Multiply the rows, written out with all their zeros, by ``weight``.

    The baseline of :func:`sum_of_rows`: what :class:`torch.nn.Linear` does with a dense batch.

    Parameters
    ----------
    rows : Rows
        As for :func:`sum_of_rows`.
    weight : torch.Tensor
        Shape (vocabulary size, embedding dimension), floating dtype.
    check : bool
        Whether to check the input first; ``False`` leaves a broken matrix to torch.

    Returns
    -------
    torch.Tensor
        Shape (number of rows, embedding dimension), dtype and device of ``weight``;
        under :class:`torch.autocast` the dtype that it chooses for products.
        Gradients flow to ``weight`` and to values that are tensors and require them.

    Raises
    ------
    TypeError
        As for :func:`sum_of_rows`.
    ValueError
        As for :func:`sum_of_rows`; a table without columns is allowed.
    IndexError
        If a column is negative or not below the vocabulary size.

    Examples
    --------
    >>> bags = (torch.tensor([1, 3]), torch.tensor([0, 2, 2]), torch.tensor([2, 3]))
    >>> dense_matmul(bags, torch.arange(8.0).reshape(4, 2))
    tensor([[22., 27.],
            [ 0.,  0.]])
    """
    if check:
        check_table(weight)
    bags = bags_for(rows, weight.shape[0], weight.device, check)
    return dense_rows(bags, weight.shape[0], dtype=weight.dtype, check=False) @ weight


def _check_held(values: torch.dtype, dtype: torch.dtype) -> None:
    """Raise if an integer ``dtype`` cannot hold all that ``values`` can; a float only rounds."""
    if dtype.is_floating_point or dtype.is_complex:
        return
    held = None if dtype == torch.bool else torch.iinfo(dtype)
    given = None if values.is_floating_point else torch.iinfo(values)
    if held is None or given is None or given.min < held.min or given.max > held.max:
        raise TypeError(
            f"dtype is {dtype} and the values are {values}, expected a dtype that holds them all, "
            "since others would cut some off; leave dtype out or convert the values first."
        )


def _check_sums(
    places: torch.Tensor, values: torch.Tensor, dtype: torch.dtype, vocab_size: int
) -> None:
    """Raise if entries in one place add up to what an integer ``dtype`` cannot hold."""
    least, most = (
        (0, 1) if dtype == torch.bool else (torch.iinfo(dtype).min, torch.iinfo(dtype).max)
    )
    places, entry = torch.unique(places, return_inverse=True)
    sums = torch.zeros_like(places).index_add_(0, entry, values.long())
    # A sum of 64 bits that has wrapped around is 2**64 off; float64 only rounds.
    rough = torch.zeros_like(places, dtype=torch.float64).index_add_(0, entry, values.double())
    wrapped = (sums.double() - rough).abs() > 2.0**63
    wrong = (sums < least) | (sums > min(most, 2**63 - 1)) | wrapped
    if wrong.any():
        row, column = divmod(int(places[wrong][0]), vocab_size)
        raise ValueError(
            f"row {row} has several entries in column {column} that add up to "
            f"{rough[wrong][0]:.6g}, expected {least} to {most}, as {dtype} holds; "
            "ask for a wider dtype."
        )
