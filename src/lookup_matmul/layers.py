"""Moving one table between :class:`torch.nn.Embedding` and :class:`torch.nn.Linear`.

An Embedding holds the table as (vocabulary size, embedding dimension),
a Linear that multiplies one-hot rows holds its transpose.
"""

from __future__ import annotations

import torch
from torch import nn


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
        If ``embedding`` is no Embedding.
    ValueError
        If it uses ``padding_idx``, ``max_norm``, ``scale_grad_by_freq`` or ``sparse``,
        none of which a Linear has.

    Examples
    --------
    >>> embedding = torch.nn.Embedding(4, 5)
    >>> linear = to_linear(embedding, share=False)
    >>> linear
    Linear(in_features=4, out_features=5, bias=False)
    >>> shares_storage(embedding.weight, linear.weight)
    False
    """
    _expect("embedding", embedding, nn.Embedding)
    unset = {"padding_idx": None, "max_norm": None, "scale_grad_by_freq": False, "sparse": False}
    used = [f"{k}={getattr(embedding, k)}" for k, v in unset.items() if getattr(embedding, k) != v]
    if used:
        raise ValueError(
            f"the Embedding uses {', '.join(used)}, which a Linear cannot do; "
            "expected a plain lookup. "
            "Make one with nn.Embedding.from_pretrained(embedding.weight.detach().clone(), "
            "freeze=False)."
        )
    rows, dim = embedding.weight.shape
    linear = nn.Linear(
        rows, dim, bias=False, device="meta"
    )  # meta: the weight comes from elsewhere
    linear.weight = _transposed(embedding.weight, share)
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
        If ``linear`` is no Linear.
    ValueError
        If it has a bias.

    Examples
    --------
    >>> linear = torch.nn.Linear(4, 5, bias=False)
    >>> embedding = to_embedding(linear, share=True)
    >>> embedding
    Embedding(4, 5)
    >>> shares_storage(embedding.weight, linear.weight)
    True
    """
    _expect("linear", linear, nn.Linear)
    _refuse_bias(linear)
    dim, rows = linear.weight.shape
    embedding = nn.Embedding(rows, dim, device="meta")
    embedding.weight = _transposed(linear.weight, share)
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
        If the shapes do not match or the Linear has a bias.

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
            "expected one nn.Embedding and one nn.Linear."
        )
    for layer in (source, target):
        if isinstance(layer, nn.Linear):
            _refuse_bias(layer)
    origin, place = _weight(source), _weight(target)
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
    with torch.no_grad():
        place.copy_(origin.T)


def shares_storage(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Tell whether two tensors view one storage, so that writing to one can change the other.

    Parameters
    ----------
    first, second : torch.Tensor
        Dense, any shape and dtype.

    Returns
    -------
    bool
        ``False`` for empty tensors, which hold nothing to share.

    Raises
    ------
    TypeError
        If an argument is no tensor.

    Examples
    --------
    >>> weight = torch.zeros(4, 5)
    >>> shares_storage(weight, weight.T), shares_storage(weight, weight.T.contiguous())
    (True, False)
    """
    _expect("first", first, torch.Tensor)
    _expect("second", second, torch.Tensor)
    addresses = [tensor.untyped_storage().data_ptr() for tensor in (first, second)]
    return addresses[0] == addresses[1] != 0


def _transposed(weight: torch.Tensor, share: bool) -> nn.Parameter:
    table = weight.detach().T
    if not share:
        table = table.clone(memory_format=torch.contiguous_format)
    return nn.Parameter(table, requires_grad=weight.requires_grad)


def _weight(layer: nn.Module) -> torch.Tensor:
    weight = layer.weight
    assert isinstance(weight, torch.Tensor)
    return weight


def _expect(name: str, value: object, kind: type) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} has type {type(value).__name__}, expected {kind.__name__}.")


def _refuse_bias(linear: nn.Linear) -> None:
    if linear.bias is not None:
        raise ValueError(
            f"{linear} has a bias, expected none: a lookup adds nothing. Make it with bias=False, "
            "or fold the bias into every row first: with one-hot rows it adds the same to each."
        )
