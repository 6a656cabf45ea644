"""A module that takes ids, as an Embedding does, and computes with a Linear."""

from __future__ import annotations  # keeps ``nn.Linear``, which the reference links

from contextlib import nullcontext

import torch
from torch import nn
from torch.nn.utils import parametrize

from lookup_matmul.inputs import check_id_tensor
from lookup_matmul.onehot.checks import read_table


class OneHotLinear(nn.Module):
    """Multiply one-hot rows of ids by a Linear, in the place of a :class:`torch.nn.Embedding`.

    ``linear`` has no bias and a weight of shape (embedding dimension, vocabulary size), and becomes
    a child of this module. The row of ``padding_idx`` gets no gradient from this layer.

    Raise TypeError if ``linear`` is not a Linear or has a ``forward`` of its own, if
    ``padding_idx`` is not an ``int``, and if ids are not int32 or int64; ValueError if the Linear
    has a bias, or a weight that is uninitialized or computed from other parameters, and if
    ``padding_idx`` is not a row number. Values of ids are left to torch.

    >>> layer, ids = OneHotLinear(torch.nn.Linear(4, 5, bias=False)), torch.tensor([2, 3, 1])
    >>> layer.linear, torch.equal(layer(ids), layer.linear.weight.T[ids])
    (Linear(in_features=4, out_features=5, bias=False), True)
    """

    def __init__(self, linear: nn.Linear, padding_idx: int | None = None) -> None:
        super().__init__()
        read_table("linear", linear, nn.Linear, "make one of an Embedding with to_linear")
        self.linear = linear
        rows = linear.in_features
        if isinstance(padding_idx, bool) or not isinstance(padding_idx, int | None):
            raise TypeError(
                f"padding_idx is {padding_idx} of type {type(padding_idx).__name__}, expected an "
                "int or None; pass the id that fills up short sequences."
            )
        if padding_idx is not None and not -rows <= padding_idx < rows:
            raise ValueError(
                f"padding_idx is {padding_idx}, but a table of {rows} rows takes {-rows} to "
                f"{rows - 1}; pass the id that fills up short sequences."
            )
        self.padding_idx = None if padding_idx is None else padding_idx % rows

    @property
    def num_embeddings(self) -> int:
        """Vocabulary size."""
        return self.linear.in_features

    @property
    def embedding_dim(self) -> int:
        """Embedding dimension."""
        return self.linear.out_features

    @property
    def weight(self) -> torch.Tensor:
        """The table as a view of shape (vocabulary size, embedding dimension), no Parameter."""
        return self.linear.weight.T

    def extra_repr(self) -> str:
        return "" if self.padding_idx is None else f"padding_idx={self.padding_idx}"

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002  # the Embedding's name
        """Return the rows of the table for these ids, of shape ``ids.shape + (dimension,)``."""
        ids = input
        weight = self.linear.weight
        check_id_tensor(ids)
        # A quantized Linear has a packed weight and takes rows of float32.
        is_plain = isinstance(weight, torch.Tensor) and weight.is_floating_point()
        # Not one_hot: torch.func.vmap has no batching rule for its scatter_ and warns.
        zero = torch.zeros((), dtype=weight.dtype if is_plain else torch.float32, device=ids.device)
        zeros = zero.expand(*ids.shape, self.num_embeddings)
        rows = zeros.scatter(-1, ids.long().unsqueeze(-1), 1)
        kind = ids.device.type
        is_autocast = kind != "meta" and torch.is_autocast_enabled(kind)  # autocast has no meta
        with torch.autocast(kind, enabled=False) if is_autocast else nullcontext():
            output: torch.Tensor = self.linear(rows)
        if self.padding_idx is None:
            return output
        return torch.where((ids != self.padding_idx).unsqueeze(-1), output, output.detach())


class Transposed(nn.Module):
    """A parametrization: the weight of a Linear is the transpose of a table."""

    def forward(self, table: torch.Tensor) -> torch.Tensor:
        return table.T

    def right_inverse(self, weight: torch.Tensor) -> torch.Tensor:
        return weight.T


def tie_to_table(linear: nn.Linear, table: nn.Parameter) -> None:
    """Register a parametrization that computes the weight of a Linear from a table."""
    parametrize.register_parametrization(linear, "weight", Transposed())
    linear.get_submodule("parametrizations.weight").register_parameter("original", table)


def get_tied_table(linear: nn.Module) -> nn.Parameter | None:
    """Return the table that :func:`tie_to_table` registered with a Linear, or None."""
    if not parametrize.is_parametrized(linear, "weight"):
        return None
    steps = linear.get_submodule("parametrizations.weight")
    only_transposed = [type(step) for step in steps.children()] == [Transposed]
    return steps.get_parameter("original") if only_transposed else None
