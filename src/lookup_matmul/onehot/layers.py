"""Moving one table between :class:`torch.nn.Embedding` and :class:`torch.nn.Linear`.

An Embedding holds the table as (vocabulary size, embedding dimension),
a Linear that multiplies one-hot rows holds its transpose.
"""

from __future__ import annotations

import torch
from torch import nn

from lookup_matmul.onehot.layer_checks import (
    check_filled,
    check_layer,
    check_unhooked,
    expect,
    table_of,
)

REMOVE = "remove them first, by .remove() of what registering them returned"


def to_linear(embedding: nn.Embedding, *, share: bool) -> nn.Linear:
    """Make the Linear without bias that maps one-hot rows to what ``embedding`` returns.

    Parameters
    ----------
    embedding : torch.nn.Embedding
        Its weight has shape (vocabulary size, embedding dimension).
    share : bool
        ``True`` makes the Linear's weight a transposed view of the embedding's storage:
        no memory is allocated, and training either layer moves both,
        though each has its own ``.grad``.
        ``False`` copies.

    Returns
    -------
    torch.nn.Linear
        Weight of shape (embedding dimension, vocabulary size),
        with the dtype, device and ``requires_grad`` of the embedding's.
        No random numbers are drawn.

    Raises
    ------
    TypeError
        If ``embedding`` is no Embedding, or one with a ``forward`` of its own.
    ValueError
        If it uses ``padding_idx``, ``max_norm``, ``scale_grad_by_freq`` or ``sparse``,
        none of which a Linear has, if it has hooks,
        or if its weight is computed from other parameters.

    Examples
    --------
    >>> embedding = torch.nn.Embedding(4, 5)
    >>> linear = to_linear(embedding, share=False)
    >>> linear
    Linear(in_features=4, out_features=5, bias=False)
    >>> shares_storage(embedding.weight, linear.weight)
    False
    """
    remedy = "make one with nn.Embedding.from_pretrained"
    if isinstance(embedding, nn.Linear):
        remedy = "call to_embedding for the way back"
    expect("embedding", embedding, nn.Embedding, remedy)
    weight = check_layer("embedding", embedding, nn.Embedding)
    check_unhooked("embedding", embedding, REMOVE)
    unset = {"padding_idx": None, "max_norm": None, "scale_grad_by_freq": False, "sparse": False}
    used = [f"{k}={getattr(embedding, k)}" for k, v in unset.items() if getattr(embedding, k) != v]
    if used:
        raise ValueError(
            f"the Embedding uses {', '.join(used)}, which a Linear cannot do; "
            "expected a plain lookup. "
            "Make one with nn.Embedding.from_pretrained(embedding.weight.detach().clone(), "
            f"freeze=False), which gives {'them' if len(used) > 1 else 'it'} up."
        )
    rows, dim = weight.shape
    linear = nn.Linear(
        rows, dim, bias=False, device="meta"
    )  # meta: the weight comes from elsewhere
    linear.weight = transposed(weight, share)
    return linear


def to_embedding(linear: nn.Linear, *, share: bool) -> nn.Embedding:
    """Make the Embedding that looks up what ``linear`` returns for one-hot rows.

    Parameters
    ----------
    linear : torch.nn.Linear
        Without bias; its weight has shape (embedding dimension, vocabulary size).
    share : bool
        ``True`` makes the Embedding's weight a transposed view of the Linear's storage,
        so that training either layer moves both; ``False`` copies.

    Returns
    -------
    torch.nn.Embedding
        Weight of shape (vocabulary size, embedding dimension),
        with the dtype, device and ``requires_grad`` of the Linear's.
        No random numbers are drawn.

    Raises
    ------
    TypeError
        If ``linear`` is no Linear, or one with a ``forward`` of its own.
    ValueError
        If it has a bias, hooks, or a weight that is computed from other parameters or not there
        yet.

    Examples
    --------
    >>> linear = torch.nn.Linear(4, 5, bias=False)
    >>> embedding = to_embedding(linear, share=True)
    >>> embedding
    Embedding(4, 5)
    >>> shares_storage(embedding.weight, linear.weight)
    True
    """
    remedy = "make one with torch.nn.Linear(..., bias=False)"
    if isinstance(linear, nn.Embedding):
        remedy = "call to_linear for the way back"
    expect("linear", linear, nn.Linear, remedy)
    weight = check_layer("linear", linear, nn.Linear)
    check_unhooked("linear", linear, REMOVE)
    dim, rows = weight.shape
    embedding = nn.Embedding(rows, dim, device="meta")
    embedding.weight = transposed(weight, share)
    return embedding


def copy_weight(source: nn.Module, target: nn.Module) -> None:
    """Copy the table of one layer into the other, transposing on the way; never shares storage.

    The values land in the target's own parameter, so optimisers that hold it stay valid.

    Parameters
    ----------
    source, target : torch.nn.Embedding or torch.nn.Linear
        One of each kind, the same dtype, the Linear without bias.
        They may lie on different devices.

    Raises
    ------
    TypeError
        If they are not one Embedding and one Linear, or their dtypes differ.
    ValueError
        If the shapes do not match, the Linear has a bias,
        or a weight is computed from other parameters, not there yet or on the device ``meta``.

    Examples
    --------
    >>> embedding, linear = torch.nn.Embedding(4, 5), torch.nn.Linear(4, 5, bias=False)
    >>> copy_weight(embedding, linear)
    >>> torch.equal(linear.weight, embedding.weight.T)
    True
    """
    kinds = {nn.Embedding: "Embedding", nn.Linear: "Linear"}
    found = [next((k for k in kinds if isinstance(m, k)), None) for m in (source, target)]
    if None in found or found[0] is found[1]:
        raise TypeError(
            f"source is a {type(source).__name__} and target a {type(target).__name__}, "
            "expected one nn.Embedding and one nn.Linear; pass the layers that hold the tables."
        )
    origin, place = table_of("source", source), table_of("target", target)
    if origin.T.shape != place.shape:
        raise ValueError(
            f"source.weight has shape {tuple(origin.shape)} "
            f"and target.weight {tuple(place.shape)}, "
            "expected transposed shapes; make the target with to_linear or to_embedding."
        )
    if origin.dtype != place.dtype:
        raise TypeError(
            f"source.weight has dtype {origin.dtype} and target.weight {place.dtype}, "
            "expected one dtype; convert a layer with .to(dtype) first."
        )
    check_filled("source", origin)
    check_filled("target", place)
    with torch.no_grad():
        place.copy_(origin.T)


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
        expect(name, tensor, torch.Tensor, "pass the .weight of a layer")
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


def transposed(weight: torch.Tensor, share: bool) -> nn.Parameter:
    """Give the Parameter of the other layer, on the same memory or on memory of its own."""
    table = weight.detach().T
    if not share:
        table = table.clone(memory_format=torch.contiguous_format)
    return nn.Parameter(table, requires_grad=weight.requires_grad)
