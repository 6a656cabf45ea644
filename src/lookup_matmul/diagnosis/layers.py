"""The two sides of a comparison: what a layer computes, described so that it can be varied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import nn

from lookup_matmul.inputs import ID_DTYPES, check_multiplied, check_weight
from lookup_matmul.onehot.checks import check_filled, check_unhooked, stored_weight

# An Embedding, an EmbeddingBag or a Linear; a table; or a function of the input.
Layer: TypeAlias = nn.Module | torch.Tensor | Callable[[Any], torch.Tensor]

KINDS = (nn.Embedding, nn.EmbeddingBag, nn.Linear)


@dataclass(frozen=True)
class Side:
    """A layer as plain data: its table, only ever read, and its options.

    Attributes
    ----------
    name : str
        ``"a"`` or ``"b"``.
    kind : str
        Embedding, EmbeddingBag, Linear, table or callable.
    table : torch.Tensor, optional
        Shape (vocabulary size, embedding dimension); a view of the caller's, never written to.
        ``None`` for a callable.
    whole : bool
        Whether a product is computed in float64 and rounded once.
    weighted : bool
        Whether the values of the rows are used, for which an Embedding has no place.
    """

    name: str
    kind: str
    table: torch.Tensor | None = None
    function: Callable[[Any], Any] | None = None
    bias: torch.Tensor | None = None
    padding_idx: int | None = None
    max_norm: float | None = None
    norm_type: float = 2.0
    mode: str = "sum"
    last_offset: bool = True
    weighted: bool = True
    whole: bool = False
    trained: bool = False
    by_frequency: bool = False
    sparse: bool = False

    @property
    def weight(self) -> torch.Tensor:
        """Give the table, of a side that has one."""
        assert self.table is not None, f"{self.name} is a callable"
        return self.table

    @property
    def called(self) -> str:
        """Name the side with its kind, for sentences."""
        return f"{self.name} ({self.kind})"


def read_side(name: str, layer: Layer) -> Side:
    """Read a layer, a table or a callable, or raise with its name and what to do."""
    if isinstance(layer, torch.Tensor):
        if layer.dtype in ID_DTYPES:
            raise TypeError(
                f"{name}: weight has dtype {layer.dtype}, expected a floating dtype; convert with "
                f"{name}.float(), or call compare(a, b, ids) if these are the ids."
            )
        _check_table(name, layer)
        return Side(name, "table", layer.detach(), trained=layer.requires_grad)
    if not isinstance(layer, nn.Module):
        if callable(layer) and not isinstance(layer, type):
            return Side(name, "callable", function=layer)
        raise TypeError(
            f"{name} is a {type(layer).__name__}, expected an Embedding, EmbeddingBag or Linear, "
            "a table as a tensor, or a callable; wrap numbers in torch.tensor(...)."
        )
    kind = next((kind for kind in KINDS if isinstance(layer, kind)), None)
    full = f"{type(layer).__module__}.{type(layer).__qualname__}"
    as_function = f"pass lambda given: layer(given) in place of the layer {name}"
    if kind is None and (held := [p for p, m in layer.named_modules() if isinstance(m, KINDS)]):
        raise TypeError(
            f"{name} has type {full}, expected torch.nn.Embedding, EmbeddingBag or Linear; it "
            f"holds {len(held)} of them, so pass the one that you mean, such as "
            f"{name}.get_submodule({held[0]!r}), or {as_function}, and it is compared without "
            "looking into it."
        )
    if kind is None:
        raise TypeError(
            f"{name} has type {full}, expected torch.nn.Embedding, EmbeddingBag or Linear, which "
            f"hold a table; {as_function}, and it is compared without looking into it."
        )
    if type(layer).forward is not kind.forward or "forward" in vars(layer):
        raise TypeError(
            f"{name} is a {full} with a forward of its own, expected that of "
            f"torch.nn.{kind.__name__}; {as_function}."
        )
    weight = stored_weight(name, layer)
    check_unhooked(name, layer, f"{as_function}, or remove them")
    _check_table(name, weight)
    options: dict[str, Any] = {"trained": weight.requires_grad}
    if isinstance(layer, nn.Linear):
        options["bias"] = None if layer.bias is None else layer.bias.detach()
        return Side(name, "Linear", weight.detach().T, **options)
    options |= {key: getattr(layer, key) for key in ("padding_idx", "max_norm", "norm_type")}
    options |= {"by_frequency": layer.scale_grad_by_freq, "sparse": layer.sparse}
    if isinstance(layer, nn.EmbeddingBag):
        options |= {"mode": layer.mode, "last_offset": layer.include_last_offset}
        return Side(name, "EmbeddingBag", weight.detach(), **options)
    return Side(name, "Embedding", weight.detach(), weighted=False, **options)


def _check_table(name: str, weight: torch.Tensor) -> None:
    try:
        check_weight(weight)
        check_multiplied(weight)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
    check_filled(name, weight)
    if 0 in weight.shape:
        raise ValueError(
            f"{name}.weight has shape {tuple(weight.shape)}, expected at least one row and one "
            "column."
        )
