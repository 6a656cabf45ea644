"""Conversion between :class:`torch.nn.Embedding` and :class:`torch.nn.Linear`."""

from __future__ import annotations  # keeps ``nn.Linear``, which the reference links

import torch
from torch import nn

from lookup_matmul.onehot.checks import check_no_hooks, read_table


def to_linear(embedding: nn.Embedding, *, share: bool) -> nn.Linear:
    """Make the Linear without bias that maps one-hot rows to what ``embedding`` returns.

    Its weight is the transpose of the embedding's, of shape (vocabulary size, embedding dimension):
    a copy, or with ``share`` a view of the same memory, so that training either layer moves both.

    Raise TypeError if ``embedding`` is not an Embedding or has a ``forward`` of its own; ValueError
    for ``padding_idx``, ``max_norm``, ``scale_grad_by_freq`` and ``sparse``, which a Linear lacks,
    for hooks, and for a weight that is computed from other parameters.

    >>> to_linear(torch.nn.Embedding(4, 5), share=False)
    Linear(in_features=4, out_features=5, bias=False)
    """
    weight = read_table("embedding", embedding, nn.Embedding, "call to_embedding for the way back")
    check_no_hooks("embedding", embedding, "remove them first")
    unset = {"padding_idx": None, "max_norm": None, "scale_grad_by_freq": False, "sparse": False}
    used = [f"{k}={getattr(embedding, k)}" for k, v in unset.items() if getattr(embedding, k) != v]
    if used:
        raise ValueError(
            f"the Embedding uses {', '.join(used)}, which a Linear cannot do; expected a plain "
            "lookup. Make one with nn.Embedding.from_pretrained(embedding.weight.detach().clone(), "
            f"freeze=False), which gives {'them' if len(used) > 1 else 'it'} up."
        )
    return make_linear(transpose_parameter(weight, share))


def to_embedding(linear: nn.Linear, *, share: bool) -> nn.Embedding:
    """Make the Embedding that looks up what ``linear`` returns for one-hot rows.

    The inverse of :func:`to_linear`, with the same ``share`` and errors. The Linear has no bias,
    and its weight has shape (embedding dimension, vocabulary size).

    >>> to_embedding(torch.nn.Linear(4, 5, bias=False), share=True)
    Embedding(4, 5)
    """
    weight = read_table("linear", linear, nn.Linear, "call to_linear for the way back")
    check_no_hooks("linear", linear, "remove them first")
    return make_embedding(transpose_parameter(weight, share))


def transpose_parameter(weight: torch.Tensor, share: bool) -> nn.Parameter:
    """Return a Parameter with the transpose of a weight, as a view of its memory or a copy."""
    table = weight.detach().T
    if not share:
        table = table.clone(memory_format=torch.contiguous_format)
    return nn.Parameter(table, requires_grad=weight.requires_grad)


def make_linear(weight: nn.Parameter) -> nn.Linear:
    """Make a Linear without bias that uses this Parameter; no weight is initialized."""
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias=False, device="meta")
    linear.weight = weight
    return linear


def make_embedding(weight: nn.Parameter, padding_idx: int | None = None) -> nn.Embedding:
    """Make an Embedding that uses this Parameter; no weight is initialized."""
    rows, dim = weight.shape
    embedding = nn.Embedding(rows, dim, padding_idx, device="meta")
    embedding.weight = weight
    return embedding
